//! Where agents come in: a port of the loopback address and, for an enclosure without network, a path socket.

use crate::connection::Connection;
use crate::shared::{Phase, Shared};
use crate::stream::Stream;
use crate::{Config, StartError};
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, UnixListener};
use tokio::runtime::Runtime;
use tokio::sync::mpsc::Sender;
use wire::Row;

/// Open doors.
pub(crate) struct Doors {
    tcp: TcpListener,
    unix: Option<(UnixListener, SocketFile)>,
    pub(crate) address: SocketAddr,
}

/// The file of a path socket: removed when nobody listens behind it any more.
pub(crate) struct SocketFile(PathBuf);

impl Drop for SocketFile {
    fn drop(&mut self) {
        // Somebody else may have removed it, or its folder.
        let _ = std::fs::remove_file(&self.0);
    }
}

impl Doors {
    pub(crate) async fn open(config: &Config) -> Result<Doors, StartError> {
        let tcp = TcpListener::bind((Ipv4Addr::LOCALHOST, config.port)).await.map_err(StartError::Port)?;
        let address = tcp.local_addr().map_err(StartError::Port)?;
        let unix = config.socket.as_deref().map(path_socket).transpose().map_err(StartError::Socket)?;
        Ok(Doors { tcp, unix, address })
    }

    /// Takes connections until the proxy is stopped.
    pub(crate) fn serve(
        self,
        runtime: &Runtime,
        shared: &Arc<Shared>,
        rows: &Sender<Row>,
    ) -> Option<SocketFile> {
        runtime.spawn(take(Arc::clone(shared), rows.clone(), Door::Tcp(self.tcp)));
        let (unix, file) = self.unix?;
        runtime.spawn(take(Arc::clone(shared), rows.clone(), Door::Unix(unix)));
        Some(file)
    }
}

enum Door {
    Tcp(TcpListener),
    Unix(UnixListener),
}

impl Door {
    async fn accept(&self) -> io::Result<Stream> {
        match self {
            Door::Tcp(listener) => {
                let (stream, _) = listener.accept().await?;
                // Pieces go on as they come; where this fails they only wait longer.
                let _ = stream.set_nodelay(true);
                Ok(Stream::Tcp(stream))
            }
            Door::Unix(listener) => Ok(Stream::Unix(listener.accept().await?.0)),
        }
    }
}

async fn take(shared: Arc<Shared>, rows: Sender<Row>, door: Door) {
    loop {
        tokio::select! {
            accepted = door.accept() => match accepted {
                Ok(stream) => {
                    tokio::spawn(Connection::new(Arc::clone(&shared), rows.clone(), stream).serve());
                }
                // Out of descriptors: those that wait stay in the queue of the system.
                Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
            },
            () = shared.reached(Phase::Stopped) => return,
        }
    }
}

/// A socket that only this user can open. One that nobody listens behind any more is removed, another file never.
fn path_socket(path: &Path) -> io::Result<(UnixListener, SocketFile)> {
    if let Ok(meta) = std::fs::symlink_metadata(path) {
        if !meta.file_type().is_socket() || std::os::unix::net::UnixStream::connect(path).is_ok() {
            return Err(io::ErrorKind::AddrInUse.into());
        }
        std::fs::remove_file(path)?;
    }
    let listener = UnixListener::bind(path)?;
    let file = SocketFile(path.to_owned());
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600))?;
    Ok((listener, file))
}

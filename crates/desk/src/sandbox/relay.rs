//! The one way out of an enclosure: from a port of its own loopback address to the proxy's socket.
//!
//! It is a process of its own, in the agent's network and outside of its process list: the agent can neither see nor
//! signal nor trace it. The socket has no name inside; the relay reaches it through its working folder.

use super::confine;
use super::helper::{Failed, step};
use super::job::{DOOR, Enclosed};
use super::sys;
use rustix::process::{
    DumpableBehavior, Pid, Signal, set_dumpable_behavior, set_parent_process_death_signal,
};
use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::time::Duration;

/// What is read at once.
const PIECE: usize = 64 << 10;
/// Stack of a thread that only copies; the piece lies on the heap.
const STACK: usize = 128 << 10;

/// Opens the port in the namespaces that this process has just entered, and leaves a process behind that serves it. In
/// there `let_go` is called first: no end of the agent's pipes may stay open.
pub(super) fn start(enclosed: &Enclosed, let_go: impl FnOnce()) -> Result<Pid, Failed> {
    sys::loopback_up().map_err(step("loopback"))?;
    let listener =
        TcpListener::bind((Ipv4Addr::LOCALHOST, enclosed.port)).map_err(step("port of the relay"))?;
    // Before pid 1 gives this whole mount namespace another root.
    rustix::process::chdir(&enclosed.door).map_err(step("door"))?;
    match sys::fork().map_err(step("fork the relay"))? {
        sys::Fork::Parent(pid) => Pid::from_raw(pid).ok_or(Failed { step: "fork".into(), errno: 0 }),
        sys::Fork::Child => {
            let_go();
            if prepare().is_ok() {
                serve(&listener);
            }
            // Without it the probe finds no door, and the agent never starts.
            std::process::exit(1)
        }
    }
}

fn prepare() -> Result<(), Failed> {
    set_dumpable_behavior(DumpableBehavior::NotDumpable).map_err(step("dumpable"))?;
    confine::drop_capabilities()?;
    set_parent_process_death_signal(Some(Signal::KILL)).map_err(step("death signal"))
}

/// Passes connections on until the process is ended.
fn serve(listener: &TcpListener) {
    loop {
        match listener.accept() {
            Ok((stream, _)) => join(stream),
            // Out of descriptors: those that wait stay in the queue of the system.
            Err(_) => std::thread::sleep(Duration::from_millis(20)),
        }
    }
}

/// Joins one connection to the proxy. Where that cannot be done the agent sees its connection closed.
fn join(agent: TcpStream) {
    // Pieces go on as they come; where this fails they only wait longer.
    let _ = agent.set_nodelay(true);
    let Ok(proxy) = UnixStream::connect(DOOR) else { return };
    let (Ok(agent_again), Ok(proxy_again)) = (agent.try_clone(), proxy.try_clone()) else { return };
    let spawn = |name: &str| std::thread::Builder::new().name(name.into()).stack_size(STACK);
    let up = spawn("up").spawn(move || copy(&agent_again, &proxy_again));
    // A thread that could not start has dropped its ends; the other direction then ends by itself.
    let down = spawn("down").spawn(move || copy(&proxy, &agent));
    drop((up, down));
}

/// A side of a connection.
trait End {
    fn close(&self, which: Shutdown);
}

impl End for TcpStream {
    fn close(&self, which: Shutdown) {
        // The other side may have gone already.
        let _ = self.shutdown(which);
    }
}

impl End for UnixStream {
    fn close(&self, which: Shutdown) {
        // As above.
        let _ = self.shutdown(which);
    }
}

/// One direction. Its end is passed on and leaves the other direction open; what breaks closes both.
fn copy<A, B>(from: &A, to: &B)
where
    A: End,
    B: End,
    for<'a> &'a A: Read,
    for<'a> &'a B: Write,
{
    let mut piece = vec![0; PIECE];
    let (mut source, mut sink) = (from, to);
    loop {
        match source.read(&mut piece) {
            Ok(0) => return to.close(Shutdown::Write),
            Ok(length) if sink.write_all(&piece[..length]).is_ok() => {}
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            _ => {
                from.close(Shutdown::Both);
                return to.close(Shutdown::Both);
            }
        }
    }
}

//! `touchstone mcp`: the desk as tools of the Model Context Protocol (desk specification 24).

use crate::exit;
use crate::output;
use ::mcp::{Desk, Door, serve_http, serve_stdio};
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// Serve the desk's checks as tools of the Model Context Protocol. Advisory: nothing enforces the answers.
///
/// Over standard input and output the client starts this command. Over HTTP it listens on 127.0.0.1 only; clients send
/// `Authorization: Bearer TOKEN`, where TOKEN is the content of the token file.
///
/// Example: touchstone mcp --root ~/work
/// Example: touchstone mcp --http 8722 --token-file ~/.touchstone/mcp.token --root ~/work
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Args {
    /// Folder that the tools may name: workspaces, suites, receipts.
    #[arg(long, value_name = "DIR", default_value = ".")]
    root: PathBuf,
    /// Where the receipts of judged workspaces go [default: ~/.touchstone/runs].
    #[arg(long, value_name = "DIR")]
    runs: Option<PathBuf>,
    /// Serve over HTTP on this port of 127.0.0.1 (0: any that is free).
    #[arg(long, value_name = "PORT", requires = "token_file")]
    http: Option<u16>,
    /// The token, one line; a file that is not there is made with a fresh one, readable by you alone.
    #[arg(long, value_name = "FILE", requires = "http")]
    token_file: Option<PathBuf>,
}

/// Shortest token of a file, in bytes.
const TOKEN_BYTES_MIN: usize = 16;

/// Runs the verb and returns its exit code.
pub(crate) fn run(args: &Args) -> u8 {
    let desk = match desk(args) {
        Ok(desk) => desk,
        Err(message) => return output::usage(&message),
    };
    let ended = match (args.http, &args.token_file) {
        (Some(port), Some(file)) => match token(file) {
            Ok(token) => serve_http(desk, Door { port, token }, tell).map_err(|error| error.to_string()),
            Err(message) => return output::usage(&message),
        },
        _ => serve_stdio(desk),
    };
    match ended {
        Ok(()) => exit::OK,
        Err(message) => {
            output::note(&message);
            exit::FAILED
        }
    }
}

fn desk(args: &Args) -> Result<Desk, String> {
    let program = std::env::current_exe().map_err(|error| format!("this program: {error}"))?;
    let runs = match &args.runs {
        Some(runs) => runs.clone(),
        None => {
            let home = std::env::home_dir().ok_or("no home folder: give --runs")?;
            let runs = home.join(".touchstone/runs");
            std::fs::create_dir_all(&runs).map_err(|error| format!("{}: {error}", runs.display()))?;
            runs
        }
    };
    for (option, folder) in [("--root", &args.root), ("--runs", &runs)] {
        if !folder.is_dir() {
            return Err(format!("{option} {}: no folder", folder.display()));
        }
    }
    Desk::new(program, &args.root, &runs).map_err(|error| error.to_string())
}

/// The token of a file, or a fresh one in a file that was not there.
fn token(file: &Path) -> Result<String, String> {
    use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
    let failed = |error: std::io::Error| format!("--token-file {}: {error}", file.display());
    match std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(file) {
        Ok(mut made) => {
            let token = desk::keydir::token().map_err(|error| format!("random bytes: {error}"))?;
            writeln!(made, "{token}").map_err(failed)?;
            Ok(token)
        }
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
            let mode = std::fs::metadata(file).map_err(failed)?.permissions().mode();
            if mode & 0o077 != 0 {
                return Err(format!("--token-file {}: others can read it: chmod 600", file.display()));
            }
            let text = std::fs::read_to_string(file).map_err(failed)?;
            let token = text.trim_end_matches(['\r', '\n']);
            let plain = token.bytes().all(|byte| byte.is_ascii_graphic());
            if token.len() < TOKEN_BYTES_MIN || !plain {
                let said = format!("one line of at least {TOKEN_BYTES_MIN} printable letters is needed");
                return Err(format!("--token-file {}: {said}", file.display()));
            }
            Ok(token.to_owned())
        }
        Err(error) => Err(failed(error)),
    }
}

fn tell(address: std::net::SocketAddr) {
    output::note(&format!("listening on http://{address}/mcp"));
}

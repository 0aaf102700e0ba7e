//! `touchstone certificate`: answer certificates (desk specification section 6).

use crate::output::{Tone, paint};
use crate::verify::read_regular;
use crate::{exit, output};
use canon::{Object, Reader, Value};
use ledger::{Mode, certificate};
use std::path::PathBuf;

/// Longest certificate or answer, in bytes.
const FILE_BYTES_MAX: u64 = 64 << 20;

/// Check answer certificates.
///
/// Example: touchstone certificate check answer.json --answer answer.txt
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(clap::Subcommand)]
enum Verb {
    /// Exit 0 when it holds, 1 when not.
    Check {
        /// The certificate, one JSON object.
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// The answer that it must be about.
        #[arg(long, value_name = "FILE")]
        answer: Option<PathBuf>,
        /// Read as leniently as the Python peer does.
        #[arg(long)]
        peer_compat: bool,
        /// The answer as one JSON object.
        #[arg(long)]
        json: bool,
    },
}

/// Runs the verb and returns its exit code.
pub(crate) fn run(args: &Args) -> u8 {
    let Verb::Check { file, answer, peer_compat, json } = &args.verb;
    let mode = if *peer_compat { Mode::PeerCompat } else { Mode::Strict };
    let read = |path: &PathBuf| {
        read_regular(path, FILE_BYTES_MAX).map_err(|error| format!("{}: {error}", path.display()))
    };
    let (bytes, answer) = match (read(file), answer.as_ref().map(read).transpose()) {
        (Ok(bytes), Ok(answer)) => (bytes, answer),
        (Err(message), _) | (_, Err(message)) => return output::usage(&message),
    };
    let answer = match answer.map(String::from_utf8).transpose() {
        Ok(answer) => answer,
        Err(_) => return output::usage("the answer is not UTF-8 text"),
    };
    let reader = if *peer_compat { Reader::peer() } else { Reader::strict() };
    let reason = match reader.read(&bytes) {
        Ok(value) => {
            certificate::verify(&value, answer.as_deref(), mode).err().map(certificate::Invalid::code)
        }
        Err(error) => Some(error.fault.code()),
    };
    if *json {
        let object = Object::new().with("ok", reason.is_none()).with("reason", reason);
        output::line(&String::from_utf8_lossy(&canon::canonical(&Value::Object(object))));
    } else {
        match reason {
            None => output::line(&format!(
                "{}  the key said this; that is all it proves",
                paint("holds", Tone::Good)
            )),
            Some(reason) => output::line(&format!("{}  {reason}", paint("does not hold", Tone::Bad))),
        }
    }
    if reason.is_none() { exit::OK } else { exit::FAILED }
}

//! `touchstone workspace`: what the desk would hash (desk specification 7 and 31.4).

use crate::{exit, output};
use canon::{Object, Value};
use desk::workspace::{Excluded, Limits, Scan, hash_v2, peer_manifest, scan};
use std::path::PathBuf;

/// Hash a folder as the desk does.
///
/// Example: touchstone workspace hash ./delivery
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(clap::Subcommand)]
enum Verb {
    /// Print both hashes: the Python peer's, and ours over everything that lies there.
    Hash {
        /// The folder.
        #[arg(value_name = "DIR")]
        folder: PathBuf,
        /// The answer as one JSON object.
        #[arg(long)]
        json: bool,
    },
}

/// Runs the verb and returns its exit code: 1 when the folder cannot be hashed.
pub(crate) fn run(args: &Args) -> u8 {
    let Verb::Hash { folder, json } = &args.verb;
    // What the user wrote may be a link; inside, none is followed.
    let real = folder.canonicalize();
    match scan(real.as_ref().unwrap_or(folder), &Limits::default()) {
        Ok(scan) => {
            let answer = answer(&scan);
            let text = if *json { one_line(&answer) } else { lines(&answer) };
            output::line(&text);
            exit::OK
        }
        Err(fault) => {
            output::usage(&format!("{}: {}: {fault}", folder.display(), fault.code()));
            exit::FAILED
        }
    }
}

fn answer(scan: &Scan) -> Object {
    let peer = peer_manifest(scan);
    let number = |value: u64| Value::from(value);
    Object::new()
        .with("ws_sha256", peer.as_ref().map(|peer| peer.ws_sha256))
        .with("ws_sha256_v2", hash_v2(scan, Excluded::Nothing))
        .with("frozen_sha256_v2", hash_v2(scan, Excluded::CacheDirectories))
        .with("files_n", peer.as_ref().map(|peer| number(peer.files_n)))
        .with("bytes_n", peer.as_ref().map(|peer| number(peer.bytes_n)))
        .with("entries_n", scan.leaves.len() as u64)
        .with("special_files_n", scan.specials().count() as u64)
}

fn one_line(answer: &Object) -> String {
    String::from_utf8_lossy(&canon::canonical(&Value::Object(answer.clone()))).into_owned()
}

fn lines(answer: &Object) -> String {
    let shown = |value: &Value| match value {
        // A name that is not UTF-8: the peer has no hash of such a folder.
        Value::Null => "(none: a name here is not UTF-8)".to_owned(),
        Value::Str(text) => text.clone(),
        other => String::from_utf8_lossy(&canon::canonical(other)).into_owned(),
    };
    let lines: Vec<String> =
        answer.iter().map(|(key, value)| format!("{key:<16} {}", shown(value))).collect();
    lines.join("\n")
}

//! Committing to a suite before the first draft exists (18.4).

use super::panel::{is_reserved, object, suite_of};
use crate::check::{suite_file, text};
use crate::output::{Tone, line, paint};
use crate::{exit, output};
use canon::{Digest, Object, Value};
use desk::keydir;
use desk::store::{now_ms, write_public_key};
use ledger::logbook::Appender;
use peers::quorum::{GaugeRecord, SuiteGaugeError, Task, commit_suite};
use std::io::Write as _;
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
pub(super) struct Args {
    /// The suite, a JSON object.
    #[arg(value_name = "SUITE")]
    suite: PathBuf,
    /// Name of the task.
    #[arg(long, value_name = "ID")]
    task_id: String,
    /// What `touchstone gauge --json` printed about this suite.
    #[arg(long, value_name = "FILE")]
    gauge: PathBuf,
    /// The nonce, one line of at least 16 characters, which is kept and opens the commitment later.
    #[arg(long, value_name = "FILE")]
    nonce_file: PathBuf,
    /// Sign with the key in this folder.
    #[arg(long, value_name = "DIR")]
    sign: PathBuf,
    /// The commitment, a chain of one entry: a new file.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

/// The record that `gauge` printed; nothing where a member is missing or of another type.
fn record(printed: &Object) -> Option<GaugeRecord> {
    let gauge = printed.get("gauge")?.as_object()?;
    let digest = |name: &str| Digest::parse(gauge.get(name)?.as_str()?).ok();
    Some(GaugeRecord {
        suite_sha256: digest("suite_sha256")?,
        ref_sha256: digest("ref_sha256")?,
        ref_passed: gauge.get("ref_passed")?.as_bool()?,
        broken_n: gauge.get("n_broken")?.as_i64().and_then(|n| u64::try_from(n).ok())?,
        all_rejected: gauge.get("all_rejected")?.as_bool()?,
    })
}

pub(super) fn nonce(path: &Path) -> Result<String, String> {
    Ok(text(path)?.trim_end_matches(['\r', '\n']).to_owned())
}

pub(super) fn run(args: &Args) -> u8 {
    match committed(args) {
        Ok(code) => code,
        Err(why) => output::usage(&why),
    }
}

fn committed(args: &Args) -> Result<u8, String> {
    let spec = suite_file(&args.suite)?;
    let nonce = nonce(&args.nonce_file)?;
    let identity =
        keydir::load(&args.sign, None).map_err(|error| format!("{}: {error}", args.sign.display()))?;
    let gauge = record(&object(&args.gauge)?);
    let task = Task { task_id: args.task_id.clone(), entry_point: Some(spec.entry_point().to_owned()) };
    let suite = suite_of(&spec)?;
    let bound = suite.bind(&task, &is_reserved).map_err(|unbound| unbound.code().to_owned())?;
    let mut chain = Appender::default();
    let entry = match commit_suite(&mut chain, &identity, &bound, gauge.as_ref(), &nonce, now_ms()) {
        Ok(entry) => entry,
        Err(why) => {
            if matches!(why, SuiteGaugeError::Nonce) {
                return Err("--nonce-file: a nonce has at least 16 characters".to_owned());
            }
            output::refused(why.code(), "nothing was signed: gauge this suite first, and let it pass");
            return Ok(exit::REFUSED);
        }
    };
    let failed = |error: std::io::Error| format!("{}: {error}", args.out.display());
    let mut file = std::fs::File::create_new(&args.out).map_err(failed)?;
    file.write_all(&entry.line).and_then(|()| file.sync_all()).map_err(failed)?;
    write_public_key(&args.out.with_extension("pub.json"), &identity.public()).map_err(failed)?;
    line(&format!("{}  suite {}", paint("COMMITTED", Tone::Good), spec.digest().to_hex()));
    line(&format!("key        {}", identity.public().to_hex()));
    Ok(exit::OK)
}

/// The signed entry of a commitment.
pub(super) fn entry(path: &Path) -> Result<Value, String> {
    super::panel::first_entry(path)
}

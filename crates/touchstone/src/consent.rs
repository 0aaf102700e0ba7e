//! `touchstone consent`: what the consent entries of a chain come to, and new ones (desk specification 22).

mod write;

use crate::output::{Tone, paint};
use crate::verify::read_regular;
use crate::{exit, output};
use canon::{Digest, Object, Reader, Value, canonical};
use ledger::identity::PublicKey;
use ledger::{Mode, logbook};
use peers::consent::{Audit, audit_chain, plaintext};
use std::path::{Path, PathBuf};

const FILE_BYTES_MAX: u64 = 64 << 20;

/// Consent on a chain: granted, withdrawn, erased. No text of a person is ever written there.
///
/// grant, withdraw and erase print the new head of the chain. Keep it where nobody who can write the chain can write it,
/// and give it back with --expect-head the next time: without it lost lines cannot be seen.
///
/// Example: touchstone consent grant consent.ndjson --keys keys --subject s-1 --persona p.json --nonce nonce
///   --nonce-ref n-1 --fields topics,style --scope demo
/// Example: touchstone consent audit consent.ndjson --key 64HEX
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(clap::Subcommand)]
enum Verb {
    /// Write that a person consents: a commitment to what describes the person, and for what.
    Grant(write::GrantArgs),
    /// Write that consent was taken back. What describes the person has to be erased after that.
    Withdraw(write::WithdrawArgs),
    /// Delete what describes the person, the nonce first of all, and write that it is gone.
    Erase(write::EraseArgs),
    /// Verify a chain and say where each subject stands.
    ///
    /// Exit codes: 0 in order, 1 the chain does not hold or has problems, 2 an erasure is due.
    #[command(verbatim_doc_comment)]
    Audit {
        /// The chain file.
        #[arg(value_name = "CHAIN")]
        chain: PathBuf,
        /// Public key of whoever keeps the chain, 64 hex digits; never one that lies beside the chain.
        #[arg(long, value_name = "HEX")]
        key: String,
        /// A persona: none of its texts may stand on the chain.
        #[arg(long, value_name = "FILE", requires = "nonce")]
        persona: Option<PathBuf>,
        /// Its nonce, which may not stand there either.
        #[arg(long, value_name = "FILE", requires = "persona")]
        nonce: Option<PathBuf>,
        /// The chain must end in this head (64 hex); without it, entries cut off its end do not show.
        #[arg(long, value_name = "HEX", value_parser = head)]
        expect_head: Option<Digest>,
        /// The answer as one JSON object.
        #[arg(long)]
        json: bool,
    },
}

fn head(text: &str) -> Result<Digest, String> {
    Digest::parse(text).map_err(|_| "64 lowercase hex digits are needed".to_owned())
}

/// Runs the verb and returns its exit code.
pub(crate) fn run(args: &Args) -> u8 {
    let (chain, key, persona, nonce, expected, json) = match &args.verb {
        Verb::Grant(args) => return write::grant(args),
        Verb::Withdraw(args) => return write::withdraw(args),
        Verb::Erase(args) => return write::erase(args),
        Verb::Audit { chain, key, persona, nonce, expect_head, json } => {
            (chain, key, persona, nonce, expect_head, json)
        }
    };
    let Ok(key) = PublicKey::parse(key) else {
        return output::usage("--key is no public key of 64 hex digits");
    };
    let read = |path: &Path| {
        read_regular(path, FILE_BYTES_MAX).map_err(|error| format!("{}: {error}", path.display()))
    };
    let given = read(chain).and_then(|chain| {
        let (Some(persona), Some(nonce)) = (persona, nonce) else { return Ok((chain, None)) };
        let persona = Reader::strict().read(&read(persona)?);
        let persona = persona.map_err(|error| format!("--persona: {}", error.fault.code()))?;
        let nonce = String::from_utf8(read(nonce)?).map_err(|_| "--nonce: not UTF-8 text".to_owned())?;
        Ok((chain, Some((persona, nonce.trim_end().to_owned()))))
    });
    let (chain, secret) = match given {
        Ok(given) => given,
        Err(message) => return output::usage(&message),
    };
    let audit = match audit_chain(&chain, &key) {
        Ok(audit) => audit,
        Err(failures) => return broken(&failures, *json),
    };
    let head = logbook::verify(&chain, &key, Mode::Strict).head;
    if expected.is_some_and(|expected| expected != head) {
        output::refused(
            &format!("consent_chain_other_head: the chain ends in {}", head.to_hex()),
            "entries were cut off its end, or were added: ask who keeps it",
        );
        return exit::FAILED;
    }
    // Nothing on the chain is nothing that could be in order.
    if audit.subjects.is_empty() && audit.problems.is_empty() {
        output::refused("nobody granted anything on this chain", "is it the chain of consent?");
        return exit::FAILED;
    }
    if expected.is_none() && !*json {
        let said =
            format!("head {} (not anchored: --expect-head shows whether its end is there)", head.to_hex());
        output::line(&paint(&output::hanging("", &said), Tone::Quiet));
    }
    let leaks = secret.map(|(persona, nonce)| leaks(&chain, &persona, &nonce));
    tell(&audit, leaks.as_deref(), *json)
}

/// Lines of the chain, from 1, that hold a text of the persona.
fn leaks(chain: &[u8], persona: &Value, nonce: &str) -> Vec<u64> {
    // The chain was verified: every line that is not blank is an entry.
    let read = |line: &[u8]| Reader::strict().read(line).ok()?.get("payload").cloned();
    let numbered = chain.split(|byte| *byte == b'\n').zip(1_u64..);
    let entries: Vec<(u64, Value)> =
        numbered.filter_map(|(line, number)| Some((number, read(line)?))).collect();
    let found = plaintext(entries.iter().map(|(_, payload)| payload), persona, nonce);
    let mut lines: Vec<u64> = found.iter().filter_map(|leak| Some(entries.get(leak.entry)?.0)).collect();
    lines.dedup();
    lines
}

fn broken(failures: &[ledger::Failure], json: bool) -> u8 {
    let codes: Vec<&str> = failures.iter().map(|failure| failure.reason.code()).collect();
    if json {
        say(&Object::new().with("ok", false).with("chain", codes).into());
    } else {
        output::line(&format!("{}  {}", paint("the chain does not hold", Tone::Bad), codes.join(" ")));
    }
    exit::FAILED
}

fn tell(audit: &Audit, leaks: Option<&[u64]>, json: bool) -> u8 {
    let due = audit.subjects.values().any(peers::consent::Subject::is_unfulfilled);
    let leaked = leaks.is_some_and(|leaks| !leaks.is_empty());
    let code = match (audit.problems.is_empty() && !leaked, due) {
        (false, _) => exit::FAILED,
        (true, true) => exit::YELLOW,
        (true, false) => exit::OK,
    };
    if json {
        let problem = |(seq, problem): &(i64, peers::consent::Problem)| {
            Value::Object(Object::new().with("seq", *seq).with("reason", problem.code()))
        };
        let subject = |(name, subject): (&String, &peers::consent::Subject)| {
            let object = Object::new().with("subject_ref", name.as_str()).with("state", subject.state.text());
            Value::Object(object.with("unfulfilled", subject.is_unfulfilled()))
        };
        let problems: Vec<Value> = audit.problems.iter().map(problem).collect();
        let subjects: Vec<Value> = audit.subjects.iter().map(subject).collect();
        let object = Object::new().with("ok", code == exit::OK).with("problems", problems);
        say(&object.with("subjects", subjects).with("plaintext_lines", leaks.map(<[u64]>::to_vec)).into());
        return code;
    }
    for (name, subject) in &audit.subjects {
        let tone = if subject.is_unfulfilled() { Tone::Warn } else { Tone::Good };
        let due = if subject.is_unfulfilled() { "  an erasure is due" } else { "" };
        output::line(&format!("{}  {name}{due}", paint(subject.state.text(), tone)));
    }
    for (seq, problem) in &audit.problems {
        output::line(&format!("{}  entry {seq}: {}", paint("problem", Tone::Bad), problem.code()));
    }
    for line in leaks.unwrap_or_default() {
        output::line(&format!("{}  line {line} holds a text of the persona", paint("plaintext", Tone::Bad)));
    }
    code
}

fn say(value: &Value) {
    output::line(&String::from_utf8_lossy(&canonical(value)));
}

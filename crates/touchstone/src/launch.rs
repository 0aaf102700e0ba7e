//! `touchstone gate-then-run`: words around `desk::launch` (desk specification 20).

mod here;

use crate::output::{Tone, paint};
use crate::verify::read_regular;
use crate::{exit, output};
use canon::{Object, Reader, Value};
use desk::launch::{Launch, LaunchError, Launched, gate_then_run};
use desk::sandbox::Choice;
use desk::supervise::{self, Status};
pub(crate) use here::Here;
use ledger::identity::PublicKey;
use peers::controller::Template;
use peers::delegation::{Asked, Desk, Live, Policy, Undelivered};
use peers::ecosystem::{Announcement, Registry};
use std::path::{Path, PathBuf};
use std::time::Duration;

const FILE_BYTES_MAX: u64 = 64 << 20;

/// Start an agent with a delivery of somebody else, if the delivery holds, and only once.
///
/// Checks the receipt and its card against the registry and the deliverer's chain as it is now, runs the check again
/// here, claims the launch in RUNS/REQUEST/launch.claim, and only then starts the agent: without a shell, in a session of
/// its own, without this desk's API keys. This binds only the process that is started here.
///
/// The check is one of three types: {"type": "equals", "value": TEXT}, {"type": "json_schema", "schema": SCHEMA},
/// {"type": "run_python", "code": PROGRAM}. The types "contains" and "regex" may not start anything.
///
/// Exit codes: 0 the agent ran, 20 not admitted (not started), 21 the agent ran and failed, 22 not started because
/// something was missing here (this says nothing about the delivery), or not on record.
///
/// Example: touchstone gate-then-run --receipt receipt.json --card card.json --request-id req-1 --task task.txt
///   --tests tests.json --answer answer.txt --registry registry.json --chain chain.ndjson --runs runs
///   -- agent --context {context_path}
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Args {
    /// The delegation receipt.
    #[arg(long, value_name = "FILE")]
    receipt: PathBuf,
    /// The delivery card beside it.
    #[arg(long, value_name = "FILE")]
    card: PathBuf,
    /// Id of the request that was made.
    #[arg(long, value_name = "ID")]
    request_id: String,
    /// The task as sent.
    #[arg(long, value_name = "FILE")]
    task: PathBuf,
    /// The check as sent, JSON.
    #[arg(long, value_name = "FILE")]
    tests: PathBuf,
    /// The risk as sent.
    #[arg(long, default_value = "normal", value_parser = ["normal", "high"])]
    risk: String,
    /// The answer as received.
    #[arg(long, value_name = "FILE")]
    answer: PathBuf,
    /// Who is announced: a JSON list of {vacant_id, pub_hex, substrate}.
    #[arg(long, value_name = "FILE")]
    registry: PathBuf,
    /// The deliverer's chain as it is now.
    #[arg(long, value_name = "FILE")]
    chain: PathBuf,
    /// Folder of all launches.
    #[arg(long, value_name = "DIR")]
    runs: PathBuf,
    /// Where the agent starts [default: here].
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,
    /// Seconds that the agent may take.
    #[arg(long, value_name = "SECONDS", default_value_t = 900, value_parser = clap::value_parser!(u64).range(1..=604_800))]
    timeout: u64,
    /// Attempts that a deliverer has, 1 to 10.
    #[arg(long, value_name = "N", default_value_t = 3)]
    max_attempts: u64,
    /// How the program of a `run_python` check and the answer are confined: the best that this machine allows, or not.
    #[arg(long, value_parser = ["auto", "none"], default_value = "auto")]
    sandbox: String,
    /// An agent that ends with another code than 0 is a failure (21).
    #[arg(long)]
    require_success: bool,
    /// The answer as one JSON object, after whatever the agent prints.
    #[arg(long)]
    json: bool,
    /// The agent: a fixed program, then arguments with {task} {answer} {task_id} {receipt_path} {context_path}.
    #[arg(last = true, required = true, value_name = "TEMPLATE")]
    template: Vec<String>,
}

/// What the arguments name, read.
struct Given {
    receipt: Value,
    card: Value,
    tests: Value,
    task: String,
    answer: String,
    registry: Registry,
    /// Substrate by id.
    substrates: Vec<(String, String)>,
    chain: Vec<u8>,
}

/// Runs the verb and returns its exit code.
pub(crate) fn run(args: &Args) -> u8 {
    let given = match Given::read(args) {
        Ok(given) => given,
        Err(message) => return output::usage(&message),
    };
    let words: Vec<&str> = args.template.iter().map(String::as_str).collect();
    let template = match Template::new(&words) {
        Ok(template) => template,
        Err(refusal) => return output::usage(&format!("the template is refused: {}", refusal.code())),
    };
    let Ok(policy) = Policy::default().with_max_attempts(args.max_attempts) else {
        return output::usage("--max-attempts is 1 to 10");
    };
    let places = std::env::current_dir().and_then(|here| {
        let runs = std::path::absolute(&args.runs)?;
        Ok((runs, args.cwd.as_ref().map_or(here.clone(), |cwd| here.join(cwd))))
    });
    let (runs, cwd) = match places {
        Ok(places) => places,
        Err(error) => return output::usage(&format!("--runs or --cwd: {error}")),
    };
    let live = |id: &str| {
        let (_, substrate) = given.substrates.iter().find(|(known, _)| known == id)?;
        Some(Live { substrate, chain: &given.chain })
    };
    let check = Here { sandbox: if args.sandbox == "none" { Choice::None } else { Choice::Auto } };
    let desk = Desk { registry: &given.registry, live: &live, policy, check: &check };
    let launch = Launch {
        receipt: &given.receipt,
        card: &given.card,
        asked: Asked {
            request_id: Some(&args.request_id),
            task: &given.task,
            tests: &given.tests,
            risk: &args.risk,
            answer: &given.answer,
        },
        template: &template,
        runs: &runs,
        cwd: &cwd,
        env: std::env::vars_os().collect(),
        timeout: Duration::from_secs(args.timeout),
        require_success: args.require_success,
        output: supervise::Output::Pass,
    };
    tell(&gate_then_run(&launch, &desk), args.json)
}

impl Given {
    fn read(args: &Args) -> Result<Given, String> {
        let bytes = |path: &Path| {
            read_regular(path, FILE_BYTES_MAX).map_err(|error| format!("{}: {error}", path.display()))
        };
        let text = |path: &Path| {
            String::from_utf8(bytes(path)?).map_err(|_| format!("{}: not UTF-8 text", path.display()))
        };
        let json = |path: &Path| {
            let read = Reader::strict().read(&bytes(path)?);
            read.map_err(|error| format!("{}: {}", path.display(), error.fault.code()))
        };
        let (registry, substrates) = residents(&json(&args.registry)?)?;
        Ok(Given {
            receipt: json(&args.receipt)?,
            card: json(&args.card)?,
            tests: json(&args.tests)?,
            task: text(&args.task)?,
            answer: text(&args.answer)?,
            registry,
            substrates,
            chain: bytes(&args.chain)?,
        })
    }
}

fn residents(list: &Value) -> Result<(Registry, Vec<(String, String)>), String> {
    let (mut registry, mut substrates) = (Registry::new(), Vec::new());
    for entry in list.as_array().ok_or("the registry is no JSON list")? {
        let text = |member: &str| {
            entry
                .get(member)
                .and_then(Value::as_str)
                .ok_or(format!("an entry of the registry has no {member}"))
        };
        let (id, substrate) = (text("vacant_id")?, text("substrate")?);
        let key = PublicKey::parse(text("pub_hex")?).map_err(|_| format!("{id}: pub_hex is no key"))?;
        let said = Announcement {
            id,
            key,
            stream: None,
            branch: "main",
            substrate,
            families: &[],
            controller: None,
        };
        registry.announce(&said).map_err(|refusal| format!("{id}: {}", refusal.code()))?;
        substrates.push((id.to_owned(), substrate.to_owned()));
    }
    Ok((registry, substrates))
}

fn tell(result: &Result<Launched, LaunchError>, json: bool) -> u8 {
    let (reason, ran, status) = match result {
        Ok(launched) => (None, true, Some(&launched.status)),
        Err(error) => {
            let status = match error {
                LaunchError::AgentFailed(status) | LaunchError::EvidenceLost(status, _) => Some(status),
                _ => None,
            };
            (Some(error.code()), error.agent_ran(), status)
        }
    };
    let exit_code = status.and_then(|status| match status {
        Status::Exited(code) => Some(i64::from(*code)),
        _ => None,
    });
    let code = match result {
        Ok(_) => exit::OK,
        Err(LaunchError::AgentFailed(_) | LaunchError::TimedOut) => exit::AGENT_FAILED,
        Err(LaunchError::NotStored(_) | LaunchError::NotStarted(_) | LaunchError::EvidenceLost(..)) => {
            exit::NOT_ON_RECORD
        }
        // What this desk could not measure is no word about the delivery.
        Err(LaunchError::Rejected(Undelivered::CheckNotMeasured)) => exit::VOID,
        Err(_) => exit::NOT_ADMITTED,
    };
    if json {
        let object =
            Object::new().with("agent_ran", ran).with("reason", reason).with("exit", u64::from(code));
        let object = object.with("agent_exit_code", exit_code);
        output::line(&String::from_utf8_lossy(&canon::canonical(&Value::Object(object))));
        return code;
    }
    match (reason, ran) {
        (None, _) => {
            output::line(&format!("{}  the delivery held and the agent ran", paint("started", Tone::Good)))
        }
        (Some(reason), true) => {
            output::line(&format!("{}  the agent RAN: {reason}", paint("started", Tone::Warn)));
        }
        (Some(reason), false) => {
            output::line(&format!("{}  the agent did not run: {reason}", paint("not started", Tone::Bad)));
        }
    }
    code
}

//! `touchstone agents`: the agents that are known by name.

use crate::exit;
use crate::output::{self, Tone, hanging, line, paint};
use canon::{Object, Value};
use desk::agents::{Need, Preset, presets};
use std::path::PathBuf;

/// List the agents that are known by name, what each needs, and which are installed.
///
/// Exit: 0 listed, 1 no such agent.
///
/// Example: touchstone agents codex
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Args {
    /// One of them; without it all are listed.
    #[arg(value_name = "NAME")]
    name: Option<String>,
    /// The whole answer as one JSON object.
    #[arg(long)]
    json: bool,
}

/// Runs the verb and returns its exit code.
pub(crate) fn run(args: &Args) -> u8 {
    let wanted = |preset: &Preset| args.name.as_ref().is_none_or(|name| preset.name == *name);
    let found: Vec<Preset> = presets().into_iter().filter(wanted).collect();
    if let (Some(name), true) = (&args.name, found.is_empty()) {
        let name = canon::shown(name.as_bytes());
        output::usage(&format!("no agent is called {name}; `touchstone agents` lists all of them"));
        return exit::FAILED;
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let listed: Vec<(Preset, Option<PathBuf>)> = found
        .into_iter()
        .map(|preset| {
            let program = preset.installed(&path);
            (preset, program)
        })
        .collect();
    if args.json {
        let agents = listed.iter().map(|(preset, program)| value(preset, program.as_ref()));
        let answer = Object::new().with("v", 1_i64).with("agents", Value::Array(agents.collect()));
        line(&String::from_utf8_lossy(&canon::canonical(&answer.into())));
    } else {
        for (preset, program) in &listed {
            print(preset, program.as_ref());
        }
    }
    exit::OK
}

/// The word for a need.
fn need(need: Need, preset: &Preset) -> String {
    match need {
        Need::Program => format!("{} on PATH ({})", preset.program, preset.install),
        Need::Model => "the name of a model".to_owned(),
    }
}

fn print(preset: &Preset, program: Option<&PathBuf>) {
    let (word, tone) = match program {
        Some(_) => ("installed", Tone::Good),
        None => ("not installed", Tone::Quiet),
    };
    line(&format!("{:<17} {}", preset.name, paint(word, tone)));
    let say = |label: &str, text: &str| line(&hanging(&format!("  {label:<15} "), text));
    if let Some(program) = program {
        say("program", &canon::shown(program.as_os_str().as_encoded_bytes()));
    }
    let needs: Vec<String> = preset.needs().into_iter().map(|each| need(each, preset)).collect();
    say("needs", &needs.join("; "));
    say("speaks", &preset.protocols.join(", "));
    say("pointed by", &preset.ways().join(", "));
    say("tried", &preset.tried);
    say("note", &preset.note);
}

fn value(preset: &Preset, program: Option<&PathBuf>) -> Value {
    let needs: Vec<&str> = preset
        .needs()
        .into_iter()
        .map(|need| match need {
            Need::Program => "program",
            Need::Model => "model",
        })
        .collect();
    Object::new()
        .with("name", preset.name.as_str())
        .with("title", preset.title.as_str())
        .with("program", preset.program.as_str())
        .with("install", preset.install.as_str())
        .with("tried", preset.tried.as_str())
        .with("protocols", preset.protocols.clone())
        .with("needs", needs)
        .with("pointed_by", preset.ways())
        .with("note", preset.note.as_str())
        .with("installed", program.map(|path| canon::shown(path.as_os_str().as_encoded_bytes())))
        .into()
}

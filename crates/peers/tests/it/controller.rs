//! Launch templates: what they take, refuse and become.

use canon::{Object, Value};
use peers::controller::{Filling, LaunchCheck, NotAuthorising, Template, Untemplated};
use proptest::prelude::*;

fn refused(arguments: &[&str]) -> Untemplated {
    Template::new(arguments).err().unwrap_or_else(|| panic!("{arguments:?} was taken"))
}

const FILLING: Filling<'static> = Filling {
    task: "the task",
    answer: "--rm {task} -c",
    task_id: "t-1",
    receipt_path: "/r.json",
    context_path: "/c.json",
};

#[test]
fn arguments_as_they_become() {
    let template = Template::new(&[
        "agent",
        "--id={task_id}",
        "--context",
        "{context_path}",
        "x{{y}}",
        "--",
        "{answer}",
    ]);
    let argv = template.unwrap().expand(&FILLING).unwrap();
    // What is filled in is text: the placeholder inside the answer stays.
    assert_eq!(argv, ["agent", "--id=t-1", "--context", "/c.json", "x{y}", "--", "--rm {task} -c"]);
    let nul = Filling { answer: "a\0b", ..FILLING };
    assert_eq!(Template::new(&["agent", "--", "{answer}"]).unwrap().expand(&nul), None);
    let list = Value::from(vec!["agent", "{receipt_path}", "{context_path}"]);
    assert_eq!(Template::read(&list).unwrap().expand(&FILLING).unwrap(), ["agent", "/r.json", "/c.json"]);
}

#[test]
fn every_refusal() {
    assert_eq!(refused(&[]), Untemplated::Empty);
    assert_eq!(refused(&["agent", "a\0", "{context_path}"]), Untemplated::ArgumentText);
    assert_eq!(Template::read(&"agent {answer}".into()), Err(Untemplated::ArgumentText));
    assert_eq!(Template::read(&vec![1_i64].into()), Err(Untemplated::ArgumentText));
    for program in ["{answer}", "agent-{task_id}", "", " ", "/bin/", "{{x"] {
        assert_eq!(refused(&[program, "{context_path}"]), Untemplated::ProgramNotFixed, "{program}");
    }
    for program in ["sh", "/bin/bash", "/usr/bin/env", "C:\\Windows\\cmd.exe", "PowerShell.EXE", "busybox"] {
        assert_eq!(refused(&[program, "{context_path}"]), Untemplated::ProgramIsShell, "{program}");
    }
    for argument in ["{other}", "{answer!r}", "{answer:>9}", "{answer.x}", "{}", "{ answer}", "{answer", "}"]
    {
        assert_eq!(
            refused(&["agent", "--", argument, "{context_path}"]),
            Untemplated::Placeholder,
            "{argument}"
        );
    }
    for arguments in [
        &["python3", "-c", "{answer}"][..],
        &["python3", "-Ic", "{answer}"],
        &["python3.11", "-c{answer}"],
        &["perl", "-ne", "{answer}"],
        &["node", "--eval={answer}"],
        &["nice", "bash", "-c", "--", "{answer}"],
        &["timeout", "5", "sh", "-c", "--", "{answer}"],
        &["nice", "bash", "+x", "-c", "--", "{answer}"],
        &["rbash", "-c", "--", "{answer}"],
        &["nice", "env", "-S{answer}"],
        &["nice", "--", "env", "--split-string={task}"],
        &["script", "--command={answer}", "/dev/null"],
        &["script", "-qc{answer}", "/dev/null"],
        &["su", "root", "--session-command={answer}"],
        &["tar", "--checkpoint-action=exec={answer}", "-cf", "x", "{context_path}"],
        &["nice", "bash", "-lc", "{answer}"],
        &["timeout", "5", "/usr/bin/python3", "-Ic", "{answer}"],
        &["agent", "-c", "x = {answer}"],
        &["python3", "-c", "import {task_id}", "{context_path}"],
    ] {
        assert_eq!(refused(arguments), Untemplated::DynamicProgram, "{arguments:?}");
    }
    for argument in ["{task}", "{answer}", "{answer}{task_id}", "{task}.txt"] {
        assert_eq!(refused(&["agent", argument, "--", "{answer}"]), Untemplated::BareText, "{argument}");
    }
    assert_eq!(refused(&["agent", "{task_id}", "{receipt_path}", "--", "{task}"]), Untemplated::AnswerUnused);
    assert_eq!(refused(&["agent"]), Untemplated::AnswerUnused);
}

#[test]
fn a_fixed_program_text_is_no_dynamic_one() {
    let template = Template::new(&["python3", "-c", "import sys; run(sys.argv[1])", "--", "{answer}"]);
    assert!(template.is_ok(), "{template:?}");
    // Other programs may have an option -r.
    assert!(Template::new(&["agent", "-r", "{receipt_path}", "{context_path}"]).is_ok());
}

#[test]
fn three_checks_may_authorise_a_launch() {
    let check = |kind: &str| LaunchCheck::of(&Object::new().with("type", kind).into());
    assert_eq!(check("equals"), Ok(LaunchCheck::Equals));
    assert_eq!(check("json_schema"), Ok(LaunchCheck::JsonSchema));
    assert_eq!(check("run_python"), Ok(LaunchCheck::RunPython));
    for kind in ["contains", "regex", "llm", "RUN_PYTHON", ""] {
        assert_eq!(check(kind), Err(NotAuthorising::CheckKind), "{kind}");
    }
    assert_eq!(LaunchCheck::of(&Value::Null), Err(NotAuthorising::CheckKind));
}

proptest! {
    /// Whatever an answer says, it is one argument after `--`, and nothing else changes.
    #[test]
    fn an_answer_is_one_argument(answer in "[^\0]{0,40}") {
        let template = Template::new(&["agent", "--json", "--", "{answer}"]).unwrap();
        let argv = template.expand(&Filling { answer: &answer, ..FILLING }).unwrap();
        prop_assert_eq!(argv, ["agent", "--json", "--", answer.as_str()]);
    }

    /// No text makes the reader fail otherwise than by a refusal.
    #[test]
    fn any_text_is_read(arguments in prop::collection::vec("[a-z{}_ -]{0,12}", 0..5)) {
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let _ = Template::new(&arguments);
    }
}

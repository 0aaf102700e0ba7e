//! `docs/kernel-skills.md` lists the skills that there are, and its modules load.
#![allow(clippy::unwrap_used)]

use canon::{Object, Value};
use kernel::skill::{Argument, Example, Manifest, Skills, WasmLimits};
use std::fmt::Write as _;

const BEGIN: &str = "<!-- skills -->\n";
const END: &str = "<!-- /skills -->";

fn table() -> String {
    let mut out = String::from("| skill | arguments | what it does |\n|---|---|---|\n");
    for manifest in Skills::builtin().manifests() {
        let name = |argument: &Argument| {
            if argument.required { format!("`{}`", argument.name) } else { format!("[`{}`]", argument.name) }
        };
        let arguments: Vec<String> = manifest.arguments.iter().map(name).collect();
        let (name, arguments) = (&manifest.name, arguments.join(" "));
        writeln!(out, "| `{name}` | {arguments} | {} |", manifest.description.replace('|', "\\|")).unwrap();
    }
    out
}

/// `TOUCHSTONE_WRITE_SKILLS=1` writes the table.
#[test]
fn the_document_lists_every_skill() {
    let path = vectors::repository().join("docs/kernel-skills.md");
    let text = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = text.split_once(BEGIN).unwrap();
    let (written, after) = rest.split_once(END).unwrap();
    let table = table();
    if std::env::var_os("TOUCHSTONE_WRITE_SKILLS").is_some() {
        std::fs::write(&path, format!("{before}{BEGIN}{table}{END}{after}")).unwrap();
    } else {
        assert!(
            written == table,
            "TOUCHSTONE_WRITE_SKILLS=1 cargo test -p kernel the_document writes the table"
        );
    }
}

#[test]
fn the_smallest_module_of_the_document_works() {
    let text = include_str!("../../../docs/kernel-skills.md");
    let (_, rest) = text.split_once("```wat\n").unwrap();
    let module = wat::parse_str(rest.split_once("```").unwrap().0).unwrap();
    let manifest = Manifest {
        name: "test.always".into(),
        version: 1,
        description: "Always true.".into(),
        triggers: vec!["always true".into()],
        permission: 0,
        arguments: vec![Argument { name: "a".into(), meaning: "anything".into(), required: false }],
        examples: vec![Example { payload: Object::new(), output: Value::from(true) }],
    };
    let mut skills = Skills::default();
    skills.add_wasm(manifest, &module, WasmLimits::default()).unwrap();
    let largest = Object::new().with("a", "x".repeat((1 << 20) - 8));
    for payload in [Object::new(), largest] {
        assert_eq!(skills.run(0, &payload), Ok(Value::from(true)));
    }
}

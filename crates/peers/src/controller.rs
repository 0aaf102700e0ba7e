//! The controller's pure parts: how a launch is written down, and which checks may authorise one (section 20).
//!
//! A launch binds only the process that the controller starts. The same user of the operating system can start the same
//! agent without it.

use canon::Value;

canon::codes! {
    /// Why a launch template is refused. The first reason that applies, argument by argument.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Untemplated {
        /// Nothing to start.
        Empty = "template_empty",
        /// An argument holds a NUL byte, or is not the text that it should be.
        ArgumentText = "template_argument_text",
        /// The program is a placeholder, holds one, or has no name.
        ProgramNotFixed = "template_program_not_fixed",
        /// The program is a shell, or `env`.
        ProgramIsShell = "template_program_is_shell",
        /// A placeholder that does not exist, has a format option or is not closed.
        Placeholder = "template_placeholder",
        /// A program given as text to an interpreter holds a placeholder.
        DynamicProgram = "template_dynamic_program",
        /// Free text as a whole argument before `--`, where it could be read as an option.
        BareText = "template_bare_text",
        /// Neither the answer nor the context is used: what starts has nothing to do with the gate.
        AnswerUnused = "template_answer_unused",
    }
}

/// What may stand in a template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Placeholder {
    Task,
    Answer,
    TaskId,
    ReceiptPath,
    ContextPath,
}

const PLACEHOLDERS: [(&str, Placeholder); 5] = [
    ("task", Placeholder::Task),
    ("answer", Placeholder::Answer),
    ("task_id", Placeholder::TaskId),
    ("receipt_path", Placeholder::ReceiptPath),
    ("context_path", Placeholder::ContextPath),
];

/// Programs that run whatever text they are given, or whatever another argument names.
const SHELLS: [&str; 19] = [
    "sh",
    "bash",
    "zsh",
    "dash",
    "ash",
    "ksh",
    "mksh",
    "csh",
    "tcsh",
    "fish",
    "busybox",
    "toybox",
    "env",
    "cmd",
    "powershell",
    "pwsh",
    "nu",
    "xonsh",
    "elvish",
];

/// Programs that hand text on to a shell, or run it in some other way. No list of them is whole: who writes a template answers for
/// what its program does with a text.
const RUNNERS: [&str; 25] = [
    "rbash", "lksh", "yash", "posh", "script", "su", "sudo", "doas", "runuser", "ssh", "watch", "xargs",
    "parallel", "expect", "awk", "gawk", "mawk", "nawk", "at", "batch", "tmux", "screen", "socat", "gdb",
    "vim",
];

/// Words in an option that takes a command.
const COMMAND_WORDS: [&str; 3] = ["command", "exec", "eval"];

/// Options of any program that take a program as text.
const PROGRAM_OPTIONS: [&str; 4] = ["-c", "-e", "--eval", "--print"];

/// Programs whose bundled short options may end in one of those, as in `python3 -Ic`; a version may follow the name.
const INTERPRETERS: [&str; 12] =
    ["python", "pypy", "perl", "ruby", "node", "nodejs", "deno", "bun", "php", "lua", "rscript", "julia"];
/// The letters at the end of such a bundle.
const PROGRAM_LETTERS: [char; 5] = ['c', 'e', 'E', 'p', 'r'];

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Text(String),
    Slot(Placeholder),
}

/// A list of arguments with placeholders, never a command line. One that exists can be started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    program: String,
    arguments: Vec<Vec<Piece>>,
}

/// What the placeholders stand for.
#[derive(Clone, Copy, Debug)]
pub struct Filling<'a> {
    /// The task as sent.
    pub task: &'a str,
    /// The answer that passed the gate.
    pub answer: &'a str,
    /// Task on the deliverer's chain.
    pub task_id: &'a str,
    /// Where the receipt lies.
    pub receipt_path: &'a str,
    /// Where the context lies.
    pub context_path: &'a str,
}

impl Template {
    /// Reads a JSON list of strings.
    pub fn read(value: &Value) -> Result<Template, Untemplated> {
        let items = value.as_array().ok_or(Untemplated::ArgumentText)?;
        let texts: Option<Vec<&str>> = items.iter().map(Value::as_str).collect();
        Template::new(&texts.ok_or(Untemplated::ArgumentText)?)
    }

    /// A template of these arguments, the program first.
    pub fn new(arguments: &[&str]) -> Result<Template, Untemplated> {
        let (program, rest) = arguments.split_first().ok_or(Untemplated::Empty)?;
        if arguments.iter().any(|argument| argument.contains('\0')) {
            return Err(Untemplated::ArgumentText);
        }
        fixed_program(program)?;
        let arguments = rest.iter().map(|argument| pieces(argument)).collect::<Result<Vec<_>, _>>()?;
        no_dynamic_program(&name_of(program), &arguments)?;
        no_runner_of_text(&name_of(program), &arguments)?;
        no_bare_text(&arguments)?;
        let uses_answer =
            |piece: &Piece| matches!(piece, Piece::Slot(Placeholder::Answer | Placeholder::ContextPath));
        if !arguments.iter().flatten().any(uses_answer) {
            return Err(Untemplated::AnswerUnused);
        }
        Ok(Template { program: (*program).to_owned(), arguments })
    }

    /// The program and its arguments. What is filled in is never looked at again: a placeholder in an answer stays text.
    /// Nothing when a value holds a NUL byte, which no argument can.
    pub fn expand(&self, filling: &Filling<'_>) -> Option<Vec<String>> {
        let value = |slot: Placeholder| match slot {
            Placeholder::Task => filling.task,
            Placeholder::Answer => filling.answer,
            Placeholder::TaskId => filling.task_id,
            Placeholder::ReceiptPath => filling.receipt_path,
            Placeholder::ContextPath => filling.context_path,
        };
        let argument = |pieces: &Vec<Piece>| -> String {
            pieces
                .iter()
                .map(|piece| if let Piece::Slot(slot) = piece { value(*slot) } else { piece.text() })
                .collect()
        };
        let mut argv = vec![self.program.clone()];
        argv.extend(self.arguments.iter().map(argument));
        (!argv.iter().any(|argument| argument.contains('\0'))).then_some(argv)
    }
}

impl Piece {
    fn text(&self) -> &str {
        match self {
            Piece::Text(text) => text,
            Piece::Slot(_) => "",
        }
    }
}

fn fixed_program(program: &str) -> Result<(), Untemplated> {
    let name = name_of(program);
    if program.contains(['{', '}']) || name.trim().is_empty() {
        return Err(Untemplated::ProgramNotFixed);
    }
    if SHELLS.contains(&name.as_str()) { Err(Untemplated::ProgramIsShell) } else { Ok(()) }
}

/// The last part of a path in small letters, without the suffix of a program.
fn name_of(program: &str) -> String {
    let name = program.rsplit(['/', '\\']).next().unwrap_or(program).to_ascii_lowercase();
    name.strip_suffix(".exe").unwrap_or(&name).to_owned()
}

/// Splits at `{name}`; `{{` and `}}` are braces.
fn pieces(argument: &str) -> Result<Vec<Piece>, Untemplated> {
    let (mut pieces, mut text, mut rest) = (Vec::new(), String::new(), argument);
    while let Some(at) = rest.find(['{', '}']) {
        text.push_str(&rest[..at]);
        let brace = &rest[at..=at];
        if rest[at + 1..].starts_with(brace) {
            text.push_str(brace);
            rest = &rest[at + 2..];
            continue;
        }
        let inside = rest[at..].strip_prefix('{').and_then(|inside| inside.split_once('}'));
        let slot = inside.and_then(|(name, after)| {
            let (_, slot) = PLACEHOLDERS.into_iter().find(|(known, _)| *known == name)?;
            Some((slot, after))
        });
        let (slot, after) = slot.ok_or(Untemplated::Placeholder)?;
        if !text.is_empty() {
            pieces.push(Piece::Text(std::mem::take(&mut text)));
        }
        pieces.push(Piece::Slot(slot));
        rest = after;
    }
    text.push_str(rest);
    if !text.is_empty() || pieces.is_empty() {
        pieces.push(Piece::Text(text));
    }
    Ok(pieces)
}

/// `-c {answer}`, `-c{answer}`, `--eval={answer}` and their like: the answer would be the program.
fn no_dynamic_program(program: &str, arguments: &[Vec<Piece>]) -> Result<(), Untemplated> {
    let version = |ch: char| ch.is_ascii_digit() || ch == '.';
    let reads_programs =
        |name: &str| INTERPRETERS.contains(&name.trim_end_matches(version)) || SHELLS.contains(&name);
    // Behind a wrapper such as `nice`, the interpreter is an argument.
    let wrapped =
        |pieces: &Vec<Piece>| matches!(&pieces[..], [Piece::Text(text)] if reads_programs(&name_of(text)));
    let interpreter = reads_programs(program) || arguments.iter().any(wrapped);
    let bundle = |option: &str| {
        let letters = option.strip_prefix('-').filter(|letters| !letters.starts_with('-'));
        interpreter && letters.is_some_and(|letters| letters.ends_with(PROGRAM_LETTERS))
    };
    let has_slot = |pieces: &[Piece]| pieces.iter().any(|piece| matches!(piece, Piece::Slot(_)));
    let asks = |pieces: &[Piece]| matches!(pieces, [Piece::Text(text)] if PROGRAM_OPTIONS.contains(&text.as_str()) || bundle(text));
    let follows = arguments.windows(2).any(|pair| asks(&pair[0]) && has_slot(&pair[1]));
    let attached = arguments.iter().any(|pieces| {
        let option = pieces.first().map(Piece::text).unwrap_or_default();
        has_slot(pieces) && (PROGRAM_OPTIONS.iter().any(|asks| option.starts_with(asks)) || bundle(option))
    });
    if follows || attached { Err(Untemplated::DynamicProgram) } else { Ok(()) }
}

/// Free text and something that runs text do not stand in one template, wherever either of them stands: `nice bash -c -- {answer}`,
/// `nice env -S{answer}`, `script -qc{answer}`, `tar --checkpoint-action=exec={answer}`.
fn no_runner_of_text(program: &str, arguments: &[Vec<Piece>]) -> Result<(), Untemplated> {
    let free = |piece: &Piece| matches!(piece, Piece::Slot(Placeholder::Task | Placeholder::Answer));
    let runs = |name: &str| SHELLS.contains(&name) || RUNNERS.contains(&name);
    let names_one = |pieces: &Vec<Piece>| matches!(&pieces[..], [Piece::Text(text)] if runs(&name_of(text)));
    let takes_command = |pieces: &Vec<Piece>| {
        let option = pieces.first().map(Piece::text).unwrap_or_default().to_ascii_lowercase();
        let asks = option.starts_with('-') && COMMAND_WORDS.iter().any(|word| option.contains(word));
        asks && pieces.iter().any(free)
    };
    let text = arguments.iter().flatten().any(free);
    let run = runs(program) || arguments.iter().any(names_one) || arguments.iter().any(takes_command);
    if text && run { Err(Untemplated::DynamicProgram) } else { Ok(()) }
}

/// An argument that is the task or the answer and nothing else stands after `--`.
fn no_bare_text(arguments: &[Vec<Piece>]) -> Result<(), Untemplated> {
    let ends = |pieces: &Vec<Piece>| matches!(&pieces[..], [Piece::Text(text)] if text == "--");
    let before = arguments.iter().take_while(|pieces| !ends(pieces));
    let bare = |pieces: &Vec<Piece>| {
        // What begins with free text can begin with a dash.
        matches!(pieces.first(), Some(Piece::Slot(Placeholder::Task | Placeholder::Answer)))
    };
    if before.into_iter().any(bare) { Err(Untemplated::BareText) } else { Ok(()) }
}

canon::codes! {
    /// Why a check may not authorise a launch.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum NotAuthorising {
        /// No check, or one of another kind than the three that decide.
        CheckKind = "launch_check_kind",
    }
}

/// Checks that decide: each has an answer that does not depend on anybody's opinion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LaunchCheck {
    /// The answer is exactly a text.
    Equals,
    /// The answer is JSON of a schema.
    JsonSchema,
    /// The answer passes a program.
    RunPython,
}

impl LaunchCheck {
    /// The kind of a check as sent, when it may authorise a launch.
    pub fn of(tests: &Value) -> Result<LaunchCheck, NotAuthorising> {
        match tests.get("type").and_then(Value::as_str) {
            Some("equals") => Ok(LaunchCheck::Equals),
            Some("json_schema") => Ok(LaunchCheck::JsonSchema),
            Some("run_python") => Ok(LaunchCheck::RunPython),
            _ => Err(NotAuthorising::CheckKind),
        }
    }
}

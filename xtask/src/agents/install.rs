//! Pinned packages in folders of their own, kept between runs. Nothing is installed where the user has anything.

use super::table::{Agent, Source};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The last line of what went wrong is cut at this many characters.
const WHY_MAX: usize = 160;

/// Installs an agent, unless that was done, and gives the folder with its program. An error is why it cannot be had here.
pub(super) fn install(agent: &Agent) -> Result<PathBuf, String> {
    let folder = cache()?.join(format!("{}-{}", agent.name, agent.version));
    let programs = match agent.source()? {
        Source::Npm(_) => folder.join("node_modules/.bin"),
        Source::Pip(_) => folder.join("venv/bin"),
    };
    let done = folder.join(".installed");
    if done.is_file() {
        return Ok(programs);
    }
    std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    match agent.source()? {
        Source::Npm(name) => npm(&folder, name, &agent.version)?,
        Source::Pip(name) => pip(&folder, name, &agent.version)?,
    }
    std::fs::write(&done, "").map_err(|error| format!("{}: {error}", done.display()))?;
    Ok(programs)
}

/// `TOUCHSTONE_AGENTS`, else the user's cache.
fn cache() -> Result<PathBuf, String> {
    let of = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let below = |folder: PathBuf| folder.join("touchstone/agents");
    of("TOUCHSTONE_AGENTS")
        .or_else(|| of("XDG_CACHE_HOME").map(below))
        .or_else(|| of("HOME").map(|home| below(home.join(".cache"))))
        .ok_or_else(|| "neither TOUCHSTONE_AGENTS nor HOME is set: no place to install into".to_owned())
}

fn npm(folder: &Path, name: &str, version: &str) -> Result<(), String> {
    // Without one npm installs into the next folder above that has one.
    std::fs::write(folder.join("package.json"), "{\"private\":true}\n").map_err(|error| error.to_string())?;
    let package = format!("{name}@{version}");
    let words = ["install", "--no-audit", "--no-fund", "--no-update-notifier", "--loglevel=error", &package];
    ran(Command::new("npm").args(words).current_dir(folder))
}

fn pip(folder: &Path, name: &str, version: &str) -> Result<(), String> {
    let venv = folder.join("venv");
    ran(Command::new("python3").args(["-m", "venv"]).arg(&venv))?;
    let package = format!("{name}=={version}");
    let words = ["-m", "pip", "install", "--quiet", "--no-compile", "--disable-pip-version-check", &package];
    ran(Command::new(venv.join("bin/python")).args(words))
}

fn ran(command: &mut Command) -> Result<(), String> {
    let output = command.stdin(Stdio::null()).output();
    let program = OsString::from(command.get_program());
    let output = output.map_err(|error| format!("{}: {error}", program.display()))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    Err(reason(&said).chars().take(WHY_MAX).collect())
}

/// The line that has the reason: npm spreads its own over many, pip over few.
fn reason(said: &str) -> &str {
    let marks = ["Error: ", "notarget No ", "ERROR: "];
    let found = marks.iter().find_map(|mark| said.lines().find(|line| line.contains(mark)));
    let line = found.or_else(|| said.lines().last()).unwrap_or("no reason given").trim();
    line.trim_start_matches("npm error ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reason_is_found_among_the_words() {
        let npm = "npm error code 1\nnpm error \t\tthrow new Error(`x`);\nnpm error Error: Request failed\nnpm error  at x\n";
        assert_eq!(reason(npm), "Error: Request failed");
        let nested = "npm error code 1\nnpm error npm error notarget No matching version found for x@1.\n";
        assert_eq!(reason(nested), "notarget No matching version found for x@1.");
        assert_eq!(
            reason("WARNING: old\nERROR: No matching distribution\n"),
            "ERROR: No matching distribution"
        );
        assert_eq!(reason("killed\n"), "killed");
    }
}

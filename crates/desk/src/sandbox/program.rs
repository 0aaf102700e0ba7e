//! Where a program really lives, so that the sandbox can show it.

use std::path::{Path, PathBuf};

/// The directories that `program` needs besides the system's own: the prefix of a pyenv, virtualenv, rustup or node
/// installation. Empty for a program under `/usr`. For [`super::Spec::read_only`].
pub fn program_roots(program: &Path) -> Vec<PathBuf> {
    let mut roots = Vec::new();
    let Ok(real) = program.canonicalize() else { return roots };
    for path in [program_path(program), real] {
        let prefix = prefix(&path);
        if let Some(home) = python_home(&prefix) {
            roots.push(home);
        }
        roots.push(prefix);
    }
    roots.retain(|root| !root.starts_with("/usr") && root.components().count() > 1);
    roots.sort();
    roots.dedup();
    roots
}

/// The path under which `program` is visible inside: its folder without links, its own name as it is (a virtualenv's
/// `bin/python` is a link that must stay one).
pub fn program_path(program: &Path) -> PathBuf {
    let folder = program.parent().and_then(|folder| folder.canonicalize().ok());
    match (folder, program.file_name()) {
        (Some(folder), Some(name)) => folder.join(name),
        _ => program.to_path_buf(),
    }
}

/// The directory above `bin`; the file alone when it lies elsewhere.
fn prefix(program: &Path) -> PathBuf {
    match program.parent() {
        Some(bin) if bin.ends_with("bin") => bin.parent().unwrap_or(bin).to_path_buf(),
        _ => program.to_path_buf(),
    }
}

/// A virtualenv names the installation whose library it uses.
fn python_home(prefix: &Path) -> Option<PathBuf> {
    let text = std::fs::read_to_string(prefix.join("pyvenv.cfg")).ok()?;
    let home = text.lines().find_map(|line| line.strip_prefix("home")?.trim_start().strip_prefix('='))?;
    Path::new(home.trim()).canonicalize().ok()?.parent().map(Path::to_path_buf)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn system_programs_need_nothing_and_others_their_prefix() {
        assert_eq!(program_roots(Path::new("/bin/sh")), Vec::<PathBuf>::new());
        let dir = tempfile::tempdir().unwrap();
        let top = dir.path().canonicalize().unwrap();
        for (prefix, name) in [("real", "python3.9"), ("venv", "")] {
            std::fs::create_dir_all(top.join(prefix).join("bin")).unwrap();
            if !name.is_empty() {
                std::fs::write(top.join(prefix).join("bin").join(name), "").unwrap();
            }
        }
        let link = top.join("venv/bin/python");
        std::os::unix::fs::symlink(top.join("real/bin/python3.9"), &link).unwrap();
        std::fs::write(top.join("venv/pyvenv.cfg"), format!("home = {}/real/bin\n", top.display())).unwrap();
        assert_eq!(program_roots(&link), vec![top.join("real"), top.join("venv")]);
    }
}

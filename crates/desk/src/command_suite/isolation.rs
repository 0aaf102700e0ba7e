//! Runner configuration in a delivery that checks do not see (ruling 19).
//!
//! A delivery brings code; how the code is judged belongs to the suite. Many tools read settings, plugins or start-up
//! scripts from the folder they work on, so a delivery could switch its own tests off without touching them.
//! [`RULES`] lists such files, [`hidden`] says which of them a delivery has and its suite does not allow.
//!
//! Hiding is the second wall. The first is a command that does not look there; the flags are, for each runner:
//!
//! * **pytest**: `python3 -I -X pycache_prefix={scratch}/pyc -m pytest -c {suite}/pytest.ini --rootdir={suite}
//!   --noconftest --import-mode=importlib -p no:cacheprovider`. `-I` keeps the working directory, `PYTHON*` variables
//!   and the user's site folder out; `-c` and `--rootdir` end the search for settings; `--noconftest` ends the search
//!   for plugins; the prefix ignores byte code that the delivery brings. Tests append the delivery to `sys.path`, so
//!   that it cannot shadow the standard library or pytest.
//! * **cargo**: start in the suite (`cwd = "suite"`), since cargo and rustup look for `.cargo/config.toml` and
//!   `rust-toolchain.toml` from the working directory upwards; the suite owns the root `Cargo.toml` and its lock file
//!   (`--locked --offline`), the delivery is a dependency replaced by `--config patch...path={workspace}`, and
//!   `--target-dir={scratch}`. Profiles, patches and `[workspace]` tables of a dependency are not read. A `build.rs`
//!   is code of the delivery, not configuration: it runs in the sandbox and is not hidden.
//! * **go**: start in the suite's own module with `GOWORK`, `GOFLAGS`, `GOPROXY=off`, `GOTOOLCHAIN=local` and
//!   `GOENV=off` set by the suite's own program, and the test files copied by it; the delivery's `go.work` and
//!   `*_test.go` are not used.
//! * **node --test**: name the test files of the suite; do not run `npm test`, which runs the delivery's
//!   `package.json`. `NODE_OPTIONS` is the desk's to clear; `.env` is only read with `--env-file`.
//! * **jest, vitest, mocha**: `--config {suite}/...` and `--rootDir`/`--root {suite}`; mocha `--no-config
//!   --no-package --no-opts`.
//! * **shells**: `run` is an argument list. If a shell must be, `bash --noprofile --norc`.

use super::config::ConfigError;
use globset::{Candidate, GlobBuilder, GlobSet, GlobSetBuilder};
use std::path::{Path, PathBuf};

/// Files of one kind that make a tool do what the delivery says.
#[derive(Debug, PartialEq, Eq)]
pub struct Rule {
    /// The tool that reads them.
    pub reader: &'static str,
    /// Globs, matched at any depth of the delivery.
    pub globs: &'static [&'static str],
    /// What a delivery could do with them.
    pub why: &'static str,
}

/// What is hidden unless the suite allows it.
pub const RULES: &[Rule] = &[
    Rule {
        reader: "pytest",
        globs: &["conftest.py"],
        why: "a plugin: can drop, skip or rewrite the outcome of any test",
    },
    Rule {
        reader: "pytest",
        globs: &[
            "pytest.ini",
            ".pytest.ini",
            "pytest.toml",
            ".pytest.toml",
            "pyproject.toml",
            "tox.ini",
            "setup.cfg",
        ],
        why: "addopts, testpaths, plugins and markers: can deselect tests or load code",
    },
    Rule {
        reader: "python",
        globs: &[
            "sitecustomize.py",
            "usercustomize.py",
            "sitecustomize/__init__.py",
            "usercustomize/__init__.py",
            "sitecustomize.*.so",
            "usercustomize.*.so",
            "*.pth",
            "*._pth",
            "pyvenv.cfg",
        ],
        why: "run or followed at the start of the interpreter, before any check",
    },
    Rule {
        reader: "python",
        globs: &["*.dist-info/entry_points.txt", "*.egg-info/entry_points.txt"],
        why: "registers a plugin with every tool that loads plugins from the import path",
    },
    Rule {
        reader: "python tools",
        globs: &[".coveragerc", ".pdbrc", "noxfile.py", "pip.conf", "uv.toml"],
        why: "names code that the tool runs, or replaces what is measured",
    },
    Rule {
        reader: "cargo",
        globs: &[".cargo", ".cargo/config", ".cargo/config.toml", ".config/nextest.toml"],
        why: "replaces the compiler, the test runner, the sources and the arguments",
    },
    Rule {
        reader: "version managers",
        globs: &[
            "rust-toolchain",
            "rust-toolchain.toml",
            ".python-version",
            ".node-version",
            ".nvmrc",
            ".tool-versions",
            "mise.toml",
            ".mise.toml",
            ".envrc",
        ],
        why: "chooses which program a tool's name means, some by a path",
    },
    Rule {
        reader: "go",
        globs: &["go.work", "go.work.sum"],
        why: "replaces modules, the suite's own among them",
    },
    Rule {
        reader: "npm and other script runners",
        globs: &[
            "package.json",
            ".npmrc",
            ".yarnrc",
            ".yarnrc.yml",
            ".pnpmfile.cjs",
            "pnpm-workspace.yaml",
            "bunfig.toml",
            "deno.json",
            "deno.jsonc",
        ],
        why: "scripts decide what `npm test` runs; imports, exports and settings of runners redirect modules",
    },
    Rule {
        reader: "npx and package scripts",
        globs: &["node_modules/.bin", "node_modules/.bin/*"],
        why: "the runner itself, brought by the delivery",
    },
    Rule {
        reader: "node",
        globs: &["node.config.json", ".pnp.cjs", ".pnp.loader.mjs", ".env", ".env.*", "*.env"],
        why: "sets NODE_OPTIONS and other variables, or is loaded before the tests",
    },
    Rule {
        reader: "JavaScript runners",
        globs: &[
            ".mocharc.*",
            "jest.config.*",
            "jest.setup.*",
            "vitest.config.*",
            "vitest.workspace.*",
            "vite.config.*",
            "ava.config.*",
            "karma.conf.*",
            "playwright.config.*",
            "cypress.config.*",
            "cypress.json",
            ".taprc",
            ".nycrc*",
            "nyc.config.*",
            ".c8rc*",
        ],
        why: "chooses the tests, adds reporters and code that runs before them",
    },
    Rule {
        reader: "JavaScript compilers",
        globs: &["babel.config.*", ".babelrc*", ".swcrc", "tsconfig*.json", "jsconfig.json"],
        why: "rewrites the source of tests, or redirects what they import",
    },
    Rule {
        reader: "shells",
        globs: &[
            ".profile",
            ".bash_profile",
            ".bash_login",
            ".bash_logout",
            ".bashrc",
            ".zshenv",
            ".zprofile",
            ".zshrc",
            ".zlogin",
            ".kshrc",
            ".shrc",
            "config.fish",
        ],
        why: "runs before any command of a shell whose home is the delivery",
    },
    Rule {
        reader: "git",
        globs: &[".gitconfig", ".git/config", ".git/hooks/*"],
        why: "names programs that any git command runs",
    },
    Rule {
        reader: "JVM tools",
        globs: &[
            ".mvn/jvm.config",
            ".mvn/maven.config",
            ".mvn/extensions.xml",
            "gradle.properties",
            "init.gradle",
            "init.gradle.kts",
            "junit-platform.properties",
            ".jvmopts",
            ".sbtopts",
        ],
        why: "options and extensions of the build, or which tests run",
    },
    Rule {
        reader: "Ruby, PHP, Perl, R and Lua tools",
        globs: &[
            ".rspec",
            ".bundle/config",
            ".rubocop.yml",
            "phpunit.xml",
            "phpunit.xml.dist",
            "phpunit.dist.xml",
            ".user.ini",
            "php.ini",
            ".proverc",
            ".Rprofile",
            ".Renviron",
            ".busted",
        ],
        why: "options of the runner, or code that runs at its start",
    },
    Rule {
        reader: ".NET",
        globs: &[
            "*.runsettings",
            "Directory.Build.props",
            "Directory.Build.targets",
            "nuget.config",
            "global.json",
        ],
        why: "options of the runner and of the build",
    },
    Rule {
        reader: "debuggers and fetchers",
        globs: &[".gdbinit", ".lldbinit", ".curlrc", ".wgetrc", ".netrc"],
        why: "commands and options that are read from the home or working folder",
    },
];

/// A file of the delivery that the check must not see.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hidden {
    /// Its path, relative to the delivery.
    pub path: PathBuf,
    /// Why.
    pub rule: &'static Rule,
}

/// The paths that are runner configuration and not allowed, in the order given.
///
/// `paths` are relative to the delivery: regular files and links (a linked `.cargo` counts), no folders. `allow` are
/// the globs of the suite; they match whole paths, `*` does not cross a `/`, `**/` stands for any folders.
///
/// # Errors
/// A glob that cannot be read. [`super::config::parse`] has refused such a suite already.
pub fn hidden<P: AsRef<Path>>(paths: &[P], allow: &[String]) -> Result<Vec<Hidden>, ConfigError> {
    let allowed = glob_set(allow.iter().cloned())?;
    let (globs, rules): (Vec<String>, Vec<&'static Rule>) =
        RULES.iter().flat_map(|rule| rule.globs.iter().map(move |glob| (format!("**/{glob}"), rule))).unzip();
    let known = glob_set(globs.into_iter())?;
    let mut hidden = Vec::new();
    for path in paths {
        let path = path.as_ref();
        let candidate = Candidate::new(path);
        let Some(rule) = known.matches_candidate(&candidate).first().and_then(|at| rules.get(*at)) else {
            continue;
        };
        if !allowed.is_match_candidate(&candidate) {
            hidden.push(Hidden { path: path.to_owned(), rule });
        }
    }
    Ok(hidden)
}

/// The allowed globs with the same meaning wherever they are read.
fn glob_set(globs: impl Iterator<Item = String>) -> Result<GlobSet, ConfigError> {
    let error = |error: &globset::Error| ConfigError { line: None, message: error.to_string() };
    let mut set = GlobSetBuilder::new();
    for glob in globs {
        set.add(GlobBuilder::new(&glob).literal_separator(true).build().map_err(|e| error(&e))?);
    }
    set.build().map_err(|e| error(&e))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(paths: &[&str], allow: &[&str], expected: &[&str]) {
        let allow: Vec<String> = allow.iter().map(ToString::to_string).collect();
        let hidden = hidden(paths, &allow).expect("globs are valid");
        let hidden: Vec<_> = hidden.iter().map(|h| h.path.to_str().expect("UTF-8")).collect();
        assert_eq!(hidden, expected);
    }

    #[test]
    fn configuration_is_hidden_at_any_depth_and_code_is_not() {
        check(
            &["calc.py", "conftest.py", "a/b/conftest.py", "conftest.py.txt", "src/lib.rs", "build.rs"],
            &[],
            &["conftest.py", "a/b/conftest.py"],
        );
        check(
            &["Cargo.toml", ".cargo/config.toml", ".cargo/config", "go.mod"],
            &[],
            &[".cargo/config.toml", ".cargo/config"],
        );
        check(
            &[".bash_profile", "x.pth", ".mocharc.cjs", "package.json", ".env.local"],
            &[],
            &[".bash_profile", "x.pth", ".mocharc.cjs", "package.json", ".env.local"],
        );
    }

    #[test]
    fn a_linked_folder_counts() {
        check(&[".cargo", "vendored/config.toml"], &[], &[".cargo"]);
    }

    #[test]
    fn the_suite_allows_by_whole_path() {
        let paths = ["pyproject.toml", "a/pyproject.toml", "setup.cfg"];
        check(&paths, &["pyproject.toml"], &["a/pyproject.toml", "setup.cfg"]);
        check(&paths, &["**/pyproject.toml"], &["setup.cfg"]);
        check(&paths, &["*"], &["a/pyproject.toml"]);
    }

    #[cfg(unix)]
    #[test]
    fn paths_need_not_be_utf8() {
        use std::os::unix::ffi::OsStrExt;
        let path = Path::new(std::ffi::OsStr::from_bytes(b"\xff/conftest.py"));
        assert_eq!(hidden(&[path], &[]).expect("globs are valid").len(), 1);
    }
}

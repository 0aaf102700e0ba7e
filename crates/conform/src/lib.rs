//! Shell ring: grades runtimes. Reads their runs or makes them in fresh processes, keeps golden files, looks at
//! documents; every judgement is made in `verdict`.

pub mod attest;
pub mod docs;
pub mod exec;
pub mod golden;
pub mod init;
pub mod load;
mod problem;

pub use problem::Problem;

/// The class of this machine, `arch-os`, as golden files have it (L-1).
pub fn host_class() -> String {
    format!("{}-{}", std::env::consts::ARCH, std::env::consts::OS)
}

/// Bounds of one document of a run (D-7): depth 128, 16 MiB.
pub fn limits() -> canon::Limits {
    canon::Limits::default()
}

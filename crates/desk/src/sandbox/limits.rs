//! What a run may use (receiving-desk.md section 9).

/// Limits of one run; `None` means no limit. Units stand last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// From start to end, by the clock.
    pub wall_ms: Option<u64>,
    /// Processor time of each process.
    pub cpu_seconds: Option<u64>,
    /// Data of each process: what it can really fill.
    pub memory_bytes: Option<u64>,
    /// Address space of each process. Runtimes that reserve far more than they use (Node, Go) start only without.
    pub address_bytes: Option<u64>,
    /// Processes at the same time.
    pub processes: Option<u64>,
    /// Descriptors of each process.
    pub open_files: Option<u64>,
    /// The largest single file.
    pub file_bytes: Option<u64>,
    /// All of the scratch folder together. Held by the kernel at level Full only.
    pub scratch_bytes: u64,
    /// What is kept of each output; more is counted and thrown away.
    pub output_bytes: u64,
}

impl Limits {
    /// For a check: 60 s, 65 s of processor time, 512 MiB, 128 processes.
    pub fn check() -> Limits {
        Limits {
            wall_ms: Some(60_000),
            cpu_seconds: Some(65),
            memory_bytes: Some(512 << 20),
            address_bytes: Some(512 << 20),
            processes: Some(128),
            open_files: Some(256),
            file_bytes: Some(256 << 20),
            scratch_bytes: 256 << 20,
            output_bytes: 1 << 20,
        }
    }

    /// A check with another wall limit; processor time follows it with 5 s more, as section 9 has it.
    pub fn check_within_ms(wall_ms: u64) -> Limits {
        Limits { wall_ms: Some(wall_ms), cpu_seconds: Some(wall_ms.div_ceil(1000) + 5), ..Limits::check() }
    }

    /// For the agent: nothing is limited, 16 MiB of each output are kept.
    pub fn unlimited() -> Limits {
        Limits {
            wall_ms: None,
            cpu_seconds: None,
            memory_bytes: None,
            address_bytes: None,
            processes: None,
            open_files: None,
            file_bytes: None,
            scratch_bytes: 0,
            output_bytes: 16 << 20,
        }
    }
}

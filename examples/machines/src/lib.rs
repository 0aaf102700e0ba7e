//! The state hashes as a WebAssembly module without imports: two exports, where the text lies and how long it is.
#![allow(unsafe_code)] // only for the two names: a host that is not Rust has to find them

#[path = "../../../crates/room/examples/state_hash/report.rs"]
mod report;

use std::sync::LazyLock;

static REPORT: LazyLock<String> = LazyLock::new(report::report);

/// Where the text lies.
#[unsafe(no_mangle)]
pub extern "C" fn report_pointer() -> *const u8 {
    REPORT.as_ptr()
}

/// How many bytes it has.
#[unsafe(no_mangle)]
pub extern "C" fn report_length() -> usize {
    REPORT.len()
}

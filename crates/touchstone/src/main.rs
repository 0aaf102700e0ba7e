//! The binary.

/// The desk re-executes this binary as its helper; that has to be found out before anything else happens.
fn main() {
    if let Some(code) = desk::sandbox::helper_main(std::env::args_os()) {
        std::process::exit(code);
    }
}

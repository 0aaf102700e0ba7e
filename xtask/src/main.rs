//! Properties of the repository as tests.
fn main() {}

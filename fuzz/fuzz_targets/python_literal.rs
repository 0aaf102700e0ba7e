#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| touchstone_fuzz::python_literal(bytes));

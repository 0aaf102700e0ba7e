//! The example of a WebAssembly skill: its module is built from the source beside it.

/// `TOUCHSTONE_WRITE_EXAMPLE=1` builds it again.
#[test]
fn the_module_is_built_from_its_source() {
    let folder = vectors::repository().join("examples/skills/text_vowels");
    let module = wat::parse_file(folder.join("module.wat")).unwrap();
    if std::env::var_os("TOUCHSTONE_WRITE_EXAMPLE").is_some() {
        std::fs::write(folder.join("module.wasm"), &module).unwrap();
    }
    assert!(module == std::fs::read(folder.join("module.wasm")).unwrap(), "build the example again");
    assert!(module.len() < 2 << 10, "{} bytes", module.len());
}

//! Modules that keep the rules, and one for each way to break them.

use super::{Argument, Example, Failed, Fault, Manifest, ManifestFault, ModuleFault, Skills, WasmLimits};
use canon::{Digest, Object, Value};
use proptest::prelude::*;

const MANIFEST: &str = include_str!("../../../../examples/skills/text_vowels/manifest.toml");
const MODULE: &str = include_str!("../../../../examples/skills/text_vowels/module.wat");
const BUILT: &[u8] = include_bytes!("../../../../examples/skills/text_vowels/module.wasm");

fn manifest() -> Manifest {
    Manifest {
        name: "test.module".into(),
        version: 1,
        description: "A module of a test.".into(),
        triggers: vec!["the module".into()],
        permission: 0,
        arguments: vec![Argument { name: "a".into(), meaning: "anything".into(), required: false }],
        examples: vec![Example { payload: Object::new(), output: Value::Null }],
    }
}

fn load(wat: &str, limits: WasmLimits) -> Result<Skills, ModuleFault> {
    let module = wat::parse_str(wat).unwrap();
    let mut skills = Skills::default();
    skills.add_wasm(manifest(), &module, limits).map(|()| skills)
}

/// A module whose `run` has this body; memory of one page, the payload goes to 1024.
fn body(run: &str) -> String {
    format!(
        r#"(module (memory (export "memory") 1) (global $g (mut i32) (i32.const 0))
        (data (i32.const 0) "\22\ff\22nonsense1.5[1,2]")
        (func (export "alloc") (param i32) (result i32) (i32.const 1024))
        (func $run (export "run") (param i32 i32) (result i64) {run}))"#
    )
}

fn outcome(run: &str) -> Result<Value, Fault> {
    let limits = WasmLimits { fuel: 100_000, ..WasmLimits::default() };
    let skills = load(&body(run), limits).unwrap();
    skills.run(0, &Object::new().with("a", 1_u64)).map_err(|failed| failed.fault)
}

/// The output at `place`, `length` bytes long.
fn output(place: u64, length: u64) -> Result<Value, Fault> {
    outcome(&format!("(i64.const {})", (place << 32) | length))
}

#[test]
fn the_example_counts_vowels() {
    let manifest = Manifest::from_toml(MANIFEST).unwrap();
    let (module, examples) = (wat::parse_str(MODULE).unwrap(), manifest.examples.clone());
    let mut skills = Skills::builtin();
    let before = skills.manifests().len();
    skills.add_wasm(manifest, &module, WasmLimits::default()).unwrap();
    assert_eq!(skills.manifests().len(), before + 1);
    assert!(skills.manifests().map(|manifest| &manifest.name).is_sorted());
    let index = skills.manifests().position(|manifest| manifest.name == "text.vowels").unwrap();
    assert!(examples.len() >= 2);
    for Example { payload, output } in examples {
        assert_eq!(skills.run(index, &payload), Ok(output));
    }
    let vowels = |payload: Object| skills.run(index, &payload).map_err(|failed| failed.fault);
    let long = Object::new().with("text", "ab".repeat(100_000));
    assert_eq!(vowels(long), Ok(Object::new().with("vowels", 100_000_u64).into()));
    assert_eq!(vowels(Object::new()), Err(Fault::ArgumentMissing));
    assert_eq!(vowels(Object::new().with("text", 1_u64)), Err(Fault::ModuleRefused));
    assert_eq!(vowels(Object::new().with("text", "a").with("u", "b")), Err(Fault::ModuleRefused));
}

#[test]
fn the_digest_is_of_the_modules_bytes() {
    let mut skills = load(&body("(i64.const 1)"), WasmLimits::default()).unwrap();
    let module = wat::parse_str(body("(i64.const 1)")).unwrap();
    assert_eq!(skills.module(0), Some(Digest::of(&module)));
    assert_eq!(skills.module(1), None);
    assert_eq!(Skills::builtin().module(0), None);
    let other = Manifest { name: "a.first".into(), triggers: vec!["the first".into()], ..manifest() };
    skills.add_wasm(other, BUILT, WasmLimits::default()).unwrap();
    assert_eq!(skills.module(0), Some(Digest::of(BUILT)));
}

#[test]
fn the_payload_arrives_as_canonical_json() {
    let echo = body(
        "(i64.or (i64.shl (i64.extend_i32_u (local.get 0)) (i64.const 32)) (i64.extend_i32_u (local.get 1)))",
    );
    let skills = load(&echo, WasmLimits::default()).unwrap();
    let payload = Object::new().with("b", "é\n").with("a", vec![1_u64, 2]);
    let sorted = Object::new().with("a", vec![1_u64, 2]).with("b", "é\n");
    assert_eq!(skills.run(0, &payload), Ok(sorted.into()));
}

#[test]
fn nothing_is_carried_over_and_fuel_is_counted_alike() {
    let count = body(
        "(global.set $g (i32.add (global.get $g) (i32.const 1)))
        (i32.store8 (i32.const 0) (i32.add (i32.const 48) (global.get $g))) (i64.const 1)",
    );
    let skills = load(&count, WasmLimits::default()).unwrap();
    for _ in 0..3 {
        assert_eq!(skills.run(0, &Object::new()), Ok(Value::from(1_u64)));
    }
    // The least fuel that is enough is the same for every instance and every engine.
    let enough = |fuel| {
        let limits = WasmLimits { fuel, ..WasmLimits::default() };
        load(&count, limits).is_ok_and(|skills| skills.run(0, &Object::new()).is_ok())
    };
    let least: Vec<u64> = (0..3).map(|_| (0..100).find(|fuel| enough(*fuel)).unwrap()).collect();
    assert!(least[0] > 5 && least.iter().all(|fuel| *fuel == least[0]), "{least:?}");
}

#[test]
fn every_fault_of_a_run_is_provoked() {
    let page = 65_536;
    let cases = [
        (Fault::ModuleTrapped, outcome("(unreachable)")),
        (Fault::ModuleTrapped, outcome("(i64.div_s (i64.const 1) (i64.const 0))")),
        (Fault::ModuleTrapped, outcome("(i64.load (i32.const -1))")),
        (Fault::ModuleTrapped, outcome("(call $run (local.get 0) (local.get 1))")),
        (Fault::OutOfFuel, outcome("(loop (br 0)) (i64.const 0)")),
        (Fault::MemoryOverLimit, outcome("(i64.extend_i32_s (memory.grow (i32.const 1000)))")),
        (Fault::BadPointer, output(page, 1)),
        (Fault::BadPointer, output(0xffff_ffff, 0xfff)),
        (Fault::ModuleRefused, outcome("(i64.const -1)")),
        (Fault::OutputTooLarge, output(0, (1 << 20) + 1)),
        (Fault::OutputNotUtf8, output(0, 3)),
        (Fault::OutputNotJson, output(3, 8)),
        (Fault::OutputNotJson, output(0, 0)),
        (Fault::OutputNotJson, output(11, 5)),
        (Fault::OutputFloat, output(11, 3)),
    ];
    for (index, (fault, got)) in cases.into_iter().enumerate() {
        assert_eq!(got, Err(fault), "case {index}");
    }
    assert_eq!(output(14, 5), Ok(Value::from(vec![1_u64, 2])));
}

#[test]
fn a_place_of_alloc_outside_the_memory_is_a_fault() {
    let outside = body("(i64.const 1)").replace("(i32.const 1024)", "(i32.const 65535)");
    let skills = load(&outside, WasmLimits::default()).unwrap();
    let failed = |payload: &Object| skills.run(0, payload).unwrap_err();
    assert_eq!(
        failed(&Object::new().with("a", 1_u64)),
        Failed { fault: Fault::BadPointer, detail: "alloc gave a place outside the memory".into() }
    );
}

fn refused(wat: &str) -> &'static str {
    load(wat, WasmLimits::default()).unwrap_err().code()
}

/// One function whose body is `end nop`: the interpreter's translator panics on it when nobody validates before.
#[test]
fn an_operator_behind_the_end_of_a_function_is_refused() {
    let module = b"\0asm\x01\0\0\0\x01\x04\x01\x60\0\0\x03\x02\x01\0\x0a\x05\x01\x03\0\x0b\x01";
    let fault = Skills::default().add_wasm(manifest(), module, WasmLimits::default()).unwrap_err();
    assert_eq!(fault.code(), "wasm_not_a_module", "{fault:?}");
}

#[test]
fn every_fault_of_loading_is_provoked() {
    let good = body("(i64.const 1)");
    let with = |more: &str| good.replacen("(module", &format!("(module {more}"), 1);
    let mut cases = vec![
        ("wasm_float", refused(&with("(func (result f64) (f64.const 1))"))),
        ("wasm_float", refused(&with("(func (param f32))"))),
        ("wasm_float", refused(&with("(global f64 (f64.const 0))"))),
        ("wasm_float", refused(&body("(i64.trunc_sat_f64_s (f64.const 1))"))),
        ("wasm_start_function", refused(&with("(start $begin) (func $begin)"))),
        ("wasm_import", refused(&with(r#"(import "wasi_snapshot_preview1" "clock_time_get" (func))"#))),
        ("wasm_import", refused(&with(r#"(import "env" "g" (global i32))"#))),
        ("wasm_export_missing", refused(&good.replace(r#"(export "run")"#, ""))),
        ("wasm_export_missing", refused(&good.replace(r#"(export "alloc")"#, ""))),
        ("wasm_export_missing", refused(&good.replace(r#"(export "memory")"#, ""))),
        ("wasm_export_missing", refused(&good.replace(r#"(export "run")"#, r#"(export "memo")"#))),
        ("wasm_initial_memory_over_limit", refused(&good.replace(r#""memory") 1"#, r#""memory") 257"#))),
        ("wasm_not_instantiable", refused(&with(r#"(data (i32.const 65535) "ab")"#))),
        ("wasm_not_instantiable", refused(&with("(table 10001 funcref)"))),
        (
            "wasm_not_a_module",
            refused(&with("(func (result i32) (i64.const 1))").replace("i32) (i64.const 1))", "i32))")),
        ),
        ("wasm_not_a_module", refused(&with("(func (result v128) (v128.const i64x2 0 0))"))),
    ];
    let mut skills = Skills::default();
    let module = wat::parse_str(&good).unwrap();
    let mut add = |manifest, module: &[u8], module_bytes| {
        let limits = WasmLimits { module_bytes, ..WasmLimits::default() };
        skills.add_wasm(manifest, module, limits).map_err(|fault| fault.code()).err()
    };
    assert_eq!(add(manifest(), &module, module.len()), None);
    let other = Manifest { name: "test.other".into(), ..manifest() };
    let third = Manifest { triggers: vec!["another one".into()], ..other.clone() };
    cases.push(("wasm_name_taken", add(manifest(), &module, 1000).unwrap()));
    cases.push(("wasm_trigger_taken", add(other, &module, 1000).unwrap()));
    cases.push(("wasm_module_over_limit", add(third.clone(), &module, 10).unwrap()));
    cases.push(("wasm_not_a_module", add(third, b"(module)", 1000).unwrap()));
    for (expected, got) in &cases {
        assert_eq!(got, expected, "{cases:?}");
    }
    for code in ModuleFault::CODES {
        assert!(cases.iter().any(|(expected, _)| expected == code), "{code} is not provoked");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// A damaged module is refused or runs to an answer, the same one twice; nothing panics.
    #[test]
    fn a_damaged_module_is_refused_or_runs(place in any::<prop::sample::Index>(), byte in any::<u8>(), cut in any::<bool>()) {
        let mut module = wat::parse_str(MODULE).unwrap();
        let place = place.index(module.len());
        module[place] = byte;
        module.truncate(if cut { place + 1 } else { module.len() });
        let outcome = || {
            let mut skills = Skills::default();
            let limits = WasmLimits { fuel: 20_000, memory_bytes: 1 << 20, ..WasmLimits::default() };
            skills.add_wasm(manifest(), &module, limits)?;
            Ok::<_, ModuleFault>(skills.run(0, &Object::new().with("text", "audio")))
        };
        prop_assert_eq!(outcome(), outcome());
    }
}

#[test]
fn every_fault_of_a_manifest_is_provoked() {
    let example = "payload = '{\"text\":\"An audio tape\"}'";
    let cases = [
        (ManifestFault::NotManifest, "version = 1", "version = \"1\""),
        (ManifestFault::NotManifest, "version = 1", "version = 1\nauthor = \"ann\""),
        (ManifestFault::NotManifest, "required = true", "required = true\ntype = \"text\""),
        (ManifestFault::NotManifest, "permission = 0", ""),
        (ManifestFault::NotManifest, "permission = 0", "permission = "),
        (ManifestFault::NameUnfit, "text.vowels\"", "vowels\""),
        (ManifestFault::NameUnfit, "text.vowels\"", "Text.vowels\""),
        (ManifestFault::NameUnfit, "text.vowels\"", "text.vowels.all\""),
        (ManifestFault::MemberUnfit, "permission = 0", "permission = 4"),
        (ManifestFault::MemberUnfit, "version = 1", "version = 0"),
        (ManifestFault::MemberUnfit, "[\"count vowels\"]", "[]"),
        (ManifestFault::MemberUnfit, "[\"count vowels\"]", "[\" \"]"),
        (ManifestFault::ExampleUnfit, example, "payload = '[1]'"),
        (ManifestFault::ExampleUnfit, example, "payload = '{'"),
        (ManifestFault::ExampleUnfit, example, "payload = '{}'"),
        (ManifestFault::ExampleUnfit, example, "payload = '{\"text\":\"\",\"b\":1}'"),
        (ManifestFault::ExampleUnfit, "{\"vowels\":0}", "0.5"),
        (ManifestFault::ExampleUnfit, "name = \"text\"", "name = \"\""),
    ];
    for (fault, from, to) in cases {
        assert!(MANIFEST.contains(from), "{from}");
        let got = Manifest::from_toml(&MANIFEST.replacen(from, to, 1)).unwrap_err();
        assert_eq!(got.fault, fault, "{to}: {}", got.detail);
    }
    let long = format!("{MANIFEST}#{}", " ".repeat(256 << 10));
    assert_eq!(Manifest::from_toml(&long).unwrap_err().fault, ManifestFault::NotManifest);
    assert_eq!(
        ManifestFault::ALL,
        [
            ManifestFault::NotManifest,
            ManifestFault::NameUnfit,
            ManifestFault::MemberUnfit,
            ManifestFault::ExampleUnfit
        ]
    );
}

//! Skills that are WebAssembly modules, run by an interpreter (K-4).
//!
//! A module imports nothing, so it has no clock, no random source and no input but its payload. It has no floating
//! point, whose NaN bits differ between machines. Each call gets a new instance: nothing is carried over. Fuel counts
//! executed operators and is the same on every machine for one version of the interpreter.

use super::{Failed, Fault, Manifest};
use canon::{Digest, Limits, Object, ReadFault, Reader, Value};
use wasmi::{
    CompilationMode, Config, Engine, Instance, Memory, Store, StoreLimits, StoreLimitsBuilder, TrapCode,
    TypedFunc,
};

/// What one call of a module may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WasmLimits {
    /// Units of fuel; an operator costs about one, a bulk copy one for each 64 bytes.
    pub fuel: u64,
    /// Bytes of linear memory, at the beginning and after growing.
    pub memory_bytes: usize,
    /// Bytes of output.
    pub output_bytes: usize,
    /// Bytes of the module itself.
    pub module_bytes: usize,
}

impl Default for WasmLimits {
    /// 50 million units of fuel, 16 MiB of memory, 1 MiB of output, a module of 4 MiB.
    fn default() -> WasmLimits {
        WasmLimits { fuel: 50_000_000, memory_bytes: 16 << 20, output_bytes: 1 << 20, module_bytes: 4 << 20 }
    }
}

/// Why a module was refused when it was loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ModuleFault {
    /// A skill of that name exists.
    NameTaken(String),
    /// Another skill has this trigger.
    TriggerTaken(String),
    /// Longer than [`WasmLimits::module_bytes`].
    ModuleTooLarge(usize),
    /// Not a valid module of WebAssembly 2 without SIMD, or too large for the interpreter.
    NotModule(String),
    /// A type or an instruction of floating point.
    Float,
    /// A start function, which would run before any payload.
    StartFunction,
    /// An import: no host function is offered.
    Import(String),
    /// An export is missing or has another type.
    ExportMissing(&'static str),
    /// The memory that it begins with is over [`WasmLimits::memory_bytes`].
    InitialMemory,
    /// It cannot be instantiated: a segment lies outside its memory or table, or a table is over 10 000 elements.
    NotInstantiable(String),
}

canon::codes! {
    impl ModuleFault: &self {
        ModuleFault::NameTaken(_) => "wasm_name_taken",
        ModuleFault::TriggerTaken(_) => "wasm_trigger_taken",
        ModuleFault::ModuleTooLarge(_) => "wasm_module_over_limit",
        ModuleFault::NotModule(_) => "wasm_not_a_module",
        ModuleFault::Float => "wasm_float",
        ModuleFault::StartFunction => "wasm_start_function",
        ModuleFault::Import(_) => "wasm_import",
        ModuleFault::ExportMissing(_) => "wasm_export_missing",
        ModuleFault::InitialMemory => "wasm_initial_memory_over_limit",
        ModuleFault::NotInstantiable(_) => "wasm_not_instantiable",
    }
}

/// Frames of calls in a module; deeper is a trap.
const RECURSION_MAX: usize = 1000;

/// Bytes of values of all frames; more is a trap.
const STACK_BYTES_MAX: usize = 1 << 20;

/// Elements of a table.
const TABLE_MAX: usize = 10_000;

/// What `run` returns to say that the payload is unfit.
const REFUSED: i64 = -1;

/// A loaded module.
#[derive(Debug)]
pub(super) struct Module {
    module: wasmi::Module,
    digest: Digest,
    limits: WasmLimits,
}

/// One instance with the exports that every module has.
struct Running {
    store: Store<StoreLimits>,
    memory: Memory,
    alloc: TypedFunc<i32, i32>,
    run: TypedFunc<(i32, i32), i64>,
}

/// The rules. What is allowed beyond them only tells refusals apart.
#[derive(Clone, Copy, Default)]
struct Allowed {
    floats: bool,
    start: bool,
}

fn engine(allowed: Allowed) -> Engine {
    let mut config = Config::default();
    config
        .floats(allowed.floats)
        .wasm_saturating_float_to_int(allowed.floats)
        .allow_start_fn(allowed.start)
        .wasm_multi_memory(false)
        .wasm_tail_call(false)
        .consume_fuel(true)
        // Translation on the first call would take its fuel from that call.
        .compilation_mode(CompilationMode::Eager)
        .ignore_custom_sections(true)
        .set_max_recursion_depth(RECURSION_MAX)
        .set_max_stack_height(STACK_BYTES_MAX);
    Engine::new(&config)
}

/// The whole module is validated before any of it is translated: the translator of wasmi 2.0.0 asks for the fuel of an
/// operator before that operator is validated, and panics when one stands behind the end of its function.
fn translated(bytes: &[u8], allowed: Allowed) -> Result<wasmi::Module, wasmi::Error> {
    let engine = engine(allowed);
    wasmi::Module::validate(&engine, bytes)?;
    wasmi::Module::new(&engine, bytes)
}

/// Why a module was refused: the first rule without which it would not be. The interpreter has no codes for it.
fn refusal(bytes: &[u8]) -> ModuleFault {
    let start = Allowed { start: true, ..Allowed::default() };
    match (translated(bytes, start), translated(bytes, Allowed { floats: true, ..start })) {
        (Ok(_), _) => ModuleFault::StartFunction,
        (_, Ok(_)) => ModuleFault::Float,
        (_, Err(error)) => ModuleFault::NotModule(error.to_string()),
    }
}

impl Module {
    /// Checks a module by the rules and instantiates it once.
    pub(super) fn load(bytes: &[u8], limits: WasmLimits) -> Result<Module, ModuleFault> {
        if bytes.len() > limits.module_bytes {
            return Err(ModuleFault::ModuleTooLarge(limits.module_bytes));
        }
        let module = translated(bytes, Allowed::default()).map_err(|_| refusal(bytes))?;
        if let Some(import) = module.imports().next() {
            return Err(ModuleFault::Import(format!("{}.{}", import.module(), import.name())));
        }
        let module = Module { module, digest: Digest::of(bytes), limits };
        module.instance().map(|_| module)
    }

    /// SHA-256 of its bytes.
    pub(super) fn digest(&self) -> Digest {
        self.digest
    }

    fn instance(&self) -> Result<Running, ModuleFault> {
        let limits = StoreLimitsBuilder::new()
            .memory_size(self.limits.memory_bytes)
            .memories(1)
            .tables(16)
            .table_elements(TABLE_MAX)
            .trap_on_grow_failure(true)
            .build();
        let engine = self.module.engine();
        let mut store = Store::new(engine, limits);
        store.limiter(|limits| limits);
        store.set_fuel(self.limits.fuel).map_err(|error| ModuleFault::NotInstantiable(error.to_string()))?;
        // There is no import to resolve and no start function to run.
        let instance = Instance::new(&mut store, &self.module, &[]).map_err(|error| not_instance(&error))?;
        exports(store, &instance)
    }

    /// Runs the skill. The payload goes in as canonical JSON, the output comes back as strict JSON without floats.
    pub(super) fn run(&self, manifest: &Manifest, payload: &Object) -> Result<Value, Failed> {
        let missing = |name: &&str| payload.get(name).is_none();
        let required = manifest.arguments.iter().filter(|argument| argument.required);
        if let Some(name) = required.map(|argument| argument.name.as_str()).find(missing) {
            return Err(Failed::new(Fault::ArgumentMissing, name));
        }
        let payload = canon::canonical_part(payload, |_| true);
        // Loading has made such an instance already.
        let running = self.instance().map_err(|fault| Failed::new(Fault::ModuleTrapped, fault.code()))?;
        let output = running.call(&payload, self.limits.output_bytes)?;
        read(&output)
    }
}

fn not_instance(error: &wasmi::Error) -> ModuleFault {
    use wasmi::errors::{ErrorKind, InstantiationError};
    match error.kind() {
        ErrorKind::Instantiation(InstantiationError::FailedToInstantiateMemory(_)) => {
            ModuleFault::InitialMemory
        }
        _ => ModuleFault::NotInstantiable(error.to_string()),
    }
}

fn exports(store: Store<StoreLimits>, instance: &Instance) -> Result<Running, ModuleFault> {
    let missing = |name| move |_| ModuleFault::ExportMissing(name);
    let memory = instance.get_memory(&store, "memory").ok_or(ModuleFault::ExportMissing("memory"))?;
    let alloc = instance.get_typed_func(&store, "alloc").map_err(missing("alloc"))?;
    let run = instance.get_typed_func(&store, "run").map_err(missing("run"))?;
    Ok(Running { store, memory, alloc, run })
}

impl Running {
    fn call(mut self, payload: &[u8], output_max: usize) -> Result<Vec<u8>, Failed> {
        let outside = || Failed::new(Fault::BadPointer, "alloc gave a place outside the memory");
        let length =
            i32::try_from(payload.len()).map_err(|_| Failed::new(Fault::ArgumentTooLarge, "the payload"))?;
        let place = self.alloc.call(&mut self.store, length).map_err(|error| stopped(&error))?;
        let start = place.cast_unsigned() as usize;
        self.memory.write(&mut self.store, start, payload).map_err(|_| outside())?;
        let packed = self.run.call(&mut self.store, (place, length)).map_err(|error| stopped(&error))?;
        if packed == REFUSED {
            return Err(Failed::new(Fault::ModuleRefused, "run gave -1"));
        }
        let (start, length) = ((packed.cast_unsigned() >> 32) as usize, packed as u32 as usize);
        if length > output_max {
            return Err(Failed::new(Fault::OutputTooLarge, format!("{length} bytes, not {output_max}")));
        }
        let output = self.memory.data(&self.store).get(start..start.saturating_add(length));
        let outside = || Failed::new(Fault::BadPointer, "run gave an output outside the memory");
        output.map(<[u8]>::to_vec).ok_or_else(outside)
    }
}

/// The fault of a call that did not return.
fn stopped(error: &wasmi::Error) -> Failed {
    match error.as_trap_code() {
        Some(TrapCode::OutOfFuel) => Failed::new(Fault::OutOfFuel, "the fuel of one call is used up"),
        Some(TrapCode::GrowthOperationLimited | TrapCode::OutOfSystemMemory) => {
            Failed::new(Fault::MemoryOverLimit, "the module asked for more memory")
        }
        Some(trap) => Failed::new(Fault::ModuleTrapped, trap.trap_message()),
        None => Failed::new(Fault::ModuleTrapped, "the call did not return"),
    }
}

fn read(output: &[u8]) -> Result<Value, Failed> {
    let limits = Limits { bytes_max: output.len(), ..Limits::default() };
    let value = Reader::strict().with_limits(limits).read(output).map_err(|error| {
        let fault =
            if error.fault == ReadFault::NotUtf8 { Fault::OutputNotUtf8 } else { Fault::OutputNotJson };
        Failed::new(fault, format!("{} at byte {}", error.fault.code(), error.offset))
    })?;
    match canon::lint_no_floats(&value) {
        Ok(()) => Ok(value),
        Err(float) => Err(Failed::new(Fault::OutputFloat, float.path)),
    }
}

//! Skills: a manifest and a pure function (K-4).

mod builtin;
mod decimal;
mod manifest;
mod payload;
#[cfg(test)]
mod tests;
mod wasm;
#[cfg(test)]
mod wasm_tests;

pub use manifest::{ManifestError, ManifestFault};
pub use wasm::{ModuleFault, WasmLimits};

use canon::{Digest, Object, Value};

/// What a skill says about itself. The router reads `name`, `description` and `triggers`, nothing else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Manifest {
    /// `family.verb`, unique among the skills of a kernel.
    pub name: String,
    /// Version of its behaviour; a change of any output raises it.
    pub version: u32,
    /// What it does, in the words that somebody who needs it would use.
    pub description: String,
    /// Phrases that mean this skill and no other; matched whole, on normalised text.
    pub triggers: Vec<String>,
    /// Lowest permission of an envelope that may use it, 0 to 3.
    pub permission: u8,
    /// Members of the payload that it reads.
    pub arguments: Vec<Argument>,
    /// Payloads and what the skill makes of them; each is a test.
    pub examples: Vec<Example>,
}

/// One member of the payload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Argument {
    /// Name of the member.
    pub name: String,
    /// What it holds, with unit and range.
    pub meaning: String,
    /// Whether the skill refuses a payload without it.
    pub required: bool,
}

/// A payload and its output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Example {
    /// The payload.
    pub payload: Object,
    /// The output.
    pub output: Value,
}

canon::codes! {
    /// Why a skill gave no output. Each is the reason of a verdict, never a crash.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Fault {
        /// A member of the payload that the skill needs is not there.
        ArgumentMissing = "struct_argument_missing",
        /// A member of the payload has the wrong type or is outside its range.
        ArgumentUnfit = "struct_argument_unfit",
        /// A member of the payload is larger than the skill takes.
        ArgumentTooLarge = "size_argument_over_limit",
        /// The work that the payload asks for is over the limit of the skill.
        WorkTooLarge = "size_work_over_limit",
        /// The output would be larger than a skill may give.
        OutputTooLarge = "size_output_over_limit",
        /// An exact number of the calculation does not fit in 128 bits.
        Overflow = "skill_number_overflow",
        /// A number is written with digits that a binary64 does not keep.
        Inexact = "skill_number_inexact",
        /// The measure is not defined for these numbers, such as a mean of none.
        Undefined = "skill_undefined",
        /// The text is not strict JSON.
        NotJson = "skill_not_json",
        /// The pointer leads to nothing.
        PathAbsent = "skill_path_absent",
        /// The schema uses a keyword outside the documented subset.
        SchemaUnsupported = "skill_schema_unsupported",
        /// The text is not a CSV table.
        NotCsv = "skill_not_csv",
        /// The table has no column of that name.
        ColumnAbsent = "skill_column_absent",
        /// A cell that is to be added up is not a number.
        CellNotNumber = "skill_cell_not_number",
        /// The text is not in the encoding that it is said to be in.
        NotEncoded = "skill_not_encoded",
        /// The decoded bytes are not UTF-8.
        NotUtf8 = "skill_not_utf8",
        /// The text is not a date or time of RFC 3339.
        NotDate = "skill_not_a_date",
        /// The date lies outside the years 1 to 9999.
        DateOutOfRange = "skill_date_out_of_range",
        /// The text is not a unified diff.
        NotPatch = "skill_not_a_patch",
        /// The patch does not fit the text.
        PatchMismatch = "skill_patch_mismatch",
        /// A module trapped: unreachable, out of bounds, division by zero, a stack that is too deep.
        ModuleTrapped = "wasm_trap",
        /// A module used up its fuel.
        OutOfFuel = "wasm_out_of_fuel",
        /// A module asked for more memory than it may have.
        MemoryOverLimit = "wasm_memory_over_limit",
        /// A module named a place outside its memory.
        BadPointer = "wasm_bad_pointer",
        /// A module says that it cannot work on this payload.
        ModuleRefused = "wasm_refused",
        /// The output of a module is not UTF-8.
        OutputNotUtf8 = "wasm_output_not_utf8",
        /// The output of a module is not strict JSON.
        OutputNotJson = "wasm_output_not_json",
        /// The output of a module holds a float.
        OutputFloat = "wasm_output_float",
    }
}

/// A skill that gave no output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failed {
    /// The reason code.
    pub fault: Fault,
    /// Which argument, or what happened; no time, no address.
    pub detail: String,
}

impl Failed {
    fn new(fault: Fault, detail: impl Into<String>) -> Failed {
        Failed { fault, detail: detail.into() }
    }
}

/// The skills of a kernel, in the order of their names.
#[derive(Debug, Default)]
pub struct Skills {
    entries: Vec<Entry>,
}

#[derive(Debug)]
struct Entry {
    manifest: Manifest,
    body: Body,
}

#[derive(Debug)]
enum Body {
    Builtin(builtin::Function),
    Module(Box<wasm::Module>),
}

impl Skills {
    /// Every skill that comes with the kernel.
    pub fn builtin() -> Skills {
        let mut entries = builtin::all();
        entries.sort_by(|a, b| a.manifest.name.cmp(&b.manifest.name));
        Skills { entries }
    }

    /// Adds a skill that is a WebAssembly module; `docs/kernel-skills.md` says what it exports. The positions of the
    /// skills behind it in the order of names move by one.
    ///
    /// # Errors
    /// A module that breaks a rule is refused as a whole, before any payload.
    pub fn add_wasm(
        &mut self,
        manifest: Manifest,
        module: &[u8],
        limits: WasmLimits,
    ) -> Result<(), ModuleFault> {
        for known in self.manifests() {
            if known.name == manifest.name {
                return Err(ModuleFault::NameTaken(manifest.name));
            }
            if let Some(trigger) = manifest.triggers.iter().find(|trigger| known.triggers.contains(trigger)) {
                return Err(ModuleFault::TriggerTaken(trigger.clone()));
            }
        }
        let body = Body::Module(Box::new(wasm::Module::load(module, limits)?));
        let place = self.entries.partition_point(|entry| entry.manifest.name < manifest.name);
        self.entries.insert(place, Entry { manifest, body });
        Ok(())
    }

    /// The manifests, in the order of their names; the position is the number that [`Skills::run`] takes.
    pub fn manifests(&self) -> impl ExactSizeIterator<Item = &Manifest> {
        self.entries.iter().map(|entry| &entry.manifest)
    }

    /// SHA-256 of the module of the skill at `index`; nothing for a built-in one, or when there is no skill there.
    pub fn module(&self, index: usize) -> Option<Digest> {
        match &self.entries.get(index)?.body {
            Body::Builtin(_) => None,
            Body::Module(module) => Some(module.digest()),
        }
    }

    /// Runs the skill at `index` on a payload. Outputs hold no floats: a number that is not an integer is a string.
    ///
    /// # Errors
    /// A [`Failed`] with the reason code; the same payload always gives the same one.
    ///
    /// # Panics
    /// When there is no skill at `index`.
    pub fn run(&self, index: usize, payload: &Object) -> Result<Value, Failed> {
        match &self.entries[index].body {
            Body::Builtin(function) => function(payload),
            Body::Module(module) => module.run(&self.entries[index].manifest, payload),
        }
    }
}

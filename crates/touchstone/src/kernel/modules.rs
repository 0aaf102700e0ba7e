//! Skills that are WebAssembly modules, from folders.

use ::kernel::skill::{Manifest, ManifestFault, ModuleFault, Skills, WasmLimits};
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

/// Longest manifest that is read, in bytes: one more than the kernel takes, so that the kernel refuses it.
const MANIFEST_BYTES_MAX: u64 = (256 << 10) + 1;

#[derive(clap::Args)]
pub(super) struct Modules {
    /// Add the skill of this folder, manifest.toml and module.wasm (docs/kernel-skills.md); may be repeated.
    #[arg(long = "skill", value_name = "DIR")]
    folders: Vec<PathBuf>,
    /// Fuel of one call of a module, about one unit an operator [default: 50000000].
    #[arg(long, value_name = "N", requires = "folders", value_parser = clap::value_parser!(u64).range(1..))]
    fuel: Option<u64>,
    /// Memory that a module may have, in MiB, 1 to 4096 [default: 16].
    #[arg(long, value_name = "N", requires = "folders", value_parser = clap::value_parser!(u64).range(1..=4096))]
    memory_mib: Option<u64>,
}

impl Modules {
    /// The built-in skills and those of the folders.
    ///
    /// # Errors
    /// A line that names the file, the reason code and what is wrong.
    pub(super) fn load(&self) -> Result<Skills, String> {
        let mut skills = Skills::builtin();
        let limits = self.limits()?;
        self.folders.iter().try_for_each(|folder| add(&mut skills, folder, limits))?;
        Ok(skills)
    }

    fn limits(&self) -> Result<WasmLimits, String> {
        let mut limits = WasmLimits::default();
        limits.fuel = self.fuel.unwrap_or(limits.fuel);
        if let Some(mib) = self.memory_mib {
            limits.memory_bytes =
                usize::try_from(mib << 20).map_err(|error| format!("--memory-mib: {error}"))?;
        }
        Ok(limits)
    }
}

fn add(skills: &mut Skills, folder: &Path, limits: WasmLimits) -> Result<(), String> {
    let path = folder.join("manifest.toml");
    let unreadable = |why: String| refusal(&path, ManifestFault::NotManifest.code(), &why);
    let text = read(&path, MANIFEST_BYTES_MAX).map_err(|error| unreadable(error.to_string()))?;
    let text = String::from_utf8(text).map_err(|error| unreadable(error.to_string()))?;
    let manifest =
        Manifest::from_toml(&text).map_err(|error| refusal(&path, error.fault.code(), &error.detail))?;
    let path = folder.join("module.wasm");
    let refused = |fault: &ModuleFault| refusal(&path, fault.code(), &detail(fault));
    let module = read(&path, limits.module_bytes as u64 + 1)
        .map_err(|error| refused(&ModuleFault::NotModule(error.to_string())))?;
    skills.add_wasm(manifest, &module, limits).map_err(|fault| refused(&fault))
}

/// At most `most` bytes: what is longer is refused by its length.
fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// What somebody else wrote is shown with its control characters escaped.
fn refusal(path: &Path, code: &str, detail: &str) -> String {
    let place = canon::shown(path.as_os_str().as_encoded_bytes());
    match detail {
        "" => format!("{place}: {code}"),
        detail => format!("{place}: {code}: {}", canon::shown(detail.as_bytes())),
    }
}

fn detail(fault: &ModuleFault) -> String {
    match fault {
        ModuleFault::NameTaken(text)
        | ModuleFault::TriggerTaken(text)
        | ModuleFault::NotModule(text)
        | ModuleFault::Import(text)
        | ModuleFault::NotInstantiable(text) => text.clone(),
        ModuleFault::ModuleTooLarge(most) => format!("more than {most} bytes"),
        ModuleFault::ExportMissing(name) => (*name).to_owned(),
        ModuleFault::Float | ModuleFault::StartFunction | ModuleFault::InitialMemory => String::new(),
    }
}

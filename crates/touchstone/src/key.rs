//! `touchstone key`: making and showing keys (desk specification section 3).

use crate::{exit, output};
use canon::{Object, Value};
use desk::keydir::{self, KeyError};
use std::path::PathBuf;
use zeroize::Zeroizing;

/// Make and show signing keys.
///
/// Example: touchstone key new ~/.touchstone/keys/desk
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(clap::Subcommand)]
enum Verb {
    /// Make a key in a new folder, readable by you alone.
    New(Folder),
    /// Show the public key and id of a key folder, derived from the private key.
    Show(Folder),
}

#[derive(clap::Args)]
struct Folder {
    /// The key folder.
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// File whose first line is the passphrase of the key file [default: the file is not encrypted].
    #[arg(long, value_name = "FILE")]
    passphrase_file: Option<PathBuf>,
    /// The answer as one JSON object.
    #[arg(long)]
    json: bool,
}

/// Runs the verb and returns its exit code.
pub(crate) fn run(args: &Args) -> u8 {
    let (Verb::New(folder) | Verb::Show(folder)) = &args.verb;
    let passphrase = match passphrase(folder) {
        Ok(passphrase) => passphrase,
        Err(message) => return output::usage(&message),
    };
    let passphrase = passphrase.as_ref().map(|text| text.as_bytes());
    let identity = match &args.verb {
        Verb::New(_) => keydir::create(&folder.folder, passphrase),
        Verb::Show(_) => keydir::load(&folder.folder, passphrase),
    };
    match identity {
        Ok(identity) => {
            let key = identity.public();
            if folder.json {
                let object = Object::new().with("pub_hex", key.to_hex()).with("vacant_id", key.id().as_str());
                output::line(&String::from_utf8_lossy(&canon::canonical(&Value::Object(object))));
            } else {
                output::line(&format!("id   {}\nkey  {}", key.id(), key.to_hex()));
            }
            exit::OK
        }
        Err(error) => {
            let mut said = format!("{}: {error}", folder.folder.display());
            if let KeyError::Pem(error) = &error {
                said += sentence(error.code());
            }
            output::usage(&said);
            exit::FAILED
        }
    }
}

/// What to do about it, where the code alone does not say.
fn sentence(code: &str) -> &'static str {
    match code {
        "key_passphrase_needed" => ": the key file is encrypted; give --passphrase-file FILE",
        "key_cannot_decrypt" => ": wrong passphrase, or the key file is damaged",
        _ => "",
    }
}

fn passphrase(folder: &Folder) -> Result<Option<Zeroizing<String>>, String> {
    let Some(file) = &folder.passphrase_file else { return Ok(None) };
    let text = std::fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
    let text = Zeroizing::new(text);
    match text.lines().next() {
        Some(line) if !line.is_empty() => Ok(Some(Zeroizing::new(line.to_owned()))),
        _ => Err(format!("{}: the first line is empty", file.display())),
    }
}

//! Consent on a chain: granted, withdrawn, erased (section 22).
//!
//! A chain cannot forget, so nothing that describes a person is written on it: a grant holds a commitment, and what the
//! commitment hides is made unguessable for ever by erasing the nonce.

mod audit;
mod plaintext;

pub use audit::{Audit, Problem, Problems, State, Subject, audit, audit_chain};
pub use plaintext::{Leak, plaintext};

use crate::signed::{self, is_token};
use canon::{Digest, Object, Value};
use std::collections::BTreeSet;

/// Entry types.
pub const GRANT: &str = "CONSENT_GRANT";
/// Entry type of a withdrawal.
pub const WITHDRAW: &str = "CONSENT_WITHDRAW";
/// Entry type of an erasure.
pub const ERASED: &str = "PERSONA_ERASED";

canon::codes! {
    /// Why a consent entry cannot be made.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum ConsentError {
        /// A reference, a scope or a reason is no word that may stand on a chain.
        Word = "consent_word",
        /// The commitment is not 64 lowercase hex digits.
        Commitment = "consent_commitment",
        /// A field that consent cannot be given for.
        Field = "consent_field",
        /// Nothing was erased.
        ErasedNothing = "consent_erased_nothing",
        /// The nonce is not among what was erased: with it the commitment can be guessed.
        NonceNotErased = "consent_nonce_not_erased",
        /// Something was erased twice.
        ErasedTwice = "consent_erased_twice",
        /// A text of the person, or the nonce, would stand on the chain.
        Plaintext = "consent_plaintext",
    }
}

/// What consent can be given for.
const FIELDS: [&str; 4] = ["domains", "needs", "style", "topics"];

/// A person allows that something about them is used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    subject_ref: String,
    commitment: Digest,
    fields: BTreeSet<String>,
    scope: String,
    nonce_ref: String,
}

fn word(text: &str) -> Result<String, ConsentError> {
    if is_token(text) { Ok(text.to_owned()) } else { Err(ConsentError::Word) }
}

impl Grant {
    /// A grant. `commitment` is that of the persona with the nonce that lies at `nonce_ref` (2.2).
    pub fn new(
        subject_ref: &str,
        commitment: &str,
        fields: &[&str],
        scope: &str,
        nonce_ref: &str,
    ) -> Result<Grant, ConsentError> {
        let subject_ref = word(subject_ref)?;
        let commitment = Digest::parse(commitment).map_err(|_| ConsentError::Commitment)?;
        if !fields.iter().all(|field| FIELDS.contains(field)) {
            return Err(ConsentError::Field);
        }
        let fields = fields.iter().map(|field| (*field).to_owned()).collect();
        Ok(Grant { subject_ref, commitment, fields, scope: word(scope)?, nonce_ref: word(nonce_ref)? })
    }

    /// The payload of an entry of type [`GRANT`].
    pub fn payload(&self) -> Value {
        let fields: Vec<Value> = self.fields.iter().map(|field| field.as_str().into()).collect();
        Object::new()
            .with("v", 1_i64)
            .with("subject_ref", self.subject_ref.as_str())
            .with("commitment", self.commitment)
            .with("fields", fields)
            .with("scope", self.scope.as_str())
            .with("nonce_ref", self.nonce_ref.as_str())
            .into()
    }

    fn read(payload: &Value) -> Option<Grant> {
        let members = ["v", "subject_ref", "commitment", "fields", "scope", "nonce_ref"];
        let object = versioned(payload, &members)?;
        let fields: Vec<&str> =
            object.get("fields")?.as_array()?.iter().map(Value::as_str).collect::<Option<_>>()?;
        let text = |member| signed::text(object, member);
        // Sorted and without repetition: one grant has one spelling.
        let sorted = fields.windows(2).all(|pair| pair[0] < pair[1]);
        let grant = Grant::new(
            text("subject_ref")?,
            text("commitment")?,
            &fields,
            text("scope")?,
            text("nonce_ref")?,
        );
        grant.ok().filter(|_| sorted)
    }
}

/// A person takes consent back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Withdrawal {
    subject_ref: String,
    grant_hash: Digest,
    reason: String,
}

impl Withdrawal {
    /// A withdrawal of the grant whose entry hash is `grant_hash`.
    pub fn new(subject_ref: &str, grant_hash: Digest, reason: &str) -> Result<Withdrawal, ConsentError> {
        Ok(Withdrawal { subject_ref: word(subject_ref)?, grant_hash, reason: word(reason)? })
    }

    /// The payload of an entry of type [`WITHDRAW`].
    pub fn payload(&self) -> Value {
        Object::new()
            .with("v", 1_i64)
            .with("subject_ref", self.subject_ref.as_str())
            .with("grant_hash", self.grant_hash)
            .with("reason", self.reason.as_str())
            .into()
    }

    fn read(payload: &Value) -> Option<Withdrawal> {
        let object = versioned(payload, &["v", "subject_ref", "grant_hash", "reason"])?;
        let text = |member| signed::text(object, member);
        Withdrawal::new(text("subject_ref")?, signed::digest(object, "grant_hash")?, text("reason")?).ok()
    }
}

/// A file that was erased: what it was, so that a copy that turns up can be recognised.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ErasedFile {
    /// Where it lay.
    pub reference: String,
    /// Its digest.
    pub sha256: Digest,
    /// Its length in bytes.
    pub bytes_n: u64,
}

/// What described a person is gone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Erasure {
    subject_ref: String,
    withdraw_hash: Digest,
    nonce_ref: String,
    erased: Vec<ErasedFile>,
}

impl Erasure {
    /// An erasure after the withdrawal whose entry hash is `withdraw_hash`.
    pub fn new(
        subject_ref: &str,
        withdraw_hash: Digest,
        nonce_ref: &str,
        mut erased: Vec<ErasedFile>,
    ) -> Result<Erasure, ConsentError> {
        let (subject_ref, nonce_ref) = (word(subject_ref)?, word(nonce_ref)?);
        if erased.is_empty() {
            return Err(ConsentError::ErasedNothing);
        }
        if !erased.iter().all(|file| is_token(&file.reference)) {
            return Err(ConsentError::Word);
        }
        erased.sort();
        if erased.windows(2).any(|pair| pair[0].reference == pair[1].reference) {
            return Err(ConsentError::ErasedTwice);
        }
        if !erased.iter().any(|file| file.reference == nonce_ref) {
            return Err(ConsentError::NonceNotErased);
        }
        Ok(Erasure { subject_ref, withdraw_hash, nonce_ref, erased })
    }

    /// The payload of an entry of type [`ERASED`].
    pub fn payload(&self) -> Value {
        let file = |file: &ErasedFile| {
            let entry = Object::new().with("ref", file.reference.as_str()).with("sha256", file.sha256);
            Value::Object(entry.with("bytes_n", file.bytes_n))
        };
        let erased: Vec<Value> = self.erased.iter().map(file).collect();
        Object::new()
            .with("v", 1_i64)
            .with("subject_ref", self.subject_ref.as_str())
            .with("withdraw_hash", self.withdraw_hash)
            .with("nonce_ref", self.nonce_ref.as_str())
            .with("erased", erased)
            .into()
    }

    fn read(payload: &Value) -> Option<Erasure> {
        let object = versioned(payload, &["v", "subject_ref", "withdraw_hash", "nonce_ref", "erased"])?;
        let file = |file: &Value| {
            let file = file.as_object().filter(|file| signed::exact(file, &["ref", "sha256", "bytes_n"]))?;
            let reference = signed::text(file, "ref")?.to_owned();
            let bytes_n = signed::count(file, "bytes_n")?;
            Some(ErasedFile { reference, sha256: signed::digest(file, "sha256")?, bytes_n })
        };
        let files = object.get("erased")?.as_array()?.iter().map(file).collect::<Option<Vec<_>>>()?;
        let text = |member| signed::text(object, member);
        let withdraw_hash = signed::digest(object, "withdraw_hash")?;
        let erasure = Erasure::new(text("subject_ref")?, withdraw_hash, text("nonce_ref")?, files.clone());
        erasure.ok().filter(|erasure| erasure.erased == files)
    }
}

fn versioned<'a>(payload: &'a Value, members: &[&str]) -> Option<&'a Object> {
    let object = payload.as_object().filter(|object| signed::exact(object, members))?;
    (signed::integer(object, "v") == Some(1)).then_some(object)
}

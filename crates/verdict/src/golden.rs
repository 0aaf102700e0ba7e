//! Golden values: hashes that were frozen in review (section 1, L-1, ruling 25).

use canon::{Digest, Object, ReadError, Reader, Value, canonical};
use std::collections::BTreeMap;

/// The specification that a golden file is about.
pub const SPEC: &str = "DIFF=0 v0.1";

/// One frozen hash.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    /// Which task.
    pub case: String,
    /// Class of the machine that it was frozen on, `arch-os`.
    pub host: String,
    /// The whole digest.
    pub digest: Digest,
}

/// A golden file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Golden {
    /// Digest of the field table under which the hashes were made.
    pub table: Digest,
    /// Sorted by case and host, each pair once.
    pub entries: Vec<Entry>,
}

canon::codes! {
    /// Why a golden file is refused.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum GoldenFault {
        /// Not an object with exactly the members of version 1.
        Shape = "golden_shape",
        /// Another version or another specification.
        Version = "golden_version",
        /// `repro_hash` is not the beginning of `repro_digest`.
        HashDigest = "golden_hash_is_not_digest",
        /// One case twice for one host class.
        Twice = "golden_case_twice",
        /// No entry: nothing could be hit.
        Empty = "golden_empty",
        /// Two runs of one case differ, so there is nothing to freeze.
        Unstable = "golden_unstable",
        /// Made under another field table.
        OtherTable = "golden_other_table",
    }
}

/// Why a golden file cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GoldenError {
    /// It is no strict JSON.
    Read(ReadError),
    /// It is, and says something wrong; the place.
    Fault(GoldenFault, String),
}

impl Golden {
    /// Reads a golden file.
    ///
    /// # Errors
    /// A [`GoldenError`]; a golden file is never repaired.
    pub fn parse(bytes: &[u8]) -> Result<Golden, GoldenError> {
        let fault = |fault, place: &str| GoldenError::Fault(fault, place.to_owned());
        let value = Reader::strict().read(bytes).map_err(GoldenError::Read)?;
        let shape = |place: &str| fault(GoldenFault::Shape, place);
        let file =
            members(&value, &["version", "spec", "table_sha256", "entries"]).ok_or_else(|| shape("$"))?;
        if file.get("version").and_then(Value::as_i64) != Some(1) || text(file, "spec") != Some(SPEC) {
            return Err(fault(GoldenFault::Version, "version"));
        }
        let table = digest(file, "table_sha256").ok_or_else(|| shape("table_sha256"))?;
        let mut entries = Vec::new();
        for (index, entry) in
            file.get("entries").and_then(Value::as_array).unwrap_or_default().iter().enumerate()
        {
            let place = format!("entries[{index}]");
            entries.push(read_entry(entry).map_err(|kind| fault(kind, &place))?);
        }
        entries.sort();
        if entries.is_empty() {
            return Err(fault(GoldenFault::Empty, "entries"));
        }
        let same = |pair: &[Entry]| (&pair[0].case, &pair[0].host) == (&pair[1].case, &pair[1].host);
        match entries.windows(2).find(|pair| same(pair)) {
            Some(pair) => Err(fault(GoldenFault::Twice, &pair[0].case)),
            None => Ok(Golden { table, entries }),
        }
    }

    /// The file, one entry a line, so that a review sees what changed.
    pub fn to_bytes(&self) -> Vec<u8> {
        let line = |entry: &Entry| {
            let hex = entry.digest.to_hex();
            let object = Object::new()
                .with("case", entry.case.as_str())
                .with("host", entry.host.as_str())
                .with("repro_digest", hex.as_str())
                .with("repro_hash", &hex[..16]);
            format!("    {}", String::from_utf8_lossy(&canonical(&object.into())))
        };
        let entries: Vec<String> = self.entries.iter().map(line).collect();
        format!(
            "{{\n  \"version\": 1,\n  \"spec\": \"{SPEC}\",\n  \"table_sha256\": \"{}\",\n  \"entries\": [\n{}\n  ]\n}}\n",
            self.table,
            entries.join(",\n")
        )
        .into_bytes()
    }

    /// Adds entries, or replaces those of the same case and host class.
    pub fn set(&mut self, entries: impl IntoIterator<Item = Entry>) {
        let all = self.entries.drain(..).chain(entries);
        let by_key: BTreeMap<(String, String), Entry> =
            all.map(|entry| ((entry.case.clone(), entry.host.clone()), entry)).collect();
        self.entries = by_key.into_values().collect();
    }

    /// Only the entries of one case.
    pub fn keep(&mut self, case: &str) {
        self.entries.retain(|entry| entry.case == case);
    }

    /// What the file says about a hash that was made on `host`.
    pub fn look_up(&self, case: &str, host: &str, digest: Digest) -> Hit {
        let of_case: Vec<&Entry> = self.entries.iter().filter(|entry| entry.case == case).collect();
        let elsewhere_differs = of_case.iter().any(|entry| entry.host != host && entry.digest != digest);
        match of_case.iter().find(|entry| entry.host == host) {
            Some(here) if here.digest != digest => Hit::Missed(here.digest),
            _ if elsewhere_differs => Hit::OtherHost,
            _ if of_case.is_empty() => Hit::Absent,
            _ => Hit::Hit,
        }
    }
}

/// Whether a golden value was hit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hit {
    /// It was, on every host class that has one.
    Hit,
    /// There is none for this case.
    Absent,
    /// The value of this host class is another one.
    Missed(Digest),
    /// It is not the value of another host class (L-1).
    OtherHost,
}

fn read_entry(value: &Value) -> Result<Entry, GoldenFault> {
    let entry = members(value, &["case", "host", "repro_digest", "repro_hash"]).ok_or(GoldenFault::Shape)?;
    let (Some(case), Some(host), Some(hash)) =
        (text(entry, "case"), text(entry, "host"), text(entry, "repro_hash"))
    else {
        return Err(GoldenFault::Shape);
    };
    let digest = digest(entry, "repro_digest").ok_or(GoldenFault::Shape)?;
    if hash.len() != 16 || !digest.to_hex().starts_with(hash) {
        return Err(GoldenFault::HashDigest);
    }
    Ok(Entry { case: case.to_owned(), host: host.to_owned(), digest })
}

/// An object with exactly these members.
fn members<'v>(value: &'v Value, names: &[&str]) -> Option<&'v Object> {
    let object = value.as_object()?;
    (object.len() == names.len() && names.iter().all(|name| object.get(name).is_some())).then_some(object)
}

fn text<'v>(object: &'v Object, name: &str) -> Option<&'v str> {
    object.get(name)?.as_str()
}

fn digest(object: &Object, name: &str) -> Option<Digest> {
    Digest::parse(text(object, name)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn golden() -> Golden {
        let entry = |case: &str, host: &str, content: &[u8]| Entry {
            case: case.into(),
            host: host.into(),
            digest: Digest::of(content),
        };
        let entries = vec![
            entry("a", "aarch64-linux", b"1"),
            entry("a", "x86_64-linux", b"1"),
            entry("b", "x86_64-linux", b"2"),
        ];
        Golden { table: Digest::of(b"table"), entries }
    }

    #[test]
    fn written_and_read_it_is_the_same() {
        assert_eq!(Golden::parse(&golden().to_bytes()).unwrap(), golden());
    }

    #[test]
    fn hits_and_misses() {
        let (one, two) = (Digest::of(b"1"), Digest::of(b"2"));
        let hit = |case: &str, host: &str, digest| golden().look_up(case, host, digest);
        assert_eq!(hit("a", "x86_64-linux", one), Hit::Hit);
        assert_eq!(hit("a", "x86_64-linux", two), Hit::Missed(one));
        assert_eq!(hit("a", "riscv64-linux", one), Hit::Hit);
        assert_eq!(hit("a", "riscv64-linux", two), Hit::OtherHost);
        assert_eq!(hit("c", "x86_64-linux", one), Hit::Absent);
        let mut split = golden();
        split.set([Entry { case: "a".into(), host: "aarch64-linux".into(), digest: two }]);
        assert_eq!(
            split.look_up("a", "x86_64-linux", one),
            Hit::OtherHost,
            "matches here, fails there (L-1)"
        );
    }

    #[test]
    fn files_that_are_refused() {
        let good = String::from_utf8(golden().to_bytes()).unwrap();
        let one = Digest::of(b"1").to_hex();
        for (from, to, code) in [
            ("\"version\": 1", "\"version\": 2", "golden_version"),
            ("DIFF=0 v0.1", "DIFF=1", "golden_version"),
            ("\"spec\"", "\"speck\"", "golden_shape"),
            (&one[..16], "0000000000000000", "golden_hash_is_not_digest"),
            ("aarch64-linux", "x86_64-linux", "golden_case_twice"),
        ] {
            let bad = good.replacen(from, to, 1);
            let found = match Golden::parse(bad.as_bytes()) {
                Err(GoldenError::Fault(fault, _)) => fault.code(),
                other => panic!("{bad}: {other:?}"),
            };
            assert_eq!(found, code, "{bad}");
        }
        let empty =
            format!("{{\"version\":1,\"spec\":\"{SPEC}\",\"table_sha256\":\"{one}\",\"entries\":[]}}");
        assert!(matches!(Golden::parse(empty.as_bytes()), Err(GoldenError::Fault(GoldenFault::Empty, _))));
        assert!(matches!(Golden::parse(b"{"), Err(GoldenError::Read(_))));
    }
}

//! Field tables: which fields must be equal between two runs (R1, D-3, ruling 23).

use super::decimal::SCALE_MAX;
use super::path::Pattern;
use crate::digest::Digest;
use toml::Value as Toml;

/// Physical in every table, whatever it says (R4).
pub const MINIMUM_PHYSICAL: [&str; 12] = [
    "ts",
    "timestamp",
    "elapsed",
    "duration",
    "started_at",
    "finished_at",
    "thread_order",
    "addr",
    "id_runtime",
    "pid",
    "uptime_s",
    "generated_at",
];

/// Most paths of a table, and most keys of a list rule.
const PATHS_MAX: usize = 4096;
const KEYS_MAX: usize = 16;

/// Fractional digits where the table says nothing.
const SCALE_DEFAULT: u32 = 6;

/// What a field is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// Must be equal for equal input; a container is entered.
    Repro,
    /// Differs by nature; dropped whole, and counted.
    Physical,
    /// Somebody else's payload: its digest takes part, nothing inside is classified (D-4).
    Opaque,
}

impl Class {
    /// The word of the table.
    pub fn word(self) -> &'static str {
        match self {
            Class::Repro => "repro",
            Class::Physical => "physical",
            Class::Opaque => "opaque",
        }
    }
}

/// How a list is brought into order (D-5).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Order {
    /// By these members, then by bytes.
    Keys(Vec<String>),
    /// By bytes: the order means nothing.
    Set,
    /// As it came: the order means something.
    Sequence,
}

crate::codes! {
    /// Why a field table is refused.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum TableFault {
        /// Not TOML, or not UTF-8.
        NotToml = "table_not_toml",
        /// No `version`, or one that is no positive integer.
        Version = "table_version",
        /// A top-level entry that no table has.
        UnknownEntry = "table_unknown_entry",
        /// A path that cannot be read.
        Path = "table_path",
        /// A class other than repro, physical, opaque.
        Class = "table_class",
        /// One of the twelve fields that are always physical, registered as something else.
        MinimumPhysical = "table_minimum_physical",
        /// Two paths that fit one field equally well.
        Tie = "table_tie",
        /// A scale that is no integer from 0 to 400.
        Scale = "table_scale",
        /// A list rule without a known order, or with keys that do not go with it.
        ListRule = "table_list_rule",
        /// More than 4096 paths, or a list rule with more than 16 keys.
        TooMany = "table_too_many",
        /// No field is registered: nothing could ever be compared.
        NoFields = "table_no_fields",
    }
}

/// A refusal of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableError {
    /// The reason.
    pub fault: TableFault,
    /// The path or entry, or the parser's words.
    pub detail: String,
}

type Read<T> = Result<T, TableError>;

fn refuse<T>(fault: TableFault, detail: impl Into<String>) -> Read<T> {
    Err(TableError { fault, detail: detail.into() })
}

/// A field table.
#[derive(Clone, Debug)]
pub struct Table {
    version: u64,
    digest: Digest,
    scale: u32,
    fields: Vec<(Pattern, Class)>,
    lists: Vec<(Pattern, Order)>,
    scales: Vec<(Pattern, u32)>,
}

impl Table {
    /// Reads a table.
    ///
    /// # Errors
    /// A [`TableError`] that names the entry; a table is never repaired.
    pub fn parse(text: &str) -> Read<Table> {
        let entries: toml::Table = match text.parse() {
            Ok(entries) => entries,
            Err(error) => {
                let error: toml::de::Error = error;
                let line = error.span().map_or(1, |span| text[..span.start].matches('\n').count() + 1);
                return refuse(TableFault::NotToml, format!("line {line}: {}", error.message()));
            }
        };
        let known = ["version", "scale", "fields", "lists"];
        if let Some(name) = entries.keys().find(|name| !known.contains(&name.as_str())) {
            return refuse(TableFault::UnknownEntry, name.as_str());
        }
        let version =
            entries.get("version").and_then(Toml::as_integer).and_then(|number| number.try_into().ok());
        let Some(version) = version.filter(|version| *version > 0) else {
            return refuse(TableFault::Version, "version");
        };
        let (scale, scales) = scales(entries.get("scale"))?;
        let fields = fields(entries.get("fields"))?;
        if fields.is_empty() {
            return refuse(TableFault::NoFields, "fields");
        }
        let lists = lists(entries.get("lists"))?;
        if fields.len() + lists.len() + scales.len() > PATHS_MAX {
            return refuse(TableFault::TooMany, "paths");
        }
        no_ties(fields.iter().map(|(pattern, _)| pattern))?;
        no_ties(lists.iter().map(|(pattern, _)| pattern))?;
        no_ties(scales.iter().map(|(pattern, _)| pattern))?;
        Ok(Table { version, digest: Digest::of(text.as_bytes()), scale, fields, lists, scales })
    }

    /// The implementer's number for this table.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// Digest of the file.
    pub fn digest(&self) -> Digest {
        self.digest
    }

    /// The registered paths with their classes.
    pub fn fields(&self) -> impl ExactSizeIterator<Item = (String, Class)> {
        self.fields.iter().map(|(pattern, class)| (pattern.to_string(), *class))
    }

    /// The class of the field at `keys`; nothing when it is not registered.
    pub(crate) fn class(&self, keys: &[&str]) -> Option<Class> {
        match keys.last() {
            Some(name) if MINIMUM_PHYSICAL.contains(name) => Some(Class::Physical),
            _ => best(&self.fields, keys).copied(),
        }
    }

    /// Fractional digits of the numbers at `keys`.
    pub(crate) fn scale(&self, keys: &[&str]) -> u32 {
        best(&self.scales, keys).copied().unwrap_or(self.scale)
    }

    /// The rule of the list at `keys`.
    pub(crate) fn order(&self, keys: &[&str]) -> Option<&Order> {
        best(&self.lists, keys)
    }
}

fn best<'t, T>(rules: &'t [(Pattern, T)], keys: &[&str]) -> Option<&'t T> {
    let fits = rules.iter().filter(|(pattern, _)| pattern.matches(keys));
    fits.max_by_key(|(pattern, _)| pattern.rank()).map(|(_, rule)| rule)
}

fn path(text: &str) -> Read<Pattern> {
    Pattern::parse(text).map_or_else(|| refuse(TableFault::Path, text), Ok)
}

/// `scale = n`, or `[scale]` with `"$" = n` for the whole table.
fn scales(entry: Option<&Toml>) -> Read<(u32, Vec<(Pattern, u32)>)> {
    let read = |value: &Toml, name: &str| match value.as_integer().map(u32::try_from) {
        Some(Ok(scale)) if scale <= SCALE_MAX => Ok(scale),
        _ => refuse(TableFault::Scale, name),
    };
    match entry {
        None => Ok((SCALE_DEFAULT, Vec::new())),
        Some(Toml::Table(entries)) => {
            let mut whole = SCALE_DEFAULT;
            let mut scales = Vec::new();
            for (name, value) in entries {
                match path(name)? {
                    pattern if pattern.is_root() => whole = read(value, name)?,
                    pattern => scales.push((pattern, read(value, name)?)),
                }
            }
            Ok((whole, scales))
        }
        Some(value) => Ok((read(value, "scale")?, Vec::new())),
    }
}

/// `[fields]`; a path may also be written as nested tables, which is what unquoted dots mean in TOML.
fn fields(entry: Option<&Toml>) -> Read<Vec<(Pattern, Class)>> {
    let mut fields = Vec::new();
    match entry {
        None => {}
        Some(Toml::Table(entries)) => collect_fields(None, entries, &mut fields)?,
        Some(_) => return refuse(TableFault::Class, "fields"),
    }
    Ok(fields)
}

fn collect_fields(
    outer: Option<&Pattern>,
    entries: &toml::Table,
    fields: &mut Vec<(Pattern, Class)>,
) -> Read<()> {
    for (name, value) in entries {
        let pattern = match outer {
            None => path(name)?,
            Some(outer) => match outer.clone().join(path(name)?) {
                Some(pattern) => pattern,
                None => return refuse(TableFault::Path, name.as_str()),
            },
        };
        let class = match value {
            Toml::Table(inner) => {
                collect_fields(Some(&pattern), inner, fields)?;
                continue;
            }
            Toml::String(word) => {
                [Class::Repro, Class::Physical, Class::Opaque].into_iter().find(|class| class.word() == word)
            }
            _ => None,
        };
        let Some(class) = class.filter(|_| !pattern.is_root()) else {
            let words = "must be \"repro\", \"physical\" or \"opaque\"";
            return refuse(TableFault::Class, format!("{pattern}, which is {value} and {words}"));
        };
        let always = pattern.last_key().is_some_and(|key| MINIMUM_PHYSICAL.contains(&key));
        if always && class != Class::Physical {
            return refuse(
                TableFault::MinimumPhysical,
                format!("{pattern}, which is physical in every table"),
            );
        }
        fields.push((pattern, class));
    }
    Ok(())
}

fn lists(entry: Option<&Toml>) -> Read<Vec<(Pattern, Order)>> {
    let entries = match entry {
        None => return Ok(Vec::new()),
        Some(Toml::Table(entries)) => entries,
        Some(_) => return refuse(TableFault::ListRule, "lists"),
    };
    let rule = |(name, value): (&String, &Toml)| Ok((path(name)?, order(name, value)?));
    entries.iter().map(rule).collect()
}

fn order(name: &str, value: &Toml) -> Read<Order> {
    let words = "needs order = \"key\" with keys = [...], order = \"set\" or order = \"sequence\"";
    let bad = || refuse(TableFault::ListRule, format!("{name}, which {words}"));
    let Some(rule) = value.as_table() else { return bad() };
    if rule.keys().any(|key| key != "order" && key != "keys") {
        return bad();
    }
    let keys = match rule.get("keys") {
        None => None,
        Some(Toml::Array(keys)) => {
            keys.iter().map(|key| key.as_str().map(str::to_owned)).collect::<Option<Vec<_>>>()
        }
        Some(_) => return bad(),
    };
    match (rule.get("order").and_then(Toml::as_str), keys) {
        (Some("key"), Some(keys)) if keys.len() > KEYS_MAX => refuse(TableFault::TooMany, name),
        (Some("key"), Some(keys)) if !keys.is_empty() => Ok(Order::Keys(keys)),
        (Some("set"), None) => Ok(Order::Set),
        (Some("sequence"), None) => Ok(Order::Sequence),
        _ => bad(),
    }
}

/// Which of two equally good rules counts would be chance (ruling 23).
fn no_ties<'p>(patterns: impl Iterator<Item = &'p Pattern>) -> Read<()> {
    let patterns: Vec<&Pattern> = patterns.collect();
    for (at, pattern) in patterns.iter().enumerate() {
        if let Some(other) = patterns[..at].iter().find(|other| pattern.ties_with(other)) {
            return refuse(TableFault::Tie, format!("{other} and {pattern}"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(text: &str) -> (TableFault, String) {
        let error = Table::parse(text).expect_err(text);
        (error.fault, error.detail)
    }

    #[test]
    fn tables_that_are_refused() {
        for (text, expected, detail) in [
            ("version = ", TableFault::NotToml, "line 1"),
            ("version = 1\nversion = 1", TableFault::NotToml, "line 2"),
            ("[fields]\na = 'repro'", TableFault::Version, "version"),
            ("version = 0\n[fields]\na = 'repro'", TableFault::Version, "version"),
            ("version = 1\nfeilds = 1", TableFault::UnknownEntry, "feilds"),
            ("version = 1\n[fields]\n'a.' = 'repro'", TableFault::Path, "a."),
            ("version = 1\n[fields]\na = 'reproducible'", TableFault::Class, "a"),
            ("version = 1\n[fields]\n'$' = 'repro'", TableFault::Class, "$"),
            ("version = 1\n[fields]\nts = 'repro'", TableFault::MinimumPhysical, "ts"),
            ("version = 1\n[fields]\n'a.*.pid' = 'opaque'", TableFault::MinimumPhysical, "a.*.pid"),
            ("version = 1\n[fields]\n'a.*' = 'repro'\n'*.b' = 'repro'", TableFault::Tie, "*.b and a.*"),
            ("version = 1\nscale = -1\n[fields]\na = 'repro'", TableFault::Scale, "scale"),
            ("version = 1\n[scale]\na = 401\n[fields]\na = 'repro'", TableFault::Scale, "a"),
            (
                "version = 1\n[fields]\na = 'repro'\n[lists]\na = { order = 'sorted' }",
                TableFault::ListRule,
                "a",
            ),
            ("version = 1\n[fields]\na = 'repro'\n[lists]\na = { order = 'key' }", TableFault::ListRule, "a"),
            (
                "version = 1\n[fields]\na = 'repro'\n[lists]\na = { order = 'set', keys = ['b'] }",
                TableFault::ListRule,
                "a",
            ),
            ("version = 1", TableFault::NoFields, "fields"),
        ] {
            let (fault, found) = fault(text);
            assert!(fault == expected && found.contains(detail), "{text}: {fault:?} {found}");
        }
    }

    #[test]
    fn tables_are_bounded() {
        let paths: String = (0..=PATHS_MAX).map(|at| format!("f{at} = 'repro'\n")).collect();
        let keys: Vec<String> = (0..=KEYS_MAX).map(|at| format!("'k{at}'")).collect();
        let rule = format!("a = 'repro'\n[lists]\na = {{ order = 'key', keys = [{}] }}\n", keys.join(","));
        for fields in [paths, rule] {
            assert_eq!(fault(&format!("version = 1\n[fields]\n{fields}")).0, TableFault::TooMany);
        }
    }

    #[test]
    fn the_better_path_wins() {
        let table = Table::parse(
            "version = 3\n[scale]\n'$' = 2\nmoney = 4\n[fields]\na = 'repro'\n'x.a' = 'physical'\n'x.*.a' = 'opaque'\n\
             x.y.a = 'repro'\n'*' = 'physical'\n[lists]\n'$' = { order = 'sequence' }\n",
        )
        .unwrap();
        for (keys, class) in [
            (&["a"][..], Class::Repro),
            (&["x", "a"], Class::Physical),
            (&["x", "z", "a"], Class::Opaque),
            (&["x", "y", "a"], Class::Repro),
            (&["other"], Class::Physical),
        ] {
            assert_eq!(table.class(keys), Some(class), "{keys:?}");
        }
        assert_eq!((table.scale(&["a"]), table.scale(&["deep", "money"])), (2, 4));
        assert_eq!((table.order(&[]), table.order(&["a"])), (Some(&Order::Sequence), None));
        assert_eq!(table.version(), 3);
    }

    #[test]
    fn a_wild_card_never_makes_the_minimum_reproducible() {
        let table = Table::parse("version = 1\n[fields]\n'*' = 'repro'").unwrap();
        assert_eq!(table.class(&["ts"]), Some(Class::Physical));
    }
}

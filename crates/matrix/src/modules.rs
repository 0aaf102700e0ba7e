//! The stage manifest (RC-STG-00 to RC-STG-03) by the module tags of 16.2.

/// Module tags with the stage that enables them.
pub const MODULES: [(&str, u8); 23] = [
    ("world", 0),
    ("safety", 0),
    ("regulation", 0),
    ("tier_utility", 0),
    ("body", 0),
    ("queue", 0),
    ("reducer_physical", 0),
    ("expectation", 0),
    ("agency", 0),
    ("perception", 1),
    ("cog_tests", 1),
    ("attention", 1),
    ("project", 1),
    ("min_request", 1),
    ("commitment", 2),
    ("trust", 2),
    ("affect", 2),
    ("habit", 2),
    ("skill", 2),
    ("script", 2),
    ("property", 2),
    ("memory", 2),
    ("llm", 3),
];

/// The stage that enables a module; nothing for a tag that is no module.
pub fn stage_of(module: &str) -> Option<u8> {
    MODULES.iter().find(|(name, _)| *name == module).map(|(_, stage)| *stage)
}

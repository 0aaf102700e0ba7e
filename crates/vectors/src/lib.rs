//! Test material: where vectors and data lie, and the loud skip where they do not.
//!
//! Only tests, benches and fuzz targets depend on this crate. Vectors of our own lie under `vectors/` in the
//! repository; the peer's and the public data lie in a folder beside the repository that a newcomer does not
//! have. A test that needs it calls [`shared`] and ends when there is nothing.

use std::io::Write as _;
use std::path::{Path, PathBuf};

/// The root of the repository.
pub fn repository() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).expect("crates/vectors lies two levels down").to_path_buf()
}

/// A path of the shared test material, or a loud skip of the test `test`.
///
/// `TOUCHSTONE_SHARED` overrides the folder beside the repository.
pub fn shared(test: &str, relative: &str) -> Option<PathBuf> {
    let root =
        std::env::var_os("TOUCHSTONE_SHARED").map_or_else(|| repository().join("../shared"), PathBuf::from);
    let path = root.join(relative);
    if path.exists() {
        return Some(path);
    }
    skip(test, &format!("shared test material {relative} is not beside this checkout"));
    None
}

/// Says aloud that a test did not run. With `TOUCHSTONE_NO_SKIP=1` (set in CI) a skip is a failure.
pub fn skip(test: &str, reason: &str) {
    let line = format!("SKIPPED: {test}: {reason}\n");
    assert!(std::env::var_os("TOUCHSTONE_NO_SKIP").is_none(), "{line}");
    // Written past the capture of the test harness: a skip that nobody sees is a false green.
    let _ = std::io::stderr().write_all(line.as_bytes());
}

/// The JSON value of a vector file.
pub fn json(path: &Path) -> canon::Value {
    let bytes = std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let limits = canon::Limits { depth_max: 128, bytes_max: 64 << 20 };
    let reader = canon::Reader::strict().with_limits(limits);
    reader.read(&bytes).unwrap_or_else(|error| panic!("{}: {error:?}", path.display()))
}

/// The string member `key`, for vectors whose shape is known.
pub fn text<'a>(value: &'a canon::Value, key: &str) -> &'a str {
    value.get(key).and_then(canon::Value::as_str).unwrap_or_else(|| panic!("no text member {key}"))
}

/// The array member `key`.
pub fn list<'a>(value: &'a canon::Value, key: &str) -> &'a [canon::Value] {
    value.get(key).and_then(canon::Value::as_array).unwrap_or_else(|| panic!("no list member {key}"))
}

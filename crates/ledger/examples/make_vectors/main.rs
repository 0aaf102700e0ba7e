//! Writes the vectors of our own into `vectors/`: `cargo run -p ledger --example make_vectors`.
//!
//! Seeds and times are fixed, so the files are the same on every machine; a test compares them with this output.

mod cases;

fn main() -> std::io::Result<()> {
    let root = vectors::repository().join("vectors");
    for folder in ["canonical", "chain", "run"] {
        match std::fs::remove_dir_all(root.join(folder)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    let files = cases::all();
    for (name, bytes) in &files {
        let path = root.join(name);
        std::fs::create_dir_all(path.parent().unwrap_or(&root))?;
        std::fs::write(path, bytes)?;
    }
    println!("{} files below {}", files.len(), root.display());
    Ok(())
}

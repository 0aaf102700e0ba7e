//! The replay hash of what the kernel makes of envelopes: standard library and the pure ring only, so that it can be
//! built for a machine of another word order and run there.
//!
//! `replay_hash < envelopes.jsonl` prints the digest that `touchstone conform` gives the receipts.

use canon::Limits;
use canon::replay::{Canonicaliser, Document, Table};
use kernel::audit::Audit;
use kernel::receipt::Physical;
use kernel::{Arrival, Config, Kernel, Scratch};
use std::io::Read as _;

fn main() -> Result<(), String> {
    let mut input = Vec::new();
    std::io::stdin().read_to_end(&mut input).map_err(|error| error.to_string())?;
    let kernel = Kernel::new(Config::default())?;
    let (mut audit, mut scratch) = (Audit::new(), Scratch::default());
    let mut receipts = Vec::new();
    let records = input.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty());
    for (line, record) in records.zip(1..) {
        let arrival = Arrival::read(record, line);
        let context = arrival.context(&mut audit);
        let receipt = kernel.handle(arrival, &context, &mut scratch);
        receipts.extend(canon::canonical(&receipt.into_value(&Physical {
            ts: 0,
            elapsed: 0,
            thread_order: record,
            pid: 0,
        })));
        receipts.push(b'\n');
    }
    let table = Table::parse(include_str!("../fields.toml")).map_err(|error| error.detail)?;
    let document =
        Document::lines(&receipts, Limits::default()).map_err(|error| error.fault.code().to_owned())?;
    let form = Canonicaliser::new(&table).form(&document).map_err(|error| error.code().to_owned())?;
    println!("{}", form.digest());
    Ok(())
}

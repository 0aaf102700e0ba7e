//! An envelope, a kernel, and what it says.

use canon::{Object, Value, canonical};
use kernel::audit::Audit;
use kernel::receipt::Receipt;
use kernel::{Arrival, Config, Kernel, Scratch};

/// A harmless envelope whose payload is one text.
pub(crate) fn envelope(text: &str) -> Object {
    Object::new()
        .with("id", "e-1")
        .with("sender", "agent-a")
        .with("recipient", "desk")
        .with("task", "count words of this text")
        .with("payload", Object::new().with("text", text))
        .with("permission", 0_u64)
        .with("trace", "t-1")
        .with("mode", "live")
        .with("claims", Object::new())
        .with("seq", 1_u64)
        .with("prev", Value::Null)
}

pub(crate) fn kernel() -> Kernel {
    Kernel::new(Config::default()).unwrap()
}

/// Receipts of some lines, in order.
pub(crate) fn handle(kernel: &Kernel, lines: &[Vec<u8>]) -> Vec<Receipt> {
    let (mut audit, mut scratch) = (Audit::new(), Scratch::default());
    let one = |(line, record): (&Vec<u8>, u64)| {
        let arrival = Arrival::read(record, line);
        let context = arrival.context(&mut audit);
        kernel.handle(arrival, &context, &mut scratch)
    };
    lines.iter().zip(1..).map(one).collect()
}

pub(crate) fn handle_object(kernel: &Kernel, object: Object) -> Receipt {
    handle(kernel, &[canonical(&object.into())]).remove(0)
}

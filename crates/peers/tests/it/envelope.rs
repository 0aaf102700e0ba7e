//! Envelopes and the guard of one recipient.

use crate::world::{identity, sign};
use crate::{drop_member, set};
use canon::{Object, Value};
use peers::delegation::{BODY_BYTES_MAX, Draft, Guard, Unacceptable, Unsendable};

/// Changes an envelope that would be taken.
type Edit = fn(&mut Value);

fn sender() -> (Draft, Guard) {
    (Draft::new("desk"), Guard::new("desk"))
}

fn hello() -> Value {
    Object::new().with("text", "hello").into()
}

#[test]
fn in_order_they_are_taken() {
    let (mut draft, mut guard) = sender();
    let key = identity(1).public();
    for seq in 1..=3 {
        let envelope = draft.sign(&identity(1), "note", hello(), 7).unwrap();
        let taken = guard.take(&envelope, &key).unwrap();
        assert_eq!((taken.seq, taken.from.as_str(), taken.kind.as_str()), (seq, key.id().as_str(), "note"));
    }
    // Another sender begins at 1: the guard is one per sender.
    let mut other = Draft::new("desk");
    let envelope = other.sign(&identity(2), "note", hello(), 7).unwrap();
    assert_eq!(guard.take(&envelope, &identity(2).public()).unwrap().seq, 1);
}

#[test]
fn replays_gaps_and_forks() {
    let (mut draft, mut guard) = sender();
    let key = identity(1).public();
    let all: Vec<Value> = (0..3).map(|_| draft.sign(&identity(1), "note", hello(), 7).unwrap()).collect();
    guard.take(&all[0], &key).unwrap();
    assert_eq!(guard.take(&all[0], &key), Err(Unacceptable::Replayed));
    assert_eq!(guard.take(&all[2], &key), Err(Unacceptable::Gap));
    let mut fork = all[1].clone();
    set(&mut fork, "prev_hash", "0".repeat(64));
    sign(&mut fork, "sig", 1);
    assert_eq!(guard.take(&fork, &key), Err(Unacceptable::OtherHistory));
    // Nothing of what was refused is remembered.
    guard.take(&all[1], &key).unwrap();
    guard.take(&all[2], &key).unwrap();
}

#[test]
fn each_refusal() {
    let key = identity(1).public();
    let cases: [(Unacceptable, Edit); 9] = [
        (Unacceptable::Shape, |e| drop_member(e, "kind")),
        (Unacceptable::Shape, |e| set(e, "extra", 1_i64)),
        (Unacceptable::Shape, |e| set(e, "v", 2_i64)),
        (Unacceptable::Shape, |e| set(e, "seq", true)),
        (Unacceptable::BodyTooLarge, |e| set(e, "body", "x".repeat(BODY_BYTES_MAX - 1))),
        (Unacceptable::OtherRecipient, |e| set(e, "to", "another")),
        (Unacceptable::SenderId, |e| set(e, "from", identity(2).public().id().as_str())),
        (Unacceptable::Signature, |e| set(e, "ts_ms", 8_i64)),
        (Unacceptable::Signature, |e| set(e, "sig", "zz")),
    ];
    for (refusal, edit) in cases {
        let (mut draft, mut guard) = sender();
        let mut envelope = draft.sign(&identity(1), "note", hello(), 7).unwrap();
        edit(&mut envelope);
        assert_eq!(guard.take(&envelope, &key), Err(refusal));
    }
}

#[test]
fn what_cannot_be_sent() {
    let (mut draft, _) = sender();
    let size = BODY_BYTES_MAX + 1;
    let body = "x".repeat(size - 2);
    assert_eq!(draft.sign(&identity(1), "note", body.into(), 7), Err(Unsendable::BodyTooLarge(size)));
    let float = Value::Float(canon::Float::new(0.5));
    assert!(matches!(draft.sign(&identity(1), "note", float, 7), Err(Unsendable::Float(_))));
    // The largest that can be sent is taken.
    let (mut draft, mut guard) = sender();
    let envelope = draft.sign(&identity(1), "note", "x".repeat(BODY_BYTES_MAX - 2).into(), 7).unwrap();
    assert!(guard.take(&envelope, &identity(1).public()).is_ok());
}

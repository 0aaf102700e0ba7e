//! Envelopes, reviews, delivery cards, delegation receipts, and what a desk asks of a delivery (section 19).
//!
//! The documents are the peer's, byte for byte, so the numbers of a card and of a review are written as the peer
//! writes them (decision record 0017).

mod card;
mod delivery;
mod envelope;
mod receipt;
mod review;
mod verify;

pub use card::{Card, Credit, Given};
pub use delivery::{Check, Desk, Live, NotAdmitted, Policy, PolicyError, Undelivered, verify_delivery};
pub use envelope::{BODY_BYTES_MAX, Draft, Envelope, Guard, Unacceptable, Unsendable};
pub use receipt::{Audit, Receipt, ReviewCount, Signer, Terms};
pub use review::{Dimension, Review, Scores, Word};
pub use verify::{Asked, Refusal, verify_delegation_receipt};

//! Who is known, what it is worth, who gets the next task and what is audited (section 21).

mod auditor;
mod panel;
mod registry;
mod reputation;
mod router;
mod weight;

pub use auditor::Auditor;
pub use panel::{Panel, PanelRefusal};
pub use registry::{Announcement, Recorded, Registry, Resident, ReviewRefusal, Unannounced};
pub use reputation::{Key, Penalty, Reputation, WEIGHT_SAME_ORIGIN, slashed, ucb};
pub use router::{Candidate, Router, random_route};
pub use weight::{NEWCOMER_OBSERVATIONS, review_weight};

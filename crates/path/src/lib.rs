//! Drives packets between two devices (TUN, or virtual Ethernet) through two links: one thread, one clock.
//!
//! The links decide, this crate reads, waits and writes; and it measures how late it was, since a
//! release that comes late is an error of the instrument that a trial has to know of.

mod driver;
mod header;
mod lateness;

pub use driver::{DirectionSummary, Path, PathError, PathSummary, Stopper};
pub use lateness::{Lateness, LatenessSummary};

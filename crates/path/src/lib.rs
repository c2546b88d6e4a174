//! Drives packets between devices (TUN, or virtual Ethernet) through two links: one thread, one clock.
//!
//! The links decide, this crate reads, waits and writes; and it measures how late it was, since a
//! release that comes late is an error of the instrument that a trial has to know of.
//!
//! A packet from a TUN device may be a super-packet of many segments. It is cut before the link sees
//! it: queue, rate and loss count packets of wire size. Where consecutive segments leave together they
//! are written as one super-packet again, as a network card's receive offload would hand them on.

mod arena;
mod arrival;
mod batch;
mod blocks;
mod capture;
mod check;
mod checksum;
mod density;
mod driver;
mod header;
mod lane;
mod lateness;
mod log;
mod log_head;
mod marks;
mod outside;
mod pace;
mod record;
mod run;
mod segment;
mod settings;
mod summary;
mod summary_reset;
mod tap;
mod timeline;
mod watch;
mod windows;
mod wire;

pub use arrival::ArrivalSummary;
pub use check::{CheckError, LogCheck, check_log};
pub use driver::{Path, Stopper};
pub use lateness::{Lateness, LatenessSummary};
pub use log_head::LogHead;
pub use marks::{ConnectionMarks, EcnCounts};
pub use outside::LostOutside;
pub use record::{RECORD_BYTES, Record, RecordKind};
pub use settings::{Ends, PathError, PathSettings, SecondPair};
pub use summary::{DirectionSummary, PathSummary};
pub use summary_reset::SummaryReset;
pub use timeline::TimelineSummary;
pub use watch::{DirectionState, PathState, Watch};
pub use windows::FirstWindows;

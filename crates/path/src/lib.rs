//! Drives packets between devices (TUN, or virtual Ethernet) through two links, with one thread and
//! one clock.
//!
//! The links decide; this crate reads, waits and writes. It also measures its own lateness, since a
//! late release is an error of the instrument that belongs in a trial's record.
//!
//! A packet from a TUN device may be a super-packet of many segments. It is segmented before it
//! enters the link: queue, rate and loss count packets of wire size. Consecutive segments that
//! leave together are written as one super-packet again, as a network card's receive offload would
//! deliver them.

mod arena;
mod batch;
mod blocks;
mod capture;
mod checksum;
mod density;
mod driver;
mod header;
mod lane;
mod log;
mod measured;
mod pace;
mod run;
mod segment;
mod settings;
mod summary;
mod summary_reset;
mod tap;
mod watch;
mod wire;

pub use driver::{Path, Stopper};
pub use log::check::{CheckError, check_log};
pub use log::comparison::LogCheck;
pub use log::head::LogHead;
pub use log::record::{RECORD_BYTES, Record, RecordKind};
pub use measured::arrival::ArrivalSummary;
pub use measured::lateness::{Lateness, LatenessSummary};
pub use measured::marks::{ConnectionMarks, EcnCounts};
pub use measured::outside::LostOutside;
pub use measured::timeline::TimelineSummary;
pub use measured::windows::FirstWindows;
pub use settings::{Ends, PathError, PathSettings, SecondPair};
pub use summary::{DirectionSummary, PathSummary};
pub use summary_reset::SummaryReset;
pub use watch::{DirectionState, PathState, Watch};

//! One direction of an emulated path as a pure state machine: packets and the time go in, packets
//! with the instant of their release come out. Nothing here reads a clock, a socket, a file or a
//! global random source, so the same stages run in real time, in virtual time and in tests.
//!
//! A [`Direction`] is a list of stages that a packet meets in the order written, each described by
//! a [`StageSpec`]. All times are the model's own: a driver that calls late gets packets with the
//! instant at which they should have left, and no later packet is treated differently for it.
//!
//! ```
//! use eyelevel_link::{DelaySpec, Direction, Packet, QueueSpec, RateSpec, StageSpec};
//! use eyelevel_units::{Instant, Seed};
//!
//! let stages = [
//!     StageSpec::Delay(DelaySpec { delay_ms: 12.0 }),
//!     StageSpec::Rate(RateSpec { rate_bit_s: 12_000_000, queue: QueueSpec::droptail_ms(12.0) }),
//! ];
//! let mut direction = Direction::new(&stages, Seed::new(1)).unwrap();
//! direction.handle_packet(Instant::ZERO, Packet::new(1500, "a packet"));
//! let wake = direction.poll_timeout().unwrap();
//! assert!(direction.poll_transmit(wake).is_none()); // the delay is over, now it is on the link
//! let wake = direction.poll_timeout().unwrap();
//! let release = direction.poll_transmit(wake).unwrap();
//! assert_eq!(release.at.as_nanos(), 13_000_000);
//! ```

mod counters;
mod direction;
mod drop_reason;
mod error;
mod observer;
mod packet;
mod queue;
mod queued_packet;
mod recorded;
mod stage;
mod text;
mod timeline;
mod trace;
mod words;

pub use counters::StageCounters;
pub use direction::{Direction, Release};
pub use drop_reason::DropReason;
pub use error::SpecError;
pub use observer::{Event, EventKind, Observer};
pub use packet::{Ecn, Packet};
pub use queue::{CodelSpec, DualPi2Spec, FqCodelSpec, LimitsSpec, PieSpec, QueueSpec, RedSpec};
pub use recorded::{FileText, ReadFile, Recorded, VALUES_MAX};
pub use stage::*;
pub use text::QUEUE_FOLLOWS;
pub use trace::{OPPORTUNITY_BYTES, OPPORTUNITY_MS_MAX, Trace};

//! Congestion control, pure: CUBIC, Reno and BBR as in the Linux kernel's TCP, and Sprout-EWMA,
//! behind one trait, [`Controller`].
//!
//! A transport uses a [`Flow`], which keeps what every controller needs (packets in flight, round
//! trips, delivery rates) and calls its controller. Nothing here reads a clock or draws an unseeded
//! number: the same events give the same windows, in real and in virtual time.
//!
//! Controllers count in whole packets where the kernel does, so that its integers result; the
//! interface is in bytes.

mod bbr;
mod controller;
mod cubic;
mod delivery;
mod flow;
mod hystart;
mod loss_based;
mod pacing;
mod prr;
mod registry;
mod reno;
mod repairs;
mod rtt;
mod settings;
mod sprout_ewma;
mod usage;

pub use bbr::Bbr;
pub use controller::{Ack, Controller, Loss, Mark, PacketAcked, PacketSent};
pub use cubic::{Cubic, CubicGrowth};
pub use delivery::{DeliverySampler, RateSample};
pub use flow::Flow;
pub use loss_based::{Growth, LossBased};
pub use pacing::{DepartureTimer, UNPACED_PACKETS, window_pacing_rate_bytes_s};
pub use registry::{CONTROLLERS, Constructor, by_name};
pub use reno::{Reno, RenoGrowth};
pub use rtt::{Rtt, RttEstimator};
pub use settings::{
    CongestionError, INITIAL_WINDOW_PACKETS, SPROUT_PROBE_GAIN, Settings, SlowStart,
};
pub use sprout_ewma::SproutEwma;

/// The code of the guide, compiled and run as a doc test.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/guides/congestion-controller.md")]
struct Guide;

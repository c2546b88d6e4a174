//! Quantities that every part of the data plane shares: instants, rates, sizes, probabilities and
//! seeds. All are integers or checked numbers, all parse and print in readable form ("25 Mbit/s",
//! "24 ms", "1 %", "200 kB"), and none reads a clock or a global random source.

mod bytes;
mod error;
mod generator;
mod instant;
mod one_line;
mod probability;
mod quantity;
mod rate;
mod refusal;
mod seed;
mod time;

pub use bytes::Bytes;
pub use core::time::Duration;
pub use error::UnitError;
pub use generator::Generator;
pub use instant::Instant;
pub use one_line::one_line;
pub use probability::Probability;
pub use rate::{BitRate, Transmitter};
pub use refusal::refusal;
pub use seed::Seed;
pub use time::{duration_from_ms, format_duration, parse_duration};

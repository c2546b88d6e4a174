//! Ranges of addresses, and which of them are public. [`special`]'s is the one table of those that
//! are not; the recorder and the scanner both consult it before they connect.

mod prefix;
mod special;
mod verdicts;

pub use prefix::Prefix;
pub use special::{Special, special, special_ranges};
pub use verdicts::{Verdict, verdicts};

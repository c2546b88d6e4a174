//! Ranges of addresses, and which of them are public. The one table of what is not public is
//! [`special`]'s; the recorder and the scanner both ask it before they connect.

mod prefix;
mod special;
mod verdicts;

pub use prefix::Prefix;
pub use special::{Special, special, special_ranges};
pub use verdicts::{Verdict, verdicts};

//! The pure parsers of client input, for `make fuzz`.

pub use crate::matcher::range::{Part, part};
pub use crate::scheduler::{H2Event, H2Frames};
pub use crate::tcp::{client_preface, settings_frame};
pub use crate::tls::HelloWatch;

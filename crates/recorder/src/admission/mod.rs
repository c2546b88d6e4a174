//! Who may ask the recorder, whom a request is for, and what it may reach.

pub(crate) mod authority;
pub(crate) mod credentials;
pub(crate) mod reach;
pub(crate) mod target;

//! Access control: which clients may use the recorder, which server a request names, and which
//! servers may be reached.

pub(crate) mod authority;
pub(crate) mod credentials;
pub(crate) mod reach;
pub(crate) mod target;

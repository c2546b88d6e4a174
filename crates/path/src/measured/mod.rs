//! What a path knows of itself and of its packets: how late it was, what came, what was lost beside
//! it.

pub(crate) mod arrival;
pub(crate) mod lateness;
pub(crate) mod marks;
pub(crate) mod outside;
pub(crate) mod timeline;
pub(crate) mod windows;

//! Measures a path and its packets: its lateness, arrivals, and losses outside of the model.

pub(crate) mod arrival;
pub(crate) mod lateness;
pub(crate) mod marks;
pub(crate) mod outside;
pub(crate) mod timeline;
pub(crate) mod windows;

//! A lab's networks: its two ends and their addresses, devices, names, and the networks around
//! them.

pub mod around;
pub mod devices;
pub mod ends;
pub mod names;
pub mod topology;

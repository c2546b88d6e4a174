//! What a lab's networks are made of: its two ends and their addresses, devices, names, and what lies
//! around them.

pub mod around;
pub mod devices;
pub mod ends;
pub mod names;
pub mod topology;

//! The crate's integration tests, in one program: each further one would be linked on its own.

mod addresses;
mod chains;
mod common;
mod early_hints;
mod gaps;
mod heads;
mod http3;
mod http3_faults;
mod priorities;
mod protocols;
mod ranges;
mod recordings;
mod stacks;

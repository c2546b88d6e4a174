//! The crate's tests from outside, in one program: each more would be linked on its own.

mod addresses;
mod chains;
mod common;
mod gaps;
mod heads;
mod http3;
mod http3_faults;
mod priorities;
mod protocols;
mod ranges;
mod recordings;
mod stacks;

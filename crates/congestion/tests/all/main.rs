//! The crate's tests from outside, in one program: each more would be linked on its own.

mod bbr;
mod invariants;
mod kernel;
mod loss_based;
mod marks;
mod sprout_ewma;
mod vectors;
mod window;

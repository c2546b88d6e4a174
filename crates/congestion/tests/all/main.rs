//! The crate's integration tests, in one program: each further one would be linked on its own.

mod bbr;
mod invariants;
mod kernel;
mod loss_based;
mod marks;
mod sprout_ewma;
mod vectors;
mod window;

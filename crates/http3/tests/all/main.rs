//! The crate's integration tests, in one program: each further one would be linked on its own.

mod appendix_b;
mod both_ends;
mod ls_qpack;
mod policy;

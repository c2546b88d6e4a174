//! The crate's tests from outside, in one program: each more would be linked on its own.

mod appendix_b;
mod both_ends;
mod ls_qpack;
mod policy;

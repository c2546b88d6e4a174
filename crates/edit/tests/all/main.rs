//! The crate's tests from outside, in one program: each more would be linked on its own.

mod bodies;
mod charsets;
mod consequences;
mod corpus;
mod documents;
mod refusals;
mod support;
mod unchanged;

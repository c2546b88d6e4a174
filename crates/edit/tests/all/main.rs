//! The crate's integration tests, in one program because each further one is linked separately.

mod bodies;
mod charsets;
mod consequences;
mod corpus;
mod documents;
mod early_hints;
mod refusals;
mod support;
mod unchanged;

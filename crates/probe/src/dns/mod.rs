//! A small stub resolver: A, AAAA and HTTPS records over UDP, over TCP if an answer is truncated,
//! after this machine's own names.

mod hosts_file;
mod message;
mod name;
mod resolver;

pub use message::{Answer, HttpsRecord, RecordType, parse, query};
pub use resolver::{Resolved, Resolver};

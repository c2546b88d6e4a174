//! A small resolver's client: A, AAAA and HTTPS records over UDP, over TCP where an answer is cut,
//! after this machine's own names.

mod hosts_file;
mod message;
mod name;
mod resolver;

pub use message::{Answer, HttpsRecord, RecordType, parse, query};
pub use resolver::{Resolved, Resolver};

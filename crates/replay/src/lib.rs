//! Replays a recorded site: the matcher, the response scheduler, and servers for HTTP/1.1, HTTP/2
//! and HTTP/3 that share both, with certificates of the run's own authority and a resolver.
//!
//! The matcher, the response, its dates and the scheduler are pure; `tcp`, `quic` and `dns` drive
//! them. Servers are independent of whether their network is emulated.

pub mod check;
mod dates;
pub mod dns;
mod early_hints;
mod error;
mod events;
mod exact_wait;
mod kernel_timer;
pub mod live;
mod logs;
pub mod matcher;
pub mod quic;
pub mod response;
pub mod scheduler;
mod server;
mod service;
mod stack;
pub mod tcp;
mod think;
pub mod tls;
pub mod wire;

pub use dates::{CacheAge, Moment};
pub use early_hints::EarlyHints;
pub use error::ReplayError;
pub use events::{ClockNs, ConnectionEvent, Event, EventSink, InForce, RequestEvent};
pub use live::{Live, LiveOptions, LiveSummary};
pub use logs::{ConnectionLogs, LineLog};
pub use server::{Server, ServerOptions, certificate_files};
pub use service::{Entrance, REQUEST_BODY_BYTES_MAX, RequestHead, Service};
pub use stack::{
    CertificateCompression, CertificateKey, ChainBytes, Discovery, Ecn, HintedObjects, HttpVersion,
    KeyExchange, Limit, NamedChainBytes, NamedThinkTime, STACK_LIMITS, SproutHorizon, StackConfig,
    ThinkTime, TlsVersion,
};

//! Measures how long connections take: DNS, TCP, TLS 1.2 and 1.3, QUIC 1 and 2, in the lab and
//! outside.
//!
//! Timelines, packet forms and tables are pure; drivers on tokio fill them in with times taken at
//! the socket, the kernel's own if it provides them. Rows are specified in `spec/probe.md`.

mod answer;
mod attempt;
mod dns;
mod error;
mod failure;
mod host;
mod http;
mod protocol;
mod quic;
mod row;
mod scan;
mod target;
mod timeline;
mod tls;

use eyelevel_netns::socket_times as kernel;

/// The pure parsers of untrusted input, for `make fuzz`.
pub mod wire {
    pub use crate::dns::{Answer, RecordType, parse as dns_answer, query as dns_query};
    pub use crate::http::Head;
    pub use crate::quic::{Response, request_stream, to_version1, versions_offered};
    pub use crate::tls::feed_client;
}

pub use answer::Answer;
pub use attempt::{Plan, attempt, attempt_pair};
pub use dns::{HttpsRecord, Resolved, Resolver};
pub use error::ProbeError;
pub use failure::{FAILURE_CLASSES, Failure, FailureClass};
pub use host::{Settings, Target, probe_host};
pub use http::ProbeRequest;
pub use protocol::Protocol;
pub use row::{AnswerLine, Row};
pub use scan::{ScanRow, ScanSettings, scan};
pub use target::{Target as LabTarget, TargetConfig, WorkMin};
pub use timeline::{Flight, Timeline};
pub use tls::{Trust, client_config};

//! One attempt: a protocol, an address, a row.

mod note;
mod quic;
mod shared;
mod tcp;

use crate::http::ProbeRequest;
use crate::kernel;
use crate::tls::Trust;
use crate::{Failure, FailureClass, Protocol, Row};
use rustls::client::Resumption;
use rustls::pki_types::ServerName;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::time::Instant;

/// The most tickets of one host, kept between the first connection and the resumed one.
const TICKETS_MAX: usize = 4;

/// The parameters of an attempt.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The protocol.
    pub protocol: Protocol,
    /// The server's address.
    pub address: SocketAddr,
    /// The host, for SNI, certificate and request.
    pub host: String,
    /// The request; `None`: the handshake alone.
    pub request: Option<ProbeRequest>,
    /// The port to send from.
    pub local_port: Option<u16>,
    /// The time limit of the whole attempt.
    pub timeout: Duration,
    /// Whether to send the request as early data.
    pub early_data: bool,
    /// Whether to offer HTTP/2 before HTTP/1.1.
    pub offers_h2: bool,
    /// Whether to keep the server's answer.
    pub keeps_answer: bool,
}

/// Makes one connection with a full handshake and fills in its row, failures included.
pub async fn attempt(plan: &Plan, trust: &Trust, row: &mut Row) {
    once(Connection::new(plan, trust, None, false), row).await;
}

/// Makes two connections, the second of which resumes the first one's session; both rows begin as
/// copies of `row`. There is no second if the first failed, or if the protocol has no sessions.
pub async fn attempt_pair(plan: &Plan, trust: &Trust, row: Row) -> (Row, Option<Row>) {
    let mut first = row.clone();
    if plan.protocol == Protocol::Tcp {
        attempt(plan, trust, &mut first).await;
        return (first, None);
    }
    first.first_of_pair = true;
    let session = Resumption::in_memory_sessions(TICKETS_MAX);
    let full = Plan {
        early_data: false,
        ..plan.clone()
    };
    let connection = Connection::new(&full, trust, Some(session.clone()), true);
    once(connection, &mut first).await;
    if first.failure.is_some() {
        return (first, None);
    }
    let mut second = row;
    second.http_version = first.http_version;
    match first.no_session.take() {
        Some(failure) => {
            begin(plan, &mut second);
            let detail = format!("the connection before: {}", failure.detail);
            second.fail(Failure::new(failure.class, detail));
        }
        None => {
            once(
                Connection::new(plan, trust, Some(session), false),
                &mut second,
            )
            .await
        }
    }
    (first, Some(second))
}

fn begin(plan: &Plan, row: &mut Row) {
    row.at_unix_us = kernel::unix_ns() / 1000;
    row.at_ns = kernel::monotonic_ns();
    row.address = Some(plan.address.ip());
}

/// One of an attempt's connections: the only one, or one of the two that share a session.
struct Connection<'a> {
    plan: &'a Plan,
    trust: &'a Trust,
    session: Option<Resumption>,
    is_first: bool,
    deadline: Instant,
}

impl<'a> Connection<'a> {
    fn new(plan: &'a Plan, trust: &'a Trust, session: Option<Resumption>, is_first: bool) -> Self {
        Self {
            plan,
            trust,
            session,
            is_first,
            deadline: Instant::now() + plan.timeout,
        }
    }
}

async fn once(connection: Connection<'_>, row: &mut Row) {
    let plan = connection.plan;
    begin(plan, row);
    row.resumption_offered = connection.session.is_some() && !connection.is_first;
    let result = if plan.protocol.quic_version().is_some() {
        quic::over_quic(connection, row).await
    } else {
        tcp::over_tcp(connection, row).await
    };
    if let Err(failure) = result {
        row.fail(failure);
    }
}

fn timed_out(class: FailureClass, plan: &Plan) -> Failure {
    Failure::new(class, format!("nothing in {} ms", plan.timeout.as_millis()))
}

fn no_ticket() -> Failure {
    Failure::new(FailureClass::NoSession, "the server gave no ticket")
}

fn unspecified(like: SocketAddr, port: u16) -> SocketAddr {
    match like {
        SocketAddr::V4(_) => ([0; 4], port).into(),
        SocketAddr::V6(_) => ([0_u16; 8], port).into(),
    }
}

fn server_name(host: &str) -> Result<ServerName<'static>, Failure> {
    ServerName::try_from(host.trim_matches(['[', ']']).to_owned())
        .map_err(|error| Failure::new(FailureClass::Local, error))
}

//! One attempt: a protocol, an address, a row.

mod note;
mod quic;
mod shared;
mod tcp;

use crate::http::Asked;
use crate::kernel;
use crate::tls::Trust;
use crate::{Failure, FailureClass, Protocol, Row};
use rustls::client::Resumption;
use rustls::pki_types::ServerName;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::time::Instant;

/// Tickets of one host that are kept between the first connection and the resumed one.
const TICKETS_MAX: usize = 4;

/// What an attempt is to do.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The protocol.
    pub protocol: Protocol,
    /// The server.
    pub address: SocketAddr,
    /// The host, for SNI, certificate and request.
    pub host: String,
    /// The request; none: the handshake alone.
    pub asked: Option<Asked>,
    /// The port to send from.
    pub local_port: Option<u16>,
    /// For the whole attempt.
    pub timeout: Duration,
    /// Make one connection first, and resume its session.
    pub resume: bool,
    /// Send the request as early data.
    pub early_data: bool,
    /// Offer HTTP/2 before HTTP/1.1.
    pub offers_h2: bool,
    /// Keep what the server answers.
    pub keeps_answer: bool,
}

/// Makes the attempt and fills the row in; failures are in the row.
pub async fn attempt(plan: &Plan, trust: &Trust, row: &mut Row) {
    let resumes = plan.resume && plan.protocol != Protocol::Tcp;
    let session = resumes.then(|| Resumption::in_memory_sessions(TICKETS_MAX));
    if resumes {
        let mut first = Row::new(&row.host, row.port, &row.path, row.protocol);
        let plan = Plan {
            early_data: false,
            ..plan.clone()
        };
        once(
            Connection::new(&plan, trust, session.clone(), true),
            &mut first,
        )
        .await;
        row.http_version = first.http_version;
        if let (Some(class), Some(detail)) = (first.failure, first.failure_detail) {
            let detail = format!("the connection before: {detail}");
            return row.fail(Failure::new(class, detail));
        }
    }
    once(Connection::new(plan, trust, session, false), row).await;
}

/// One of an attempt's connections: the only one, or the first of two whose session is resumed.
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
    row.at_unix_us = kernel::unix_ns() / 1000;
    row.at_ns = kernel::monotonic_ns();
    row.address = Some(plan.address.ip());
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

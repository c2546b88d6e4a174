//! The failures of attempts: one closed table, and the mapping of the libraries' errors to it.

use serde::{Deserialize, Serialize};
use std::io;

/// A class of failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs)] // The table below says it, once, for the code and for the documentation.
pub enum FailureClass {
    DnsNoSuchName,
    DnsNoAddress,
    DnsTimeout,
    DnsRefused,
    Unreachable,
    Refused,
    TcpTimeout,
    Reset,
    Closed,
    TlsVersion,
    TlsAlert,
    TlsTimeout,
    TlsProtocol,
    Certificate,
    QuicVersion,
    QuicTimeout,
    QuicClosed,
    QuicProtocol,
    HttpTimeout,
    HttpProtocol,
    NoSession,
    Local,
}

use FailureClass as Class;

/// Every class with its meaning.
pub const FAILURE_CLASSES: [(FailureClass, &str); 22] = [
    (
        Class::DnsNoSuchName,
        "the resolver says that the name does not exist",
    ),
    (
        Class::DnsNoAddress,
        "the name has no address of the family asked for",
    ),
    (Class::DnsTimeout, "no answer of the resolver in time"),
    (Class::DnsRefused, "the resolver answered with an error"),
    (
        Class::Unreachable,
        "no route to the address, or the network said so",
    ),
    (Class::Refused, "the port is closed"),
    (Class::TcpTimeout, "no answer to the TCP handshake in time"),
    (Class::Reset, "the connection was reset"),
    (
        Class::Closed,
        "the server closed before the handshake or the response was complete",
    ),
    (
        Class::TlsVersion,
        "the server does not speak the TLS version",
    ),
    (
        Class::TlsAlert,
        "the server ended the handshake with an alert",
    ),
    (
        Class::TlsTimeout,
        "the TLS handshake was not complete in time",
    ),
    (
        Class::TlsProtocol,
        "the server's handshake breaks the protocol",
    ),
    (
        Class::Certificate,
        "the certificate is not valid for the name or not trusted",
    ),
    (
        Class::QuicVersion,
        "the server does not speak the QUIC version",
    ),
    (Class::QuicTimeout, "no complete QUIC handshake in time"),
    (
        Class::QuicClosed,
        "the server closed the QUIC connection with an error",
    ),
    (
        Class::QuicProtocol,
        "the server's packets break the protocol",
    ),
    (Class::HttpTimeout, "no response in time"),
    (Class::HttpProtocol, "what came back is no HTTP response"),
    (Class::NoSession, "the server gave no session to resume"),
    (
        Class::Local,
        "this machine could not make the attempt: a port, a descriptor, a route",
    ),
];

/// The limit of detail texts: they come from servers, one of which could fill the disk otherwise.
const DETAIL_BYTES_MAX: usize = 300;

/// The reason why an attempt failed: its class, and the message of the server or the system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The class.
    pub class: FailureClass,
    /// A description of one line.
    pub detail: String,
}

impl Failure {
    /// Creates a failure with at most 300 bytes of detail, on one line.
    pub fn new(class: FailureClass, detail: impl ToString) -> Self {
        let mut detail = detail.to_string().replace(['\n', '\r'], " ");
        let end = (0..=detail.len().min(DETAIL_BYTES_MAX))
            .rev()
            .find(|end| detail.is_char_boundary(*end));
        detail.truncate(end.unwrap_or(0));
        Self { class, detail }
    }

    /// Classifies a socket's error; `otherwise` is the class of unspecific errors.
    pub fn from_socket(error: &io::Error, otherwise: FailureClass) -> Self {
        use io::ErrorKind as Kind;
        let class = match error.kind() {
            Kind::ConnectionRefused => Class::Refused,
            Kind::ConnectionReset | Kind::BrokenPipe | Kind::ConnectionAborted => Class::Reset,
            Kind::HostUnreachable | Kind::NetworkUnreachable => Class::Unreachable,
            Kind::TimedOut => Class::TcpTimeout,
            Kind::UnexpectedEof => Class::Closed,
            Kind::AddrInUse | Kind::AddrNotAvailable | Kind::PermissionDenied => Class::Local,
            _ => otherwise,
        };
        Self::new(class, error)
    }

    /// Classifies an error of TLS, over TCP or inside QUIC.
    pub fn from_tls(error: &rustls::Error) -> Self {
        use rustls::{AlertDescription as Alert, Error, PeerIncompatible as Peer};
        let class = match error {
            Error::InvalidCertificate(_) | Error::NoCertificatesPresented => Class::Certificate,
            Error::AlertReceived(Alert::ProtocolVersion)
            | Error::PeerIncompatible(
                Peer::ServerDoesNotSupportTls12Or13
                | Peer::ServerTlsVersionIsDisabledByOurConfig
                | Peer::Tls13RequiredForQuic,
            ) => Class::TlsVersion,
            Error::AlertReceived(_) => Class::TlsAlert,
            _ => Class::TlsProtocol,
        };
        Self::new(class, error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_that_of_the_analysis() {
        let path = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../python/eyelevel/probes/protocols.py"
        );
        let python = std::fs::read_to_string(path).unwrap();
        let (_, table) = python.split_once("\nFAILURE_CLASSES = {").unwrap();
        let (table, _) = table.split_once("\n}").unwrap();
        let mut rest = table;
        for (class, meaning) in FAILURE_CLASSES {
            let name = serde_json::to_string(&class).unwrap();
            let line = format!("{name}: \"{meaning}\"");
            let at = rest
                .find(&line)
                .unwrap_or_else(|| panic!("not in order: {line}"));
            rest = &rest[at + line.len()..];
        }
        assert_eq!(table.matches("\n    \"").count(), FAILURE_CLASSES.len());
    }

    #[test]
    fn details_are_bounded_and_one_line() {
        let failure = Failure::new(Class::Closed, "é\n".repeat(400));
        assert!(failure.detail.len() <= DETAIL_BYTES_MAX && !failure.detail.contains('\n'));
    }
}

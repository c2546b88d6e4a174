use eyelevel_units::refusal;
use std::io;
use std::net::SocketAddr;

/// An error of making a server or a check. The message is one line: attempt, subject, remedy.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// A key or certificate could not be created.
    #[error(
        "making the certificate of {subject} failed: {reason}; change the stack, or leave it out"
    )]
    Certificate {
        /// The host, or the certificate authority.
        subject: String,
        /// The library's message.
        reason: String,
    },
    /// A TLS or QUIC configuration was refused by the library.
    #[error("configuring {subject} failed: {reason}; correct what it is given")]
    Configuration {
        /// The part that was configured.
        subject: &'static str,
        /// The library's message.
        reason: String,
    },
    /// A stack that cannot be served.
    #[error("the stack {stack:?} cannot be served: {reason}")]
    Stack {
        /// The stack's name.
        stack: String,
        /// The problem, and how to correct it.
        reason: String,
    },
    /// A recorded site that cannot be served.
    #[error("the recorded site cannot be served: {reason}")]
    Site {
        /// The problem, and how to correct it.
        reason: String,
    },
    /// A socket could not be prepared.
    #[error("{attempt} on {address} failed: {}", refusal(source))]
    Socket {
        /// The step that was attempted.
        attempt: &'static str,
        /// The address to bind.
        address: SocketAddr,
        /// The kernel's error.
        source: io::Error,
    },
}

impl ReplayError {
    pub(crate) fn certificate(subject: impl Into<String>, reason: impl ToString) -> Self {
        Self::Certificate {
            subject: subject.into(),
            reason: reason.to_string(),
        }
    }

    pub(crate) fn configuration(subject: &'static str, reason: impl ToString) -> Self {
        Self::Configuration {
            subject,
            reason: reason.to_string(),
        }
    }

    pub(crate) fn socket(
        attempt: &'static str,
        address: SocketAddr,
    ) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Socket {
            attempt,
            address,
            source,
        }
    }
}

//! HTTP/1.1 and HTTP/2 over TCP, with TLS or, for recorded http origins, without.

mod first_flight;
mod frames;
mod http1_heads;
mod interim;
mod listener;
mod observed;
mod offer;
mod options;
mod record;
mod sampler;
mod serve;
mod turns;
mod unsent;

pub use frames::settings_frame;
pub use listener::{NOT_SENT_BYTES_MAX, listen};
pub use offer::client_preface;
pub use options::{TcpInfo, pacing_rate_max, set_pacing_rate_max, set_receive_buffer, tcp_info};
pub(crate) use serve::STALL_INTERVAL;

use crate::tls::ByAddress;
use crate::{Service, StackConfig};
use eyelevel_archive::Scheme;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;

/// The pause after an error of accept (too many open files, say), so that a persistent one does not
/// cause a busy loop.
const ACCEPT_REST: Duration = Duration::from_millis(10);
/// The limit of open connections, far more than a page opens; beyond it they wait in the backlog.
const CONNECTIONS_MAX: usize = 4096;

/// The first byte of a TLS record that holds a handshake (RFC 8446, section 5.1). An HTTP request
/// begins with its method, whose letters are all above it.
const TLS_HANDSHAKE: u8 = 22;

/// The protocol of a listener's connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ListenerScheme {
    /// TLS or cleartext, by the scheme of the port's origins.
    Always(Scheme),
    /// The scheme that each client's first byte shows: the port has origins of both schemes, as a
    /// server has that redirects cleartext to https.
    ByFirstByte,
}

impl ListenerScheme {
    /// Returns the scheme of this connection; `None` if the client sends nothing.
    async fn scheme(self, stream: &TcpStream) -> Option<Scheme> {
        let Self::Always(scheme) = self else {
            let mut first = [0];
            let peeking = stream.peek(&mut first);
            let read = tokio::time::timeout(serve::HANDSHAKE_TIMEOUT, peeking).await;
            return match read.ok()?.ok()? {
                0 => None,
                _ if first[0] == TLS_HANDSHAKE => Some(Scheme::Https),
                _ => Some(Scheme::Http),
            };
        };
        Some(scheme)
    }
}

/// Accepts connections on one listener until it is dropped, which drops every connection.
pub(crate) async fn accept(
    listener: TcpListener,
    listener_scheme: ListenerScheme,
    tls: ByAddress,
    stack: Arc<StackConfig>,
    service: Arc<Service>,
) {
    let mut connections = JoinSet::new();
    loop {
        while connections.try_join_next().is_some() {}
        if connections.len() >= CONNECTIONS_MAX {
            connections.join_next().await;
        }
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(ACCEPT_REST).await;
            continue;
        };
        let (tls, stack, service) = (tls.clone(), stack.clone(), service.clone());
        connections.spawn(async move {
            match listener_scheme.scheme(&stream).await {
                Some(Scheme::Https) => {
                    let local = stream.local_addr().ok().map(|local| local.ip());
                    let acceptor = TlsAcceptor::from(tls.get(local).clone());
                    serve::serve_tls(stream, acceptor, &stack, service).await;
                }
                Some(Scheme::Http) => serve::serve_cleartext(stream, service).await,
                None => (),
            }
        });
    }
}

//! The connection to the server behind a client's connection.

use std::net::IpAddr;
use std::sync::Arc;

use eyelevel_archive::Scheme;
use eyelevel_netns::socket_times::monotonic_ns;
use http::{Request, Response};
use hyper::body::{Body, Incoming};
use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls::pki_types::ServerName;
use tokio::net::TcpStream;
use tokio::sync::{Mutex, oneshot};
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

use crate::RecordError;
use crate::admission::target::Target;
use crate::certificate::Certificate;
use crate::connect::{CONNECT_TIMEOUT, connect};
use crate::refused::{self, FIELDS_MAX, HEAD_BYTES_MAX};
use crate::shared::Shared;
use crate::stamped::arrival::{Arrival, Stamped};
use crate::stamped::streams::{Expected, Streams, Times, Watched};
use crate::stamped::tap::{SharedHead, Tap};
use crate::tee::Tee;
use crate::upgrade;

/// Chromium's own windows (6 MB per stream, 15 MB per connection), so that the recorder does not
/// slow down transfers.
const STREAM_WINDOW_BYTES: u32 = 6 << 20;
const CONNECTION_WINDOW_BYTES: u32 = 15 << 20;
/// The attempts per request; the second is for a reused connection that the server had closed
/// meanwhile.
const ATTEMPTS: usize = 2;

/// The ALPN name of HTTP/2.
pub const ALPN_H2: &[u8] = b"h2";
/// The ALPN name of HTTP/1.1.
pub const ALPN_H1: &[u8] = b"http/1.1";

/// A connection to a server, reopened after the server closes it.
pub struct Upstream {
    shared: Arc<Shared>,
    target: Target,
    link: Mutex<Option<Link>>,
    /// Whether the chosen protocol is HTTP/2; the client's connection uses the same.
    is_h2: bool,
}

/// An open connection.
pub struct Link {
    sender: Sender,
    address: IpAddr,
    /// Whether it has carried a request before.
    is_reused: bool,
}

impl Link {
    fn new(sender: Sender, address: IpAddr) -> Self {
        Self {
            sender,
            address,
            is_reused: false,
        }
    }
}

enum Sender {
    H1(http1::SendRequest<Tee>, SharedHead),
    H2(http2::SendRequest<Tee>, Streams),
}

/// The beginning of a response.
pub struct Answer {
    /// The response; its body is still to come.
    pub response: Response<Incoming>,
    /// The server's address.
    pub address: IpAddr,
    /// The times of the request's last byte and the response's first.
    pub times: Times,
    /// The response's head as it was on the wire; HTTP/1 only.
    pub head: Option<SharedHead>,
    /// The response's stream; HTTP/2 only.
    pub stream: Option<Expected>,
}

impl Upstream {
    /// Creates an upstream for plain HTTP/1.1 that is not connected yet.
    pub fn plain(shared: Arc<Shared>, target: Target) -> Self {
        Self {
            shared,
            target,
            link: Mutex::new(None),
            is_h2: false,
        }
    }

    /// Starts TLS on an open connection; `alpn` lists what the client supports.
    pub async fn secure(
        shared: Arc<Shared>,
        target: Target,
        stream: TcpStream,
        alpn: Vec<Vec<u8>>,
    ) -> Result<Self, RecordError> {
        let (link, is_h2) = handshake(&shared, &target, stream, alpn).await?;
        Ok(Self {
            shared,
            target,
            link: Mutex::new(Some(link)),
            is_h2,
        })
    }

    /// Whether the server chose HTTP/2.
    pub fn is_h2(&self) -> bool {
        self.is_h2
    }

    /// Returns the server.
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// Sends a request for `url` and waits for the head of its response.
    pub async fn send(&self, url: &str, mut request: Request<Tee>) -> Result<Answer, RecordError> {
        let subject = format!("{} {url}", request.method());
        let mut reason = String::new();
        for _ in 0..ATTEMPTS {
            let mut kept = self.link.lock().await;
            let link = match kept.as_mut() {
                Some(link) => link,
                None => kept.insert(self.connect_again().await?),
            };
            if let Err(error) = link.sender.ready().await {
                (reason, *kept) = (refused::describe(&error, b""), None);
                continue;
            }
            let address = link.address;
            let repeat = link
                .is_reused
                .then(|| copy_without_body(&request))
                .flatten();
            link.is_reused = true;
            let handed_ns = monotonic_ns();
            let mut read_head = SharedHead::default();
            let mut stream = None;
            let sent = match &mut link.sender {
                Sender::H1(sender, head) => {
                    let head = head.clone();
                    read_head = head.clone();
                    head.lock().expect();
                    // Locked until the head arrives: HTTP/1.1 has one request at a time.
                    let answered = sender.try_send_request(request).await;
                    if answered.is_err() {
                        *kept = None;
                    }
                    answered.map(|response| {
                        let times = head.lock().times();
                        (response, times, Some(head))
                    })
                }
                Sender::H2(sender, streams) => {
                    let streams = streams.clone();
                    // One after the other, because their order identifies them.
                    let (expected, has_left) = streams.expect();
                    stream = Some(expected.clone());
                    let sending = sender.try_send_request(request);
                    drop(kept);
                    let answered = await_after_send(sending, has_left).await;
                    if answered.as_ref().is_none_or(Result::is_err) {
                        streams.lose();
                        *self.link.lock().await = None;
                    }
                    let Some(answered) = answered else {
                        reason = "its connection was dropped".to_owned();
                        break;
                    };
                    answered.map(|response| (response, expected.times(), None))
                }
            };
            match sent {
                Ok((response, times, head)) => {
                    let as_handed = || Times {
                        sent_ns: handed_ns,
                        first_byte_ns: monotonic_ns(),
                    };
                    return Ok(Answer {
                        response,
                        address,
                        times: times.unwrap_or_else(as_handed),
                        head,
                        stream,
                    });
                }
                Err(mut error) => {
                    reason = refused::describe(error.error(), read_head.lock().read());
                    if let Some(fault) = stream.and_then(|stream| stream.fault()) {
                        reason = format!("{reason}, {fault}");
                    }
                    // A server may close a kept connection while a request is on its way to it; a
                    // browser then sends the request again on a new one, as RFC 9112, section 9.3.1,
                    // allows.
                    let is_unanswered = !self.is_h2 && read_head.lock().read().is_empty();
                    match error.take_message().or(repeat.filter(|_| is_unanswered)) {
                        Some(unsent) => request = unsent,
                        None => break,
                    }
                }
            }
        }
        Err(RecordError::upstream("sending", subject, reason))
    }

    async fn connect_again(&self) -> Result<Link, RecordError> {
        let stream = connect(&self.shared, &self.target).await?;
        if self.target.scheme == Scheme::Http {
            let (address, stream) = (stream_address(&stream), Stamped::new(stream));
            let arrival = stream.arrival();
            return speak_h1(&self.target, address, stream, arrival).await;
        }
        let alpn = if self.is_h2 { ALPN_H2 } else { ALPN_H1 };
        let (link, is_h2) =
            handshake(&self.shared, &self.target, stream, vec![alpn.to_vec()]).await?;
        if is_h2 == self.is_h2 {
            Ok(link)
        } else {
            let subject = self.target.host.clone();
            let reason = "it chose another protocol than before";
            Err(RecordError::upstream("connecting to", subject, reason))
        }
    }
}

/// Returns a copy of a request that has no body; none of one that may have a body, which is gone
/// once it was sent, or that asks for another protocol.
fn copy_without_body(request: &Request<Tee>) -> Option<Request<Tee>> {
    if !request.body().is_end_stream() || upgrade::is_requested(request.headers()) {
        return None;
    }
    let mut copy = Request::new(Tee::empty());
    *copy.method_mut() = request.method().clone();
    *copy.uri_mut() = request.uri().clone();
    *copy.version_mut() = request.version();
    *copy.headers_mut() = request.headers().clone();
    *copy.extensions_mut() = request.extensions().clone();
    Some(copy)
}

impl Sender {
    async fn ready(&mut self) -> hyper::Result<()> {
        match self {
            Self::H1(sender, _) => sender.ready().await,
            Self::H2(sender, _) => sender.ready().await,
        }
    }
}

/// Awaits `sending`, which is cancelled with the caller, but not before `has_left`: a request that
/// hyper has not sent yet would leave its position to another one. Returns `None` if cancelled.
async fn await_after_send<T: Send + 'static>(
    sending: impl Future<Output = T> + Send + 'static,
    has_left: oneshot::Receiver<()>,
) -> Option<T> {
    let (mut answer_sender, answer) = oneshot::channel();
    tokio::spawn(async move {
        let given_up = async {
            let _ = has_left.await;
            answer_sender.closed().await;
        };
        let answered = tokio::select! {
            biased;
            answered = sending => Some(answered),
            () = given_up => None,
        };
        if let Some(answered) = answered {
            let _ = answer_sender.send(answered); // nobody waits any more
        }
    });
    answer.await.ok()
}

fn stream_address(stream: &TcpStream) -> IpAddr {
    let unknown = IpAddr::V4(std::net::Ipv4Addr::UNSPECIFIED);
    stream.peer_addr().map_or(unknown, |address| address.ip())
}

/// Performs the TLS handshake and starts the chosen protocol; returns whether that is HTTP/2.
async fn handshake(
    shared: &Shared,
    target: &Target,
    stream: TcpStream,
    alpn: Vec<Vec<u8>>,
) -> Result<(Link, bool), RecordError> {
    let failed =
        |reason: String| RecordError::upstream("the TLS handshake with", &target.host, reason);
    let address = stream_address(&stream);
    let name = ServerName::try_from(target.host.clone()).map_err(|e| failed(e.to_string()))?;
    let mut config = shared.client_tls.clone();
    config.alpn_protocols = alpn;
    let stream = Stamped::new(stream);
    let arrival = stream.arrival();
    let connecting = TlsConnector::from(Arc::new(config)).connect(name, stream);
    let stream = timeout(CONNECT_TIMEOUT, connecting)
        .await
        .map_err(|_| failed("no answer in 30 s".to_owned()))?
        .map_err(|error| failed(error.to_string()))?;
    let session = stream.get_ref().1;
    if let Some(certificate) = Certificate::from_chain(session.peer_certificates().unwrap_or(&[])) {
        shared
            .store
            .keep_certificate(&target.url_host(), certificate);
    }
    if session.alpn_protocol() != Some(ALPN_H2) {
        return Ok((speak_h1(target, address, stream, arrival).await?, false));
    }
    let (stream, streams) = Watched::new(stream, arrival);
    let (sender, connection) = http2::Builder::new(TokioExecutor::new())
        .initial_stream_window_size(STREAM_WINDOW_BYTES)
        .initial_connection_window_size(CONNECTION_WINDOW_BYTES)
        .max_header_list_size(HEAD_BYTES_MAX as u32)
        .handshake(TokioIo::new(stream))
        .await
        .map_err(|error| failed(error.to_string()))?;
    tokio::spawn(async move { drop(connection.await) }); // its requests say how it ended
    let sender = Sender::H2(sender, streams);
    Ok((Link::new(sender, address), true))
}

async fn speak_h1<S>(
    target: &Target,
    address: IpAddr,
    stream: S,
    arrival: Arrival,
) -> Result<Link, RecordError>
where
    S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin + Send + 'static,
{
    let (stream, head) = Tap::new(stream, arrival);
    // Chromium's leniency for heads: it skips lines that are not fields, and joins folded ones;
    // `head_repair` does what hyper has no options for.
    let (sender, connection) = http1::Builder::new()
        .preserve_header_case(true)
        .ignore_invalid_headers_in_responses(true)
        .allow_spaces_after_header_name_in_responses(true)
        .allow_obsolete_multiline_headers_in_responses(true)
        .max_headers(FIELDS_MAX)
        .max_header_size(HEAD_BYTES_MAX)
        .handshake(TokioIo::new(stream))
        .await
        .map_err(|error| RecordError::upstream("connecting to", &target.host, error))?;
    tokio::spawn(async move { drop(connection.with_upgrades().await) });
    let sender = Sender::H1(sender, head);
    Ok(Link::new(sender, address))
}

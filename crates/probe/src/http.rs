//! One request and its response, over HTTP/1.1 or HTTP/2.

use crate::{Answer, Failure, FailureClass};
use bytes::Bytes;
use http::{HeaderMap, Request, Response, Version};
use http_body_util::{BodyExt, Empty};
use hyper::body::Incoming;
use hyper::client::conn::{http1, http2};
use hyper::ext::ReasonPhrase;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::JoinSet;

/// The most bytes of a field's value that are kept.
const FIELD_BYTES_MAX: usize = 500;

/// The request to send.
#[derive(Clone, Debug)]
pub struct ProbeRequest {
    /// The host, with the port if it is not 443.
    pub authority: String,
    /// The path.
    pub path: String,
    /// The user agent.
    pub user_agent: String,
}

/// The head of a response.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Head {
    /// The status.
    pub status: u16,
    /// The field `Alt-Svc` (RFC 7838).
    pub alt_svc: Option<String>,
    /// The field `Server` (RFC 9110, section 10.2.4).
    pub server: Option<String>,
}

impl Head {
    /// Extracts the head of a response, whatever its HTTP version.
    pub fn new(status: u16, headers: &HeaderMap) -> Self {
        Self {
            status,
            alt_svc: text(headers, "alt-svc"),
            server: text(headers, "server"),
        }
    }
}

/// A response whose head has arrived; its connection ends with it.
pub struct Fetched {
    response: Response<Incoming>,
    _driver: JoinSet<()>,
}

impl Fetched {
    /// Returns the parts of the head that a row holds.
    pub fn head(&self) -> Head {
        Head::new(self.response.status().as_u16(), self.response.headers())
    }

    /// Returns the head as the server sent it.
    pub fn answer(&self) -> Answer {
        let status = self.response.status();
        let (version, reason) = match self.response.version() {
            Version::HTTP_2 => ("HTTP/2", None),
            Version::HTTP_10 => ("HTTP/1.0", Some(self.reason())),
            _ => ("HTTP/1.1", Some(self.reason())),
        };
        let mut answer = Answer::new(version, status.as_u16());
        answer.reason = reason;
        for (name, value) in self.response.headers() {
            answer.add_field(name.as_str().as_bytes(), value.as_bytes());
        }
        answer
    }

    /// Returns the server's reason phrase if it is not the usual one.
    fn reason(&self) -> String {
        match self.response.extensions().get::<ReasonPhrase>() {
            Some(own) => String::from_utf8_lossy(own.as_bytes()).into_owned(),
            None => self
                .response
                .status()
                .canonical_reason()
                .unwrap_or_default()
                .into(),
        }
    }

    /// Adds the beginning of the body, as far as it arrives; a body that ends with an error is
    /// incomplete.
    pub async fn read_body(&mut self, answer: &mut Answer) {
        let body = self.response.body_mut();
        loop {
            match body.frame().await {
                None => break answer.body_whole = true,
                Some(Err(_)) => break,
                Some(Ok(frame)) => {
                    let is_enough = frame.data_ref().is_some_and(|part| !answer.add_body(part));
                    if is_enough {
                        break;
                    }
                }
            }
        }
    }
}

/// Sends the request and waits for the head.
///
/// # Errors
/// The class and a description.
pub async fn fetch<S>(stream: S, is_h2: bool, request: &ProbeRequest) -> Result<Fetched, Failure>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let mut driver = JoinSet::new();
    let stream = TokioIo::new(stream);
    let target = if is_h2 {
        format!("https://{}{}", request.authority, request.path)
    } else {
        request.path.clone()
    };
    let mut built = Request::get(target).header("user-agent", &request.user_agent);
    if !is_h2 {
        built = built.header("host", &request.authority);
    }
    let request = built
        .header("accept", "*/*")
        .body(Empty::<Bytes>::new())
        .map_err(|error| Failure::new(FailureClass::Local, error))?;
    let response = if is_h2 {
        let (mut session, connection) = http2::handshake(TokioExecutor::new(), stream)
            .await
            .map_err(failure)?;
        driver.spawn(async move { drop(connection.await) });
        session.send_request(request).await.map_err(failure)?
    } else {
        let (mut session, connection) = http1::handshake(stream).await.map_err(failure)?;
        driver.spawn(async move { drop(connection.await) });
        session.send_request(request).await.map_err(failure)?
    };
    Ok(Fetched {
        response,
        _driver: driver,
    })
}

/// Returns the first field of the name, if it is visible ASCII.
fn text(headers: &HeaderMap, name: &str) -> Option<String> {
    let text = headers.get(name)?.to_str().ok()?;
    Some(text.chars().take(FIELD_BYTES_MAX).collect())
}

fn failure(error: hyper::Error) -> Failure {
    let source = std::error::Error::source(&error);
    if let Some(error) = source.and_then(|source| source.downcast_ref::<std::io::Error>()) {
        return Failure::from_socket(error, FailureClass::HttpProtocol);
    }
    let class = if error.is_incomplete_message() || error.is_canceled() || error.is_closed() {
        FailureClass::Closed
    } else {
        FailureClass::HttpProtocol
    };
    Failure::new(class, error)
}

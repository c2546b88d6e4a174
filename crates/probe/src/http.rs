//! One request and the head of its response, over HTTP/1.1 or HTTP/2.

use crate::{Failure, FailureClass};
use bytes::Bytes;
use http::{HeaderMap, Request};
use http_body_util::Empty;
use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::JoinSet;

/// Of a field's value; more is of no use.
const FIELD_BYTES_MAX: usize = 500;

/// What is asked for.
#[derive(Clone, Debug)]
pub struct Asked {
    /// The host, with the port where it is not 443.
    pub authority: String,
    /// The path.
    pub path: String,
    /// Who is asking.
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
    /// Of a response, whatever HTTP version it came over.
    pub fn of(status: u16, headers: &HeaderMap) -> Self {
        Self {
            status,
            alt_svc: text(headers, "alt-svc"),
            server: text(headers, "server"),
        }
    }
}

/// Sends the request and waits for the head; the connection ends with the call.
///
/// # Errors
/// The class and what was said.
pub async fn fetch_head<S>(stream: S, is_h2: bool, asked: &Asked) -> Result<Head, Failure>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let mut driver = JoinSet::new();
    let stream = TokioIo::new(stream);
    let target = if is_h2 {
        format!("https://{}{}", asked.authority, asked.path)
    } else {
        asked.path.clone()
    };
    let mut request = Request::get(target).header("user-agent", &asked.user_agent);
    if !is_h2 {
        request = request.header("host", &asked.authority);
    }
    let request = request
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
    Ok(Head::of(response.status().as_u16(), response.headers()))
}

/// The first field of the name, if it is visible ASCII.
fn text(headers: &HeaderMap, name: &str) -> Option<String> {
    let text = headers.get(name)?.to_str().ok()?;
    Some(text.chars().take(FIELD_BYTES_MAX).collect())
}

fn failure(error: hyper::Error) -> Failure {
    let source = std::error::Error::source(&error);
    if let Some(error) = source.and_then(|source| source.downcast_ref::<std::io::Error>()) {
        return Failure::of_socket(error, FailureClass::HttpProtocol);
    }
    let class = if error.is_incomplete_message() || error.is_canceled() || error.is_closed() {
        FailureClass::Closed
    } else {
        FailureClass::HttpProtocol
    };
    Failure::new(class, error)
}

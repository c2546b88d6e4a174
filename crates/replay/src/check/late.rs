//! An urgent request that is sent during another response, and how much of that response precedes
//! its answer.

use super::client::{Client, Session};
use crate::quic::H3Opener;
use bytes::{Buf, Bytes};
use h3::client::RequestStream;
use h3::quic::OpenStreams;
use http::{Request, Uri};
use http_body_util::{BodyExt, Full};
use serde::Serialize;
use std::time::Duration;

/// The priority of a bulk response: below images and above nothing (RFC 9218, section 4.1). The
/// late request has the highest urgency.
const PRIORITY: &str = "u=5";
const LATE_PRIORITY: &str = "u=0";

/// The times when an urgent request was sent and answered, and how much of the other body had
/// arrived at either, on the caller's clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct LateRequest {
    /// The time when the urgent request was sent.
    pub asked_ns: u64,
    /// The time when the first byte of its body was read.
    pub first_byte_ns: u64,
    /// Bytes of the other body that had arrived when the urgent request was sent.
    pub body_bytes_asked: u64,
    /// Bytes of the other body that had arrived with the urgent body's first byte.
    pub body_bytes_answered: u64,
}

impl Client {
    /// Gets `url`, requests `late_url` once `after_bytes` of its body arrived, and ends with the
    /// first byte of that second body. Works over HTTP/2 and HTTP/3 alone: HTTP/1.1 sends one
    /// response at a time.
    ///
    /// # Errors
    /// One line that names what failed.
    pub async fn fetch_with_late_request(
        &mut self,
        url: &str,
        late_url: &str,
        after_bytes: u64,
        duration_max: Duration,
        now_ns: impl Fn() -> u64,
    ) -> Result<LateRequest, String> {
        let run = self.fetch_late(url, late_url, after_bytes, now_ns);
        tokio::time::timeout(duration_max, run)
            .await
            .map_err(|_| format!("no answer within {} ms", duration_max.as_millis()))?
    }

    async fn fetch_late(
        &mut self,
        url: &str,
        late_url: &str,
        after_bytes: u64,
        now_ns: impl Fn() -> u64,
    ) -> Result<LateRequest, String> {
        let mut other = self
            .share()
            .ok_or("HTTP/1.1 has no second request on one connection")?;
        let mut body = Body::open(&mut self.session, url, PRIORITY).await?;
        let mut late = LateRequest::default();
        let mut came = 0;
        while came < after_bytes {
            came += body.next().await?.ok_or("the first body is too short")?;
        }
        late.asked_ns = now_ns();
        late.body_bytes_asked = came;
        let answered = async {
            let mut body = Body::open(&mut other.session, late_url, LATE_PRIORITY).await?;
            body.next().await?.ok_or("the urgent body is empty")?;
            Ok::<_, String>(now_ns())
        };
        tokio::pin!(answered);
        let mut is_open = true;
        late.first_byte_ns = loop {
            tokio::select! {
                biased;
                found = &mut answered => break found?,
                more = body.next(), if is_open => match more? {
                    Some(bytes) => came += bytes,
                    None => is_open = false,
                },
            }
        };
        late.body_bytes_answered = came;
        Ok(late)
    }
}

/// A response's body as it arrives.
enum Body {
    Hyper(hyper::body::Incoming),
    H3(Box<RequestStream<<H3Opener as OpenStreams<Bytes>>::BidiStream, Bytes>>),
}

impl Body {
    async fn open(session: &mut Session, url: &str, priority: &str) -> Result<Self, String> {
        let uri: Uri = url
            .parse()
            .map_err(|error| format!("the URL cannot be sent: {error}"))?;
        let request = Request::builder().uri(uri).header("priority", priority);
        let wrong = |error: http::Error| error.to_string();
        match session {
            Session::H1(_) => Err("HTTP/1.1 has one response at a time".to_owned()),
            Session::H2(session) => {
                let request = request.body(Full::new(Bytes::new())).map_err(wrong)?;
                let sent = session.send_request(request).await;
                let answer = sent.map_err(|error| format!("the request failed: {error}"))?;
                Ok(Self::Hyper(answer.into_body()))
            }
            Session::H3(session) => {
                let request = request.body(()).map_err(wrong)?;
                let asked = async {
                    let mut stream = session.send_request(request).await?;
                    stream.finish().await?;
                    stream.recv_response().await?;
                    Ok(Self::H3(Box::new(stream)))
                };
                asked
                    .await
                    .map_err(|error: h3::error::StreamError| format!("the request failed: {error}"))
            }
        }
    }

    /// Returns the number of bytes that arrived next; `None` at the end.
    async fn next(&mut self) -> Result<Option<u64>, String> {
        match self {
            Self::Hyper(body) => loop {
                let Some(frame) = body.frame().await else {
                    return Ok(None);
                };
                let frame = frame.map_err(|error| format!("the body broke off: {error}"))?;
                if let Ok(data) = frame.into_data() {
                    return Ok(Some(data.len() as u64));
                }
            },
            Self::H3(stream) => {
                let data = stream.recv_data().await;
                let data = data.map_err(|error| format!("the body broke off: {error}"))?;
                Ok(data.map(|data| data.remaining() as u64))
            }
        }
    }
}

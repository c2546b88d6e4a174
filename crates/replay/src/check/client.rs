use super::tickets::Tickets;
use crate::quic::H3Opener;
use bytes::{Buf, Bytes, BytesMut};
use eyelevel_archive::{Exchange, Header};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Uri};
use http_body_util::{BodyExt, Full};
use hyper::client::conn::{http1, http2};
use std::sync::Arc;
use tokio::task::JoinSet;

/// Fields of a recorded request that belong to its connection, or that the client generates.
const FIELDS_NOT_SENT: [&str; 12] = [
    "host",
    "connection",
    "keep-alive",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "content-length",
    "http2-settings",
    "expect",
    "upgrade-insecure-requests",
];
/// A response as it arrived.
#[derive(Clone, Debug)]
pub struct Fetched {
    /// The status.
    pub status: u16,
    /// The fields.
    pub headers: HeaderMap,
    /// The body, as coded.
    pub body: Bytes,
}

/// One connection to a server. Dropping it closes the connection.
pub struct Client {
    pub(super) session: Session,
    /// Drives the connection; it ends with the client.
    pub(super) _driver: JoinSet<()>,
    /// The size of the server's chain as DER; 0 in cleartext.
    pub(super) certificate_bytes: u64,
    /// The session tickets; `None` if the caller keeps them.
    pub(super) tickets: Option<Arc<Tickets>>,
}

pub(super) enum Session {
    H1(http1::SendRequest<Full<Bytes>>),
    H2(http2::SendRequest<Full<Bytes>>),
    H3(h3::client::SendRequest<H3Opener, Bytes>),
}

impl Client {
    /// Requests one recorded exchange, with its recorded fields and body.
    ///
    /// # Errors
    /// One line that names what failed.
    pub async fn fetch_exchange(&mut self, exchange: &Exchange) -> Result<Fetched, String> {
        let mut headers = HeaderMap::new();
        for field in &exchange.request_headers {
            if let Some((name, value)) = request_field(field) {
                headers.append(name, value);
            }
        }
        let method = Method::from_bytes(exchange.method.as_bytes())
            .map_err(|_| format!("the method {:?} cannot be sent", exchange.method))?;
        self.fetch(
            method,
            &exchange.url.to_string(),
            headers,
            exchange.request_body.clone(),
        )
        .await
    }

    /// Requests a URL.
    ///
    /// # Errors
    /// One line that names what failed.
    pub async fn fetch(
        &mut self,
        method: Method,
        url: &str,
        headers: HeaderMap,
        body: Bytes,
    ) -> Result<Fetched, String> {
        let uri: Uri = url
            .parse()
            .map_err(|error| format!("the URL cannot be sent: {error}"))?;
        let mut request = Request::new(());
        *request.method_mut() = method;
        *request.headers_mut() = headers;
        if !body.is_empty() {
            let length = HeaderValue::from(body.len());
            request.headers_mut().insert("content-length", length);
        }
        let failed = |error: hyper::Error| format!("the request failed: {error}");
        match &mut self.session {
            Session::H1(session) => {
                let authority = uri.authority().map_or("", |authority| authority.as_str());
                let host = HeaderValue::from_str(authority).map_err(|error| error.to_string())?;
                request.headers_mut().insert("host", host);
                let target = uri.path_and_query().map_or("/", |target| target.as_str());
                *request.uri_mut() = target.parse().map_err(|_| "the path cannot be sent")?;
                session.ready().await.map_err(failed)?;
                let sent = session.send_request(request.map(|()| Full::new(body)));
                collect(sent.await.map_err(failed)?).await
            }
            Session::H2(session) => {
                *request.uri_mut() = uri;
                session.ready().await.map_err(failed)?;
                let sent = session.send_request(request.map(|()| Full::new(body)));
                collect(sent.await.map_err(failed)?).await
            }
            Session::H3(session) => {
                *request.uri_mut() = uri;
                fetch_h3(session, request, body)
                    .await
                    .map_err(|error| format!("the request failed: {error}"))
            }
        }
    }

    /// Returns the bytes of the certificates that the server sent, as DER.
    #[must_use]
    pub fn certificate_bytes(&self) -> u64 {
        self.certificate_bytes
    }

    /// Returns the number of session tickets received so far; `None` if `connect`'s caller keeps
    /// them.
    #[must_use]
    pub fn tickets(&self) -> Option<u64> {
        self.tickets.as_ref().map(|tickets| tickets.count())
    }

    /// Returns a second handle on the same connection, for parallel requests; `None` over HTTP/1.1.
    pub fn share(&self) -> Option<Self> {
        let session = match &self.session {
            Session::H1(_) => return None,
            Session::H2(session) => Session::H2(session.clone()),
            Session::H3(session) => Session::H3(session.clone()),
        };
        Some(Self {
            session,
            _driver: JoinSet::new(),
            certificate_bytes: self.certificate_bytes,
            tickets: self.tickets.clone(),
        })
    }
}

fn request_field(field: &Header) -> Option<(HeaderName, HeaderValue)> {
    let is_pseudo = field.name.starts_with(':');
    if is_pseudo || FIELDS_NOT_SENT.iter().any(|name| field.is(name)) {
        return None;
    }
    let name = HeaderName::from_bytes(field.name.as_bytes()).ok()?;
    Some((name, HeaderValue::from_bytes(&field.value).ok()?))
}

async fn collect(response: http::Response<hyper::body::Incoming>) -> Result<Fetched, String> {
    let (parts, body) = response.into_parts();
    let body = body
        .collect()
        .await
        .map_err(|error| format!("the body broke off: {error}"))?;
    Ok(Fetched {
        status: parts.status.as_u16(),
        headers: parts.headers,
        body: body.to_bytes(),
    })
}

async fn fetch_h3(
    session: &mut h3::client::SendRequest<H3Opener, Bytes>,
    request: Request<()>,
    body: Bytes,
) -> Result<Fetched, h3::error::StreamError> {
    let mut stream = session.send_request(request).await?;
    if !body.is_empty() {
        stream.send_data(body).await?;
    }
    stream.finish().await?;
    let response = stream.recv_response().await?;
    let mut body = BytesMut::new();
    while let Some(mut data) = stream.recv_data().await? {
        while data.has_remaining() {
            let chunk = data.chunk();
            body.extend_from_slice(chunk);
            let length = chunk.len();
            data.advance(length);
        }
    }
    let (parts, ()) = response.into_parts();
    Ok(Fetched {
        status: parts.status.as_u16(),
        headers: parts.headers,
        body: body.freeze(),
    })
}

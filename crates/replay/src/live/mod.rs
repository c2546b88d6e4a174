//! A live build: a server outside of the lab that responds for the page's own origin. Other origins
//! are replayed from the recording.

mod body;
mod fields;
mod rewrite;

pub use body::LiveBody;
pub use rewrite::{Names, Rewriter};

use bytes::Bytes;
use eyelevel_archive::{Scheme, Url};
use eyelevel_units::refusal;
use fields::Forwarded;
use http::header::{self, HeaderValue};
use http::{HeaderMap, Method, Request, StatusCode};
use http_body_util::Full;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use serde::Serialize;
use std::io;
use std::net::{IpAddr, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The longest wait for the head of a response.
const HEAD_TIMEOUT: Duration = Duration::from_secs(60);
/// The value of the match field of a live build's responses, in place of one of the matcher's.
pub const LIVE_MATCH: &str = "live";

/// Opens a connection to the server; blocks until it is established.
pub type Dial = Arc<dyn Fn() -> io::Result<TcpStream> + Send + Sync>;

/// The address of a live build and the way to connect to it.
#[derive(Clone)]
pub struct LiveOptions {
    /// Opens a connection.
    pub dial: Dial,
    /// Authorities in the server's own URLs, such as `localhost:3000`.
    pub authorities: Vec<String>,
    /// The browser's address.
    pub client: IpAddr,
}

/// A request as the browser sent it.
#[derive(Clone, Copy, Debug)]
pub struct LiveRequest<'a> {
    /// The method.
    pub method: &'a Method,
    /// Path and query.
    pub target: &'a str,
    /// The fields.
    pub headers: &'a HeaderMap,
    /// The body.
    pub body: &'a [u8],
}

/// A response as the browser receives it.
#[derive(Debug)]
pub struct LiveAnswer {
    /// The status.
    pub status: StatusCode,
    /// The fields.
    pub headers: HeaderMap,
    /// The text of an error, if the server has no response.
    pub body: Bytes,
    /// The body that the server streams.
    pub stream: Option<LiveBody>,
}

/// Counts since the last visit.
#[derive(Clone, Debug, Default, Serialize)]
pub struct LiveSummary {
    /// Requests that the server answered.
    pub requests: u64,
    /// Rewritten header fields of responses.
    pub fields_rewritten: u64,
    /// Names of the local origin that were rewritten in bodies.
    pub names_rewritten: u64,
    /// Text bodies that were forwarded unsearched, since they are encoded or partial.
    pub bodies_unsearched: u64,
    /// Refused requests for another protocol (WebSocket).
    pub upgrades_refused: u64,
    /// Digest of the page's document as the server sent it; null if it is incomplete.
    pub document_sha256: Option<String>,
    /// Requests without a complete response.
    pub failed: u64,
    /// The reason of the first failure.
    pub failure: Option<String>,
}

/// Counters that response bodies share while they are streamed.
#[derive(Debug, Default)]
struct Counts(Mutex<LiveSummary>);

impl Counts {
    fn change(&self, change: impl FnOnce(&mut LiveSummary)) {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
    }

    fn fail(&self, reason: String) {
        self.change(|summary| {
            summary.failed += 1;
            summary.failure.get_or_insert(reason);
        });
    }

    fn document(&self, digest: String) {
        self.change(|summary| {
            summary.document_sha256.get_or_insert(digest);
        });
    }

    fn rewrote(&self, names: u64) {
        self.change(|summary| summary.names_rewritten += names);
    }
}

/// A live build at the origin of a page.
pub struct Live {
    page: Url,
    host: String,
    dial: Dial,
    names: Names,
    policies: Names,
    local_hosts: Vec<String>,
    client: IpAddr,
    counts: Arc<Counts>,
}

impl Live {
    /// Answers for the origin of `page`.
    pub fn new(page: &Url, options: LiveOptions) -> Self {
        let host = authority(page);
        let scheme = page.scheme.as_str();
        let authorities = &options.authorities;
        let local_hosts = authorities.iter().map(|each| match each.rsplit_once(':') {
            Some((host, _)) if rewrite::has_port(each) => host.to_owned(),
            _ => each.clone(),
        });
        Self {
            names: Names::new(authorities.iter().map(String::as_str), scheme, &host),
            policies: policies(authorities, scheme, &host),
            local_hosts: local_hosts.collect(),
            page: page.clone(),
            host,
            dial: options.dial,
            client: options.client,
            counts: Arc::default(),
        }
    }

    /// Whether it answers for this origin.
    pub fn is_at(&self, scheme: Scheme, host: &str, port: u16) -> bool {
        (self.page.scheme, &*self.page.host, self.page.port) == (scheme, host, port)
    }

    /// What happened since the last [`Self::restart`].
    pub fn summary(&self) -> LiveSummary {
        self.counts
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Counts anew.
    pub fn restart(&self) {
        self.counts
            .change(|summary| *summary = LiveSummary::default());
    }

    /// Asks the server. Where it gives no answer, one says why.
    pub async fn answer(&self, live_request: &LiveRequest<'_>) -> LiveAnswer {
        if live_request.headers.contains_key(header::UPGRADE) {
            self.counts.change(|summary| summary.upgrades_refused += 1);
            let why = "a live build has no WebSockets: hot reload and other upgrades are refused";
            return sentence(StatusCode::NOT_IMPLEMENTED, why);
        }
        self.counts.change(|summary| summary.requests += 1);
        match tokio::time::timeout(HEAD_TIMEOUT, self.forward(live_request)).await {
            Ok(Ok(reply)) => reply,
            Ok(Err(why)) => {
                self.counts.fail(why.clone());
                sentence(StatusCode::BAD_GATEWAY, &why)
            }
            Err(_) => {
                let why = format!("it gave no answer within {} s", HEAD_TIMEOUT.as_secs());
                self.counts.fail(why.clone());
                sentence(StatusCode::GATEWAY_TIMEOUT, &why)
            }
        }
    }

    async fn forward(&self, live_request: &LiveRequest<'_>) -> Result<LiveAnswer, String> {
        let dial = self.dial.clone();
        let dialled = tokio::task::spawn_blocking(move || dial());
        let stream = dialled.await.map_err(|error| error.to_string())?;
        let stream = stream.and_then(|stream| {
            stream.set_nonblocking(true)?;
            stream.set_nodelay(true)?;
            tokio::net::TcpStream::from_std(stream)
        });
        let stream =
            stream.map_err(|error| format!("it takes no connection: {}", refusal(&error)))?;
        let failed = |error: hyper::Error| format!("its answer cannot be read: {error}");
        let (mut sender, connection) = http1::handshake(TokioIo::new(stream))
            .await
            .map_err(failed)?;
        tokio::spawn(connection);
        let forwarded = Forwarded {
            host: &self.host,
            scheme: self.page.scheme.as_str(),
            client: self.client,
        };
        let mut request = Request::new(Full::new(Bytes::copy_from_slice(live_request.body)));
        *request.method_mut() = live_request.method.clone();
        *request.uri_mut() = live_request
            .target
            .parse()
            .map_err(|_| "its path cannot be sent".to_owned())?;
        *request.headers_mut() = fields::request(live_request.headers, &forwarded);
        let (parts, incoming) = sender
            .send_request(request)
            .await
            .map_err(failed)?
            .into_parts();
        let is_document = parts.status == StatusCode::OK
            && live_request.method == Method::GET
            && live_request.target == self.page.path_and_query;
        Ok(self.reply(parts.status, &parts.headers, incoming, is_document))
    }

    fn reply(
        &self,
        status: StatusCode,
        received: &HeaderMap,
        incoming: hyper::body::Incoming,
        is_document: bool,
    ) -> LiveAnswer {
        let local: Vec<&str> = self.local_hosts.iter().map(String::as_str).collect();
        let is_secure = self.page.scheme == Scheme::Https;
        let (mut headers, rewritten) =
            fields::answer(received, &self.names, &self.policies, &local, is_secure);
        let is_searched = fields::is_searched(status, &headers);
        if is_searched {
            // It may change; how the body ends says each protocol's own framing.
            headers.remove(header::CONTENT_LENGTH);
        }
        let is_unsearched = fields::is_text(&headers) && !is_searched;
        self.counts.change(|summary| {
            summary.fields_rewritten += rewritten;
            summary.bodies_unsearched += u64::from(is_unsearched);
        });
        let rewriter = is_searched.then(|| Rewriter::new(self.names.clone()));
        let stream = LiveBody::new(incoming, rewriter, is_document, self.counts.clone());
        LiveAnswer {
            status,
            headers,
            body: Bytes::new(),
            stream: Some(stream),
        }
    }
}

/// Names in a policy, whose sources may lack a scheme.
fn policies(authorities: &[String], scheme: &str, public: &str) -> Names {
    let mut names = Names::new(authorities.iter().map(String::as_str), scheme, public);
    names.add_hosts(authorities.iter().map(String::as_str), public);
    names
}

fn authority(page: &Url) -> String {
    if page.port == page.scheme.default_port() {
        page.host.clone()
    } else {
        format!("{}:{}", page.host, page.port)
    }
}

fn sentence(status: StatusCode, why: &str) -> LiveAnswer {
    let body = Bytes::from(format!("live build: {why}\n"));
    let mut headers = HeaderMap::new();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain"));
    headers.insert(header::CONTENT_LENGTH, HeaderValue::from(body.len()));
    LiveAnswer {
        status,
        headers,
        body,
        stream: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::poll_fn;
    use std::io::{BufRead, BufReader, Write};
    use std::net::{Ipv4Addr, TcpListener};
    use std::sync::mpsc;
    use std::thread;

    const HEAD: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 40\r\n\r\n";

    /// A build whose server does `serve` with each connection, after its request's head.
    fn live(mut serve: impl FnMut(&mut TcpStream) + Send + 'static) -> Live {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        thread::spawn(move || {
            while let Ok((mut stream, _)) = listener.accept() {
                let reader = BufReader::new(stream.try_clone().unwrap());
                let head = reader.lines().map(Result::unwrap);
                assert!(head.take_while(|line| !line.is_empty()).count() > 1);
                serve(&mut stream);
            }
        });
        let options = LiveOptions {
            dial: Arc::new(move || TcpStream::connect(address)),
            authorities: vec!["localhost:3000".into()],
            client: Ipv4Addr::LOCALHOST.into(),
        };
        Live::new(&"https://shop.test/".parse().unwrap(), options)
    }

    async fn ask(live: &Live, fields: &HeaderMap) -> LiveAnswer {
        let request = LiveRequest {
            method: &Method::GET,
            target: "/",
            headers: fields,
            body: b"",
        };
        live.answer(&request).await
    }

    async fn next(reply: &mut LiveAnswer) -> io::Result<Option<Bytes>> {
        let stream = reply.stream.as_mut().unwrap();
        poll_fn(|context| stream.poll_next(context)).await
    }

    #[tokio::test]
    async fn a_body_goes_on_as_it_comes_and_its_names_are_counted() {
        let (go_on, waiting) = mpsc::channel::<()>();
        let live = live(move |stream| {
            stream.write_all(HEAD).unwrap();
            stream.write_all(b"<p>first</p>").unwrap();
            // The rest is sent once the first part was received.
            waiting.recv().unwrap();
            stream.write_all(b"http://localhost:3000/second").unwrap();
        });
        let mut reply = ask(&live, &HeaderMap::new()).await;
        assert!(!reply.headers.contains_key("content-length"));
        assert_eq!(next(&mut reply).await.unwrap().unwrap(), "<p>first</p>");
        go_on.send(()).unwrap();
        let mut rest = Vec::new();
        while let Some(bytes) = next(&mut reply).await.unwrap() {
            rest.extend_from_slice(&bytes);
        }
        assert_eq!(rest, b"https://shop.test/second");
        let seen = live.summary();
        assert_eq!(
            (seen.requests, seen.names_rewritten, seen.failed),
            (1, 1, 0)
        );
        assert_eq!(seen.document_sha256.unwrap().len(), 64);
        live.restart();
        assert_eq!(live.summary().requests, 0);
    }

    #[tokio::test]
    async fn a_server_that_breaks_off_or_is_gone_has_failed() {
        let broken = live(|stream| stream.write_all(HEAD).unwrap());
        let mut reply = ask(&broken, &HeaderMap::new()).await;
        assert!(next(&mut reply).await.is_err());
        let why = broken.summary().failure.unwrap();
        assert!(why.starts_with("its body broke off"), "{why}");
        let silent = live(|_| ());
        let reply = ask(&silent, &HeaderMap::new()).await;
        assert_eq!(reply.status, StatusCode::BAD_GATEWAY);
        assert_eq!(
            (silent.summary().failed, silent.summary().document_sha256),
            (1, None)
        );
    }

    #[tokio::test]
    async fn another_protocol_is_refused_without_asking_the_server() {
        let live = live(|_| panic!("it was asked"));
        let mut fields = HeaderMap::new();
        fields.insert(header::UPGRADE, HeaderValue::from_static("websocket"));
        let reply = ask(&live, &fields).await;
        assert_eq!(reply.status, StatusCode::NOT_IMPLEMENTED);
        let seen = live.summary();
        assert_eq!(
            (seen.requests, seen.upgrades_refused, seen.failed),
            (0, 1, 0)
        );
    }
}

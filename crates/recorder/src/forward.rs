//! One exchange: on its way to the server and back, and into the store.

use std::sync::{Arc, PoisonError};

use bytes::Bytes;
use eyelevel_archive::{Header, Url, response_head};
use eyelevel_netns::socket_times::monotonic_ns;
use http::{Request, Response, StatusCode, Uri, Version};
use http_body_util::{Either, Full};
use hyper::body::Incoming;

use crate::RecordError;
use crate::admission::authority::check_authority;
use crate::admission::target::Target;
use crate::pending::{Pending, ResponseStart, SharedBody, listed};
use crate::privacy;
use crate::shared::Shared;
use crate::stamped::tap::SharedHead;
use crate::store::unix_ms;
use crate::tee::Tee;
use crate::upgrade;
use crate::upstream::Upstream;

/// What the proxy answers with: a body that is kept while it passes, or a sentence of its own.
pub type Reply = Response<Either<Tee, Full<Bytes>>>;

/// A reply of the proxy itself.
pub fn sentence(status: StatusCode, text: &str) -> Reply {
    let mut response = Response::new(Either::Right(Full::new(Bytes::from(text.to_owned()))));
    *response.status_mut() = status;
    response
}

/// What a page is told that asks for what it may not reach.
pub fn refusal(error: &RecordError) -> Reply {
    sentence(StatusCode::FORBIDDEN, &format!("{error}\n"))
}

/// Sends the request on, and its response back; both are kept on the way.
pub async fn forward(
    shared: Arc<Shared>,
    upstream: Arc<Upstream>,
    mut request: Request<Incoming>,
    head: Option<SharedHead>,
) -> Reply {
    let store = shared.store.clone();
    if let Err(named) = check_authority(&request, upstream.target()) {
        let reason = format!(
            "a request for {named} on the way to {}",
            upstream.target().authority()
        );
        store.refuse(&reason);
        let error = RecordError::Refused { reason };
        return sentence(StatusCode::MISDIRECTED_REQUEST, &format!("{error}\n"));
    }
    let ticket = store.begin();
    let url = url_of(&request, upstream.target());
    let head = head.and_then(|head| head.lock().take());
    let mut pending = Pending {
        method: request.method().clone(),
        request_headers: request_headers(&request, head),
        started_unix_ms: unix_ms(),
        url: url.unwrap_or_else(|| request.uri().to_string()),
        request_body: SharedBody::default(),
        end: Some((store, ticket)),
    };
    let client = upgrade::is_asked(request.headers()).then(|| hyper::upgrade::on(&mut request));
    let outgoing = outgoing(request, &upstream, &shared, pending.request_body.clone());
    let mut answer = match upstream.send(&pending.url, outgoing).await {
        Ok(answer) => answer,
        Err(error @ RecordError::Refused { .. }) => {
            pending.withdraw();
            return refusal(&error);
        }
        Err(error) => {
            pending.leave_out(error.to_string());
            return sentence(StatusCode::BAD_GATEWAY, &format!("{error}\n"));
        }
    };
    if answer.response.status() == StatusCode::SWITCHING_PROTOCOLS {
        let server = hyper::upgrade::on(&mut answer.response);
        if let Some(client) = client {
            upgrade::pass_through(client, server);
        }
        pending.leave_out(format!("{}: a WebSocket or other upgrade", pending.url));
    }
    let budget = shared.store.budget.clone();
    let start = ResponseStart::of(&answer);
    let (parts, body) = answer.response.into_parts();
    let answering = shared.store.under_way.begin();
    let body = Tee::of_answer(body, budget, move |ended| {
        pending.finish(start, ended);
        drop(answering);
    });
    Response::from_parts(parts, Either::Left(body))
}

/// The URL that the client asked for, as it would be read back; its host is the one that is asked.
fn url_of(request: &Request<Incoming>, target: &Target) -> Option<String> {
    let path = request.uri().path_and_query()?;
    let url: Url = format!("{}://{}{path}", target.scheme, target.authority())
        .parse()
        .ok()?;
    Some(url.to_string())
}

/// The fields as they were on the wire, in HTTP/1.1 form.
fn request_headers(request: &Request<Incoming>, head: Option<Bytes>) -> Vec<Header> {
    // The head of a request parses as a response's does, but for its first line.
    let as_response = head.and_then(|head| {
        let fields = head.iter().position(|&byte| byte == b'\n')?;
        Some([b"HTTP/1.1 200\r\n", &head[fields + 1..]].concat())
    });
    let raw = as_response.and_then(|head| response_head(&head.into()).ok());
    if let Some((_, headers)) = raw.filter(|(_, raw)| raw.len() == request.headers().len()) {
        return headers;
    }
    let mut headers = listed(request.headers());
    if let (Version::HTTP_2, Some(authority)) = (request.version(), request.uri().authority()) {
        headers.insert(0, Header::new("host", authority.as_str().to_owned()));
    }
    headers
}

/// The request as the server gets it: without what was meant for the proxy.
fn outgoing(
    request: Request<Incoming>,
    upstream: &Upstream,
    shared: &Shared,
    kept: SharedBody,
) -> Request<Tee> {
    let (mut parts, body) = request.into_parts();
    // Made anew: removing from the map would change the order of the others.
    parts.headers = parts
        .headers
        .iter()
        .filter(|(name, _)| !privacy::is_of_the_proxy(name.as_str()))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    if upstream.is_h2() {
        parts.version = Version::HTTP_2;
    } else {
        let path = parts.uri.path_and_query().map_or("/", |path| path.as_str());
        parts.uri = path.parse().unwrap_or(Uri::from_static("/"));
        parts.version = Version::HTTP_11;
    }
    let on_end = move |ended| {
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        *kept = Some((ended, monotonic_ns()));
    };
    let body = Tee::of_request(body, shared.store.budget.clone(), on_end);
    Request::from_parts(parts, body)
}

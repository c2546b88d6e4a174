//! Forwards an exchange to the server and back, and into the store.

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
use crate::pending::{Pending, ResponseStart, SharedBody, list_fields};
use crate::privacy;
use crate::shared::Shared;
use crate::stamped::tap::SharedHead;
use crate::store::unix_ms;
use crate::tee::Tee;
use crate::upgrade;
use crate::upstream::Upstream;

/// A response of the proxy: a body that is recorded as it passes, or a sentence of its own.
pub type Reply = Response<Either<Tee, Full<Bytes>>>;

/// Creates a response of the proxy itself.
pub fn respond_with(status: StatusCode, text: &str) -> Reply {
    let mut response = Response::new(Either::Right(Full::new(Bytes::from(text.to_owned()))));
    *response.status_mut() = status;
    response
}

/// Creates the response for a request that the page may not make.
pub fn respond_refused(error: &RecordError) -> Reply {
    respond_with(StatusCode::FORBIDDEN, &format!("{error}\n"))
}

/// Forwards the request and its response, and records both on the way.
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
        return respond_with(StatusCode::MISDIRECTED_REQUEST, &format!("{error}\n"));
    }
    let ticket = store.begin();
    let url = requested_url(&request, upstream.target());
    let head = head.and_then(|head| head.lock().take());
    let mut pending = Pending {
        method: request.method().clone(),
        request_headers: request_headers(&request, head),
        started_unix_ms: unix_ms(),
        url: url.unwrap_or_else(|| request.uri().to_string()),
        request_body: SharedBody::default(),
        end: Some((store, ticket)),
    };
    let client = upgrade::is_requested(request.headers()).then(|| hyper::upgrade::on(&mut request));
    let outgoing = convert_request(request, &upstream, &shared, pending.request_body.clone());
    let mut answer = match upstream.send(&pending.url, outgoing).await {
        Ok(answer) => answer,
        Err(error @ RecordError::Refused { .. }) => {
            pending.withdraw();
            return respond_refused(&error);
        }
        Err(error) => {
            pending.leave_out(error.to_string());
            return respond_with(StatusCode::BAD_GATEWAY, &format!("{error}\n"));
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

/// Returns the URL that the client requested, normalised, or `None` if its host is not the
/// target's.
fn requested_url(request: &Request<Incoming>, target: &Target) -> Option<String> {
    let path = request.uri().path_and_query()?;
    let url: Url = format!("{}://{}{path}", target.scheme, target.authority())
        .parse()
        .ok()?;
    Some(url.to_string())
}

/// Returns the fields as they were on the wire, in HTTP/1.1 form.
fn request_headers(request: &Request<Incoming>, head: Option<Bytes>) -> Vec<Header> {
    // A request's head parses like a response's, except for its first line.
    let as_response = head.and_then(|head| {
        let fields = head.iter().position(|&byte| byte == b'\n')?;
        Some([b"HTTP/1.1 200\r\n", &head[fields + 1..]].concat())
    });
    let raw = as_response.and_then(|head| response_head(&head.into()).ok());
    if let Some((_, headers)) = raw.filter(|(_, raw)| raw.len() == request.headers().len()) {
        return headers;
    }
    let mut headers = list_fields(request.headers());
    if let (Version::HTTP_2, Some(authority)) = (request.version(), request.uri().authority()) {
        headers.insert(0, Header::new("host", authority.as_str().to_owned()));
    }
    headers
}

/// Converts the client's request to the server's, without the fields for the proxy.
fn convert_request(
    request: Request<Incoming>,
    upstream: &Upstream,
    shared: &Shared,
    kept: SharedBody,
) -> Request<Tee> {
    let (mut parts, body) = request.into_parts();
    // Rebuilt, because removing from the map would change the order of the others.
    parts.headers = parts
        .headers
        .iter()
        .filter(|(name, _)| !privacy::is_proxy_field(name.as_str()))
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

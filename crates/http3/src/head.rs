//! Converts heads of messages between the fields of crate `http` and field sections (RFC 9114,
//! section 4.3).

use crate::error::{Code, Error};
use crate::qpack::{Field, FieldLine, Indexing};
use http::header::{self, HeaderName, HeaderValue};
use http::uri::{Authority, PathAndQuery, Scheme};
use http::{HeaderMap, Method, Request, Response, StatusCode, Uri};

/// Fields whose values seldom repeat. They are those that h2's HPACK keeps out of its table, so
/// that the same fields are in both.
const SKIPPED: [HeaderName; 9] = [
    header::AGE,
    header::AUTHORIZATION,
    header::CONTENT_LENGTH,
    header::COOKIE,
    header::ETAG,
    header::IF_MODIFIED_SINCE,
    header::IF_NONE_MATCH,
    header::LOCATION,
    header::SET_COOKIE,
];
/// Connection-specific fields of HTTP/1.1 (RFC 9114, section 4.2).
const OF_CONNECTIONS: [&[u8]; 5] = [
    b"connection",
    b"keep-alive",
    b"proxy-connection",
    b"transfer-encoding",
    b"upgrade",
];

/// Returns the field lines of a response's head.
pub fn response_lines<'a>(
    status: &'a StatusCode,
    headers: &'a HeaderMap,
) -> impl Iterator<Item = FieldLine<'a>> {
    let status = pseudo(b":status", status.as_str().as_bytes());
    std::iter::once(status).chain(field_lines(headers))
}

/// Returns the field lines of a request's head, in Chromium's order of pseudo-fields.
pub fn request_lines<'a>(
    method: &'a Method,
    uri: &'a Uri,
    headers: &'a HeaderMap,
) -> impl Iterator<Item = FieldLine<'a>> {
    let authority = uri.authority().map_or("", |authority| authority.as_str());
    let path = uri.path_and_query().map_or("/", |target| target.as_str());
    let path = FieldLine {
        indexing: Indexing::Skipped,
        ..pseudo(b":path", path.as_bytes())
    };
    [
        pseudo(b":method", method.as_str().as_bytes()),
        pseudo(b":authority", authority.as_bytes()),
        pseudo(b":scheme", uri.scheme_str().unwrap_or("https").as_bytes()),
        path,
    ]
    .into_iter()
    .chain(field_lines(headers))
}

fn pseudo<'a>(name: &'static [u8], value: &'a [u8]) -> FieldLine<'a> {
    FieldLine {
        name,
        value,
        indexing: Indexing::Allowed,
    }
}

fn field_lines(headers: &HeaderMap) -> impl Iterator<Item = FieldLine<'_>> {
    let mut last = None;
    headers.iter().map(move |(name, value)| {
        // As h2, which puts only the first field of a name into its table.
        let is_repeated = last.replace(name) == Some(name);
        let indexing = if value.is_sensitive() {
            Indexing::Never
        } else if is_repeated || SKIPPED.contains(name) {
            Indexing::Skipped
        } else {
            Indexing::Allowed
        };
        FieldLine {
            name: name.as_str().as_bytes(),
            value: value.as_bytes(),
            indexing,
        }
    })
}

/// Builds a request from its field section.
///
/// # Errors
/// A malformed one (RFC 9114, section 4.1.2), with the scope of its stream.
pub fn request(fields: Vec<Field>) -> Result<Request<()>, Error> {
    let mut pseudo = Pseudo::default();
    let headers = parse_fields(fields, |name, value| match name {
        b":method" => set_once(&mut pseudo.method, value),
        b":scheme" => set_once(&mut pseudo.scheme, value),
        b":authority" => set_once(&mut pseudo.authority, value),
        b":path" => set_once(&mut pseudo.path, value),
        _ => Err(malformed("a pseudo-field that requests do not have")),
    })?;
    let mut request = Request::new(());
    *request.method_mut() = (pseudo.method.as_deref())
        .and_then(|method| Method::from_bytes(method).ok())
        .ok_or(malformed("no method"))?;
    *request.uri_mut() = pseudo.uri(request.method(), &headers)?;
    *request.headers_mut() = headers;
    Ok(request)
}

/// Builds a response from its field section.
///
/// # Errors
/// A malformed one, with the scope of its stream.
pub fn response(fields: Vec<Field>) -> Result<Response<()>, Error> {
    let mut status = None;
    let headers = parse_fields(fields, |name, value| match name {
        b":status" => set_once(&mut status, value),
        _ => Err(malformed("a pseudo-field that responses do not have")),
    })?;
    let mut response = Response::new(());
    *response.status_mut() = (status.as_deref())
        .and_then(|status| StatusCode::from_bytes(status).ok())
        .ok_or(malformed("no status"))?;
    *response.headers_mut() = headers;
    Ok(response)
}

#[derive(Default)]
struct Pseudo {
    method: Option<Vec<u8>>,
    scheme: Option<Vec<u8>>,
    authority: Option<Vec<u8>>,
    path: Option<Vec<u8>>,
}

impl Pseudo {
    /// Builds the request's URI (RFC 9114, section 4.3.1).
    fn uri(&self, method: &Method, headers: &HeaderMap) -> Result<Uri, Error> {
        let host = headers.get(header::HOST).map(HeaderValue::as_bytes);
        let authority = self.authority.as_deref();
        if let (Some(host), Some(authority)) = (host, authority)
            && host != authority
        {
            return Err(malformed("host is not the authority"));
        }
        let authority = authority.or(host).filter(|authority| !authority.is_empty());
        let authority = authority.ok_or(malformed("no authority"))?;
        let authority = Authority::try_from(authority).map_err(|_| malformed("no authority"))?;
        let mut parts = http::uri::Parts::default();
        parts.authority = Some(authority);
        match (method, &self.scheme, &self.path) {
            (&Method::CONNECT, None, None) => {}
            (&Method::CONNECT, ..) => return Err(malformed("CONNECT with a path or a scheme")),
            (_, Some(scheme), Some(path)) => {
                let scheme = Scheme::try_from(&scheme[..]).map_err(|_| malformed("no scheme"))?;
                let path = PathAndQuery::try_from(&path[..]).map_err(|_| malformed("no path"))?;
                parts.scheme = Some(scheme);
                parts.path_and_query = Some(path);
            }
            _ => return Err(malformed("no path or no scheme")),
        }
        Uri::from_parts(parts).map_err(|_| malformed("no target"))
    }
}

fn parse_fields(
    fields: Vec<Field>,
    mut pseudo: impl FnMut(&[u8], &[u8]) -> Result<(), Error>,
) -> Result<HeaderMap, Error> {
    let mut headers = HeaderMap::with_capacity(fields.len());
    for Field { name, value } in fields {
        if name.first() == Some(&b':') {
            if !headers.is_empty() {
                return Err(malformed("a pseudo-field after a field"));
            }
            pseudo(&name, &value)?;
            continue;
        }
        if name.iter().any(u8::is_ascii_uppercase) {
            return Err(malformed("a name in upper case"));
        }
        if OF_CONNECTIONS.contains(&&name[..]) || (&name[..] == b"te" && &value[..] != b"trailers")
        {
            return Err(malformed("a field of HTTP/1.1's connections"));
        }
        let name = HeaderName::from_bytes(&name).map_err(|_| malformed("no field's name"))?;
        let value =
            HeaderValue::from_maybe_shared(value).map_err(|_| malformed("no field's value"))?;
        headers.append(name, value);
    }
    Ok(headers)
}

fn set_once(place: &mut Option<Vec<u8>>, value: &[u8]) -> Result<(), Error> {
    match place.replace(value.to_vec()) {
        None => Ok(()),
        Some(_) => Err(malformed("a pseudo-field twice")),
    }
}

const fn malformed(reason: &'static str) -> Error {
    Error::stream(Code::MessageError, reason)
}

//! Finds the objects that a page's server can name in a 103 (Early Hints, RFC 8297) before it has
//! the page: those of the recording that hold up the first paint.

use std::collections::BTreeSet;

use eyelevel_archive::{Exchange, Header, Url};
use httpdate::parse_http_date;
use serde::Serialize;

use crate::actions::is_same_origin;
use crate::error::{Error, Reason};
use crate::markup::blocking::{BlockingObject, find_blocking};
use crate::workspace::Workspace;

/// The largest value of the field `Link`: servers and proxies refuse heads beyond 8 KiB by default.
const LINK_BYTES_MAX: usize = 8 << 10;

/// The objects that a page's Early Hints name.
#[derive(Debug, Clone, Serialize)]
pub struct EarlyHints {
    /// The document.
    pub page: Url,
    /// The value of the field `Link`.
    pub link: String,
    /// The named objects, in the document's order.
    pub hinted: Vec<Url>,
    /// The render-blocking objects that are not named.
    pub left_out: Vec<LeftOut>,
}

/// A render-blocking object that is not named.
#[derive(Debug, Clone, Serialize)]
pub struct LeftOut {
    /// The URL.
    pub url: Url,
    /// The reason, as the end of a sentence that begins with the URL.
    pub reason: &'static str,
}

/// Returns the Early Hints of the page of a recording whose start is `main_url`: the style sheets
/// and synchronous scripts in its head that are of its own origin.
///
/// # Errors
///
/// Fails if the page is no document, or if no object can be named.
pub fn find_early_hints(exchanges: &[Exchange], main_url: &Url) -> Result<EarlyHints, Error> {
    let mut workspace = Workspace::new(exchanges.to_vec(), main_url);
    let page = workspace.page.clone();
    let refused = |reason| Error::EarlyHints {
        url: page.to_string(),
        reason,
    };
    let blocking = read_blocking(&mut workspace).map_err(refused)?;
    let mut hints = EarlyHints {
        page: page.clone(),
        link: String::new(),
        hinted: Vec::new(),
        left_out: Vec::new(),
    };
    let mut seen = BTreeSet::new();
    for object in blocking {
        if !seen.insert(object.url.clone()) {
            continue;
        }
        let field = write_link(&object);
        let bytes = hints.link.len() + ", ".len() + field.len();
        let is_full = (bytes > LINK_BYTES_MAX).then_some("exceeds the 8 KiB of the field `Link`");
        match find_obstacle(&workspace, &object).or(is_full) {
            Some(reason) => hints.left_out.push(LeftOut {
                url: object.url,
                reason,
            }),
            None => {
                let separator = if hints.link.is_empty() { "" } else { ", " };
                hints.link = format!("{}{separator}{field}", hints.link);
                hints.hinted.push(object.url);
            }
        }
    }
    if hints.hinted.is_empty() {
        return Err(refused(describe_nothing(&hints.left_out)));
    }
    Ok(hints)
}

fn read_blocking(workspace: &mut Workspace) -> Result<Vec<BlockingObject>, Reason> {
    let page = workspace.page.clone();
    let mut objects = workspace.objects.iter_mut();
    let document = objects
        .find(|object| object.exchange.url == page && object.is_document())
        .ok_or("it was recorded as no HTML document; leave `early_hints` out")?;
    find_blocking(&document.document()?)
}

/// Returns why an object cannot be named.
fn find_obstacle(workspace: &Workspace, object: &BlockingObject) -> Option<&'static str> {
    if !is_same_origin(&object.url, &workspace.page) {
        return Some("is of another origin");
    }
    if !object.media.is_empty() {
        return Some("has a media query, which no server can evaluate");
    }
    let recorded = workspace.objects.iter();
    let mut recorded = recorded.filter(|each| each.exchange.url == object.url && each.is_whole());
    let Some(recorded) = recorded.next() else {
        return Some("was not recorded");
    };
    find_cache_obstacle(&recorded.exchange)
}

/// Returns why a browser would fetch an object again that it has by a hint: both requests share
/// nothing but its HTTP cache (RFC 9111, sections 4.2 and 5.2.2).
fn find_cache_obstacle(exchange: &Exchange) -> Option<&'static str> {
    if find_directive(exchange, "no-store").is_some() {
        return Some("is `no-store`: the browser would fetch it twice");
    }
    let field = |name: &str| exchange.response_header(name);
    let has_validator = field("etag").is_some() || field("last-modified").is_some();
    if has_validator {
        return None;
    }
    let age_s_max = find_directive(exchange, "max-age").map(|value| value.parse::<u64>().ok());
    let date = |name: &str| parse_http_date(field(name)?.trim()).ok();
    let is_fresh = match age_s_max {
        _ if find_directive(exchange, "no-cache").is_some() => false,
        Some(age_s_max) => age_s_max.is_some_and(|age_s_max| age_s_max > 0),
        // Without a date the time of arrival counts.
        None => date("expires").is_some_and(|expires| match date("date") {
            Some(date) => expires > date,
            None => true,
        }),
    };
    (!is_fresh).then_some("is stale at once and has no validator: the browser would fetch it twice")
}

/// Returns the value of a directive of a response's `Cache-Control`, empty if it has none.
fn find_directive<'a>(exchange: &'a Exchange, directive: &str) -> Option<&'a str> {
    let fields = exchange.response_headers.iter();
    let values = fields.filter(|field| field.is("cache-control"));
    let directives = values
        .filter_map(Header::text)
        .flat_map(|value| value.split(','));
    directives
        .map(|each| each.split_once('=').unwrap_or((each, "")))
        .find(|(name, _)| name.trim().eq_ignore_ascii_case(directive))
        .map(|(_, value)| value.trim().trim_matches('"'))
}

/// Returns an object's part of the field `Link` (RFC 8288, section 3).
fn write_link(object: &BlockingObject) -> String {
    let crossorigin = match object.crossorigin.as_deref() {
        None => "",
        Some(value) if value.eq_ignore_ascii_case("use-credentials") => {
            "; crossorigin=use-credentials"
        }
        Some(_) => "; crossorigin",
    };
    // The bracket at its end is in no path or query, where URLs have it escaped.
    let target = &object.url.path_and_query;
    format!(
        "<{target}>; rel=preload; as={}{crossorigin}",
        object.destination
    )
}

fn describe_nothing(left_out: &[LeftOut]) -> Reason {
    match left_out.first() {
        None => {
            "no style sheet or synchronous script is in its head; leave `early_hints` out".into()
        }
        Some(first) => format!(
            "{} {}, and no other object holds up its first paint; leave `early_hints` out",
            first.url, first.reason
        ),
    }
}

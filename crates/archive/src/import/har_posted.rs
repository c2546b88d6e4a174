//! The bodies of a HAR's requests.

use super::har_log::{PostData, Request};
use super::json_loose::Fields;
use crate::base64;
use crate::exchange::header::{self, Header};
use crate::whole::parse_declared_length;

/// The largest form that is encoded from its parameters, bytes.
const FORM_BYTES_MAX: usize = 1 << 20;

/// A request's body, and how complete the HAR has it.
pub struct Posted {
    /// The body's bytes.
    pub bytes: Vec<u8>,
    /// Whether the bytes were encoded from the parameters of a form.
    pub is_written: bool,
    /// Whether the sent body was longer.
    pub is_cut: bool,
}

impl Posted {
    /// Returns the body of a request with these fields.
    pub fn from_request(request: &Request<'_>, headers: &[Header]) -> Self {
        let post = request.post_data.0.as_ref();
        let text = post.and_then(|post| post.text.text()).unwrap_or_default();
        let of_form = || post.and_then(|post| form(post, headers));
        let is_written = text.is_empty();
        let bytes = match (is_written, post) {
            (false, Some(post)) if is_base64(post) => {
                base64::decode(text.clone()).unwrap_or_else(|| text.into_bytes())
            }
            (false, _) => text.into_bytes(),
            (true, _) => of_form().unwrap_or_default(),
        };
        let counted = request.body_size.integer().unwrap_or(0);
        let is_cut = declared_bytes(headers).is_some_and(|declared| bytes.len() < declared)
            || (bytes.is_empty() && counted > 0);
        Self {
            is_written: is_written && !bytes.is_empty(),
            is_cut,
            bytes,
        }
    }
}

/// Whether the text is declared as base64, an extension of HAR 1.2.
fn is_base64(post: &PostData<'_>) -> bool {
    [&post.encoding, &post.own_encoding].iter().any(|encoding| {
        let encoding = encoding.text().unwrap_or_default();
        encoding.trim().eq_ignore_ascii_case("base64")
    })
}

fn declared_bytes(headers: &[Header]) -> Option<usize> {
    parse_declared_length(headers)?.try_into().ok()
}

/// Returns the body of a form that the HAR has as names and values: percent-encoded, or unchanged
/// if the declared length shows that they were sent so.
fn form(post: &PostData<'_>, headers: &[Header]) -> Option<Vec<u8>> {
    let kind = header::find(headers, "content-type").map(str::to_owned);
    let kind = kind.or_else(|| post.mime_type.text())?;
    let kind = kind.split(';').next()?.trim();
    let Fields::List(params) = &post.params else {
        return None;
    };
    if !kind.eq_ignore_ascii_case("application/x-www-form-urlencoded") {
        return None;
    }
    let mut pairs = Vec::with_capacity(params.len());
    let mut bytes = params.len().saturating_sub(1);
    for param in params {
        let name = param.name.word().unwrap_or_default();
        let value = param.value.word().unwrap_or_default();
        bytes += name.len() + value.len() + 1;
        if bytes > FORM_BYTES_MAX {
            return None;
        }
        pairs.push((name, value));
    }
    if declared_bytes(headers) == Some(bytes) {
        let pairs = pairs.iter().map(|(name, value)| format!("{name}={value}"));
        return Some(pairs.collect::<Vec<_>>().join("&").into_bytes());
    }
    let mut form = form_urlencoded::Serializer::new(String::new());
    form.extend_pairs(pairs);
    Some(form.finish().into_bytes())
}

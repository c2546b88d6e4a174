//! The charset of a HAR's texts, which are in UTF-8 whatever they were sent in.

use super::har_body;
use super::har_log::Content;
use crate::exchange::header::Header;

/// Beginnings by which a browser recognises HTML without a type, after white space and before a
/// blank or `>` (MIME Sniffing, section 7.1).
const HTML_BEGINNINGS: [&str; 16] = [
    "<!doctype html",
    "<html",
    "<head",
    "<script",
    "<iframe",
    "<h1",
    "<div",
    "<font",
    "<table",
    "<a",
    "<style",
    "<title",
    "<b",
    "<body",
    "<br",
    "<p",
];

/// A media type with its parameters.
struct MediaType<'a> {
    kind: &'a str,
    charset: Option<&'a str>,
    others: Vec<&'a str>,
}

impl<'a> MediaType<'a> {
    fn parse(value: &'a str) -> Self {
        let mut parts = value.split(';').map(str::trim);
        let kind = parts.next().unwrap_or("");
        let (mut charset, mut others) = (None, Vec::new());
        for part in parts.filter(|part| !part.is_empty()) {
            match part.split_once('=') {
                Some((name, value)) if name.trim().eq_ignore_ascii_case("charset") => {
                    let value = value.trim().trim_matches(['"', '\'']);
                    charset = charset.or(Some(value));
                }
                _ => others.push(part),
            }
        }
        Self {
            kind,
            charset,
            others,
        }
    }
}

/// Sets the charset in the fields to UTF-8. Returns false if it already is, or if every encoding
/// gives the same text.
pub fn declare_utf8(headers: &mut Vec<Header>, content: Option<&Content<'_>>, text: &[u8]) -> bool {
    let fields = headers.iter().filter(|header| header.is("content-type"));
    let mut values: Vec<String> = fields
        .filter_map(Header::text)
        .filter(|value| value.contains('/'))
        .map(str::to_owned)
        .collect();
    if values.is_empty() {
        let named = content.and_then(|content| content.mime_type.text());
        let named = named.filter(|value| value.contains('/'));
        // Without a type, the page itself declares the charset that it was sent in, which is now
        // wrong.
        let found = || begins_as_html(text).then(|| "text/html".to_owned());
        values.extend(named.or_else(found));
    }
    let types: Vec<MediaType<'_>> = values.iter().map(|value| MediaType::parse(value)).collect();
    // As browsers combine several fields: the last one's type, with the charset of a field with
    // that type.
    let Some(last) = types.last() else {
        return false;
    };
    let alike = types.iter().rev();
    let mut alike = alike.take_while(|each| each.kind.eq_ignore_ascii_case(last.kind));
    let charset = alike.find_map(|each| each.charset);
    let is_utf8 =
        |name: &str| name.eq_ignore_ascii_case("utf-8") || name.eq_ignore_ascii_case("utf8");
    let is_plain = charset.is_none() && text.is_ascii();
    let is_text = charset.is_some() || har_body::is_text_type(&last.kind.to_ascii_lowercase());
    if charset.is_some_and(is_utf8) || is_plain || !is_text {
        return false;
    }
    let parts = [&[last.kind, "charset=utf-8"], &last.others[..]].concat();
    let value = parts.join("; ");
    let mut is_set = false;
    headers.retain_mut(|header| {
        if !header.is("content-type") {
            return true;
        }
        header.value = value.clone().into();
        !std::mem::replace(&mut is_set, true)
    });
    if !is_set {
        headers.push(Header::new("Content-Type", value));
    }
    true
}

fn begins_as_html(text: &[u8]) -> bool {
    let text = text.trim_ascii_start();
    let begins = |beginning: &&str| {
        let (head, rest) = text.split_at_checked(beginning.len()).unwrap_or_default();
        let is_ended = rest
            .first()
            .is_some_and(|byte| b" >\t\n\r\x0c".contains(byte));
        is_ended && head.eq_ignore_ascii_case(beginning.as_bytes())
    };
    text.starts_with(b"<!--") || HTML_BEGINNINGS.iter().any(begins)
}

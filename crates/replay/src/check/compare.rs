use super::Fetched;
use crate::response::MATCH_HEADER;
use bytes::Bytes;
use eyelevel_archive::{Exchange, response_headers_to_send};
use http::header::ALT_SVC;
use std::collections::BTreeMap;

/// Returns the differences between a response and its recording.
pub(super) fn differences(exchange: &Exchange, fetched: &Fetched) -> Vec<String> {
    let mut found = Vec::new();
    if fetched.status != exchange.status {
        found.push(format!(
            "status {} instead of {}",
            fetched.status, exchange.status
        ));
    }
    let has_no_body = exchange.method == "HEAD" || matches!(exchange.status, 204 | 304);
    let body = if has_no_body {
        &Bytes::new()
    } else {
        &exchange.body
    };
    if fetched.body != *body {
        found.push(body_difference(body, &fetched.body));
    }
    let mut recorded = Fields::new();
    for field in response_headers_to_send(exchange) {
        if field.is(ALT_SVC.as_str()) {
            continue;
        }
        let values = recorded.entry(field.name.to_ascii_lowercase()).or_default();
        values.push(field.value.to_vec());
    }
    let mut got = Fields::new();
    for (name, value) in &fetched.headers {
        // The server adds these: how it found the response, and over HTTP/3 its alternative
        // service.
        if name != MATCH_HEADER && name != ALT_SVC {
            got.entry(name.as_str().to_owned())
                .or_default()
                .push(value.as_bytes().to_vec());
        }
    }
    for name in recorded
        .keys()
        .chain(got.keys().filter(|name| !recorded.contains_key(*name)))
    {
        if recorded.get(name) != got.get(name) {
            let text = |fields: &Fields| match fields.get(name) {
                None => "nothing".to_owned(),
                Some(values) => format!("{:?}", String::from_utf8_lossy(&values.join(&b", "[..]))),
            };
            found.push(format!(
                "field {name}: {} instead of {}",
                text(&got),
                text(&recorded)
            ));
        }
    }
    found
}

type Fields = BTreeMap<String, Vec<Vec<u8>>>;

fn body_difference(recorded: &[u8], got: &[u8]) -> String {
    let same = recorded
        .iter()
        .zip(got)
        .take_while(|(left, right)| left == right)
        .count();
    format!(
        "body: {} bytes instead of {}, the first difference at byte {same}",
        got.len(),
        recorded.len()
    )
}

//! The index lines of a WACZ: CDXJ, sorted by SURT key and date.

use serde::Serialize;

use super::records::ExchangeRecords;
use crate::exchange::Exchange;
use crate::timestamp;
use crate::url::Url;

/// The JSON of a line, in the order that indexers write.
#[derive(Serialize)]
struct Fields<'a> {
    url: &'a Url,
    mime: &'a str,
    status: String,
    digest: &'a str,
    length: String,
    offset: String,
    filename: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    method: Option<&'a String>,
}

/// Returns the index line of a response record, with its line end.
pub fn line(
    exchange: &Exchange,
    records: &ExchangeRecords<'_>,
    file_name: &str,
    offset: u64,
    length: u64,
) -> String {
    let digits = timestamp::format(records.recorded_at_unix_ms);
    let digits = digits.split('.').next().unwrap_or_default();
    let date: String = digits.chars().filter(char::is_ascii_digit).collect();
    let content_type = exchange.response_header("content-type").unwrap_or("");
    let media_type = content_type.split(';').next().unwrap_or("").trim();
    let fields = Fields {
        url: &exchange.url,
        mime: if media_type.is_empty() {
            "unk"
        } else {
            media_type
        },
        status: exchange.status.to_string(),
        digest: &records.payload_digest,
        length: length.to_string(),
        offset: offset.to_string(),
        filename: file_name,
        method: (exchange.method != "GET").then_some(&exchange.method),
    };
    let fields = serde_json::to_string(&fields).expect("texts are JSON");
    format!("{} {date} {fields}\n", surt(&exchange.url))
}

/// Returns a URL's sort-friendly form, as indexers have it: the host reversed and without `www`, no
/// default port, everything in lower case, the query's parameters sorted.
fn surt(url: &Url) -> String {
    let host = url.host.strip_prefix("www.").unwrap_or(&url.host);
    let is_address =
        host.starts_with('[') || host.bytes().all(|byte| b"0123456789.".contains(&byte));
    let mut labels: Vec<&str> = if is_address {
        vec![host]
    } else {
        host.split('.').collect()
    };
    labels.reverse();
    let port = match url.port {
        port if port == url.scheme.default_port() => String::new(),
        port => format!(":{port}"),
    };
    let query = url.query().filter(|query| !query.is_empty()).map(|query| {
        let mut parameters: Vec<&str> = query.split('&').collect();
        parameters.sort_unstable();
        format!("?{}", parameters.join("&"))
    });
    let path = match url.path() {
        "/" => "/",
        path => path.trim_end_matches('/'),
    };
    let key = format!(
        "{}{port}){path}{}",
        labels.join(","),
        query.unwrap_or_default()
    );
    key.to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_sort_by_host_from_the_right() {
        for (url, key) in [
            ("https://www.example.test/", "test,example)/"),
            (
                "https://cdn.Example.test/A/b.JS?z=1&a=2",
                "test,example,cdn)/a/b.js?a=2&z=1",
            ),
            ("http://example.test:8080/x/", "test,example:8080)/x"),
            ("http://192.0.2.1/x", "192.0.2.1)/x"),
        ] {
            assert_eq!(surt(&url.parse().unwrap()), key);
        }
    }
}

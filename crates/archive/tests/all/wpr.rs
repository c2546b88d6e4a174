//! Web Page Replay archives with members that its own writer would not produce.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use eyelevel_archive::{Format, Imported, import_content};
use serde_json::{Value, json};

use crate::support::gzip;

fn exchange(response: &str) -> Value {
    let request = "GET / HTTP/1.1\r\nHost: a.test\r\n\r\n";
    json!({
        "SerializedRequest": BASE64_STANDARD.encode(request),
        "SerializedResponse": BASE64_STANDARD.encode(response),
    })
}

/// Imports an archive with a page, modified by `change`.
fn archive(change: impl Fn(&mut Value)) -> Imported {
    let page = exchange("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>");
    let mut archive = json!({
        "Requests": {"a.test": {"https://a.test/": [page]}},
        "NegotiatedProtocol": {"a.test": "h2"},
    });
    change(&mut archive);
    let json = gzip(archive.to_string().as_bytes());
    import_content(Format::WebPageReplay, json.into()).unwrap()
}

#[test]
fn a_url_or_host_of_another_kind_affects_only_itself() {
    const ODD: &str = "https://a.test/x.js";
    let others = [json!("x"), json!(5), json!(-1.5), json!(true), json!(null)];
    for other in others.iter().chain(&[json!({"a": [1, {}]})]) {
        let imported = archive(|archive| archive["Requests"]["a.test"][ODD] = other.clone());
        assert_eq!(imported.exchanges.len(), 1, "{other}");
        let left_out = &imported.provenance.left_out;
        assert_eq!(
            left_out[..],
            [format!("{ODD}: it has no exchange")],
            "{other}"
        );
    }
    for other in others.iter().chain(&[json!([1, "x", {"a": []}])]) {
        let imported = archive(|archive| archive["Requests"]["b.test"] = other.clone());
        assert_eq!(imported.exchanges.len(), 1, "{other}");
        let left_out = &imported.provenance.left_out;
        assert_eq!(left_out[..], ["b.test: it has no exchange"], "{other}");
        let imported = archive(|archive| archive["NegotiatedProtocol"] = other.clone());
        assert_eq!(imported.exchanges[0].protocol, "http/1.1", "{other}");
        assert!(imported.provenance.left_out.is_empty(), "{other}");
    }
    assert_eq!(archive(|_| ()).exchanges[0].protocol, "h2");
}

#[test]
fn invalid_json_is_refused() {
    for json in [
        r#"{"Requests": {"a.test": "x"}"#,
        r#"{"Requests": {"a.test": [1, {"a": }]}}"#,
        r#"{"Requests": {"a.test": {"https://a.test/": "x}}}"#,
        r#"{"Requests": {"a.test": 5 5}}"#,
    ] {
        let error = import_content(Format::WebPageReplay, gzip(json.as_bytes()).into());
        let error = error.unwrap_err().to_string();
        assert!(error.contains("it is no sound JSON"), "{json}: {error}");
    }
}

#[test]
fn interim_responses_before_the_final_one_are_passed_over() {
    let early = "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n";
    for last in [
        "HTTP/1.1 200 OK\r\n\r\nvar a",
        "http/1.1 200 OK\r\n\r\nvar a",
    ] {
        let imported = archive(|archive| {
            let both = exchange(&format!("{early}{last}"));
            archive["Requests"]["a.test"]["https://a.test/x.js"] = json!([both]);
        });
        let bodies: Vec<&[u8]> = imported
            .exchanges
            .iter()
            .map(|each| &each.body[..])
            .collect();
        assert_eq!(bodies, [&b"<p>"[..], b"var a"]);
        assert!(imported.provenance.left_out.is_empty());
    }
}

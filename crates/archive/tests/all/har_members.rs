//! An invalid member in a HAR or a Web Page Replay archive affects only its own exchange.

use crate::support::gzip;
use eyelevel_archive::{Format, Imported, import, import_content};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

const ODD: &str = "https://a.test/odd";

/// Returns an entry as browsers write it.
fn entry(url: &str, text: &str) -> Value {
    json!({
        "startedDateTime": "2026-11-01T12:00:00.000Z", "time": 10.5, "comment": "",
        "serverIPAddress": "192.0.2.7", "cache": {}, "_initiator": {"type": "other"},
        "request": {
            "method": "GET", "url": url, "httpVersion": "h2", "headersSize": -1, "bodySize": 0,
            "headers": [{"name": "accept", "value": "*/*"}], "cookies": [], "queryString": [],
        },
        "response": {
            "status": 200, "statusText": "OK", "httpVersion": "h2", "redirectURL": "",
            "headers": [{"name": "content-type", "value": "text/html", "comment": ""}],
            "cookies": [], "headersSize": -1, "bodySize": 3,
            "content": {"size": text.len(), "mimeType": "text/html", "text": text},
        },
        "timings": {"send": 0, "wait": 5, "receive": 5, "connect": 9, "ssl": 4},
    })
}

/// Imports a HAR of a page and one further entry.
fn import_with(odd: &Value) -> Imported {
    let har = json!({"log": {"entries": [entry("https://a.test/", "<p>"), odd]}});
    let imported = import_content(Format::Har, har.to_string().into()).unwrap();
    assert_eq!(imported.exchanges[0].url.to_string(), "https://a.test/");
    assert_eq!(imported.exchanges[0].body, "<p>");
    imported
}

/// Returns the odd entry with `value` at the member that `path` leads to.
fn odd(path: &[&str], value: Value) -> Value {
    let mut odd = entry(ODD, "abc");
    let mut member = &mut odd;
    for name in path {
        member = match name.parse::<usize>() {
            Ok(at) => &mut member[at],
            Err(_) => &mut member[*name],
        };
    }
    *member = value;
    odd
}

/// A member's path, an odd value for it, and the reason why it leaves its entry out, if it does.
type Case = (&'static [&'static str], Value, Option<&'static str>);

#[test]
fn an_odd_member_leaves_its_entry_out_only_where_it_is_needed() {
    let cases: Vec<Case> = vec![
        (&["response", "status"], json!("200"), None),
        (&["response", "status"], json!(200.0), None),
        (
            &["response", "status"],
            json!("error"),
            Some("it has the status error"),
        ),
        (
            &["response", "status"],
            json!(null),
            Some("it has the status null"),
        ),
        (
            &["response", "status"],
            json!(-999),
            Some("it has the status -999"),
        ),
        (&["response"], json!(null), Some("it has no response")),
        (&["response"], json!([]), Some("it has no response")),
        (&["response", "statusText"], json!(null), None),
        (&["response", "statusText"], json!(5), None),
        (&["response", "bodySize"], json!("many"), None),
        (&["response", "httpVersion"], json!(null), None),
        (&["response", "headers"], json!(null), None),
        (
            &["response", "headers"],
            json!({"a": "b"}),
            Some("its header fields are no list"),
        ),
        (&["response", "headers", "0", "value"], json!(12), None),
        (&["response", "headers", "0"], json!(null), None),
        (&["response", "headers", "0", "comment"], json!(null), None),
        (
            &["response", "content"],
            json!(null),
            Some("the HAR has no body for it"),
        ),
        (&["response", "content", "size"], json!(null), None),
        (&["response", "content", "size"], json!(3.0), None),
        (&["response", "content", "size"], json!("3"), None),
        (&["response", "content", "mimeType"], json!(null), None),
        (&["response", "content", "encoding"], json!(""), None),
        (&["response", "content", "comment"], json!(null), None),
        (
            &["response", "content", "text"],
            json!(5),
            Some("its body is no text"),
        ),
        (&["response", "_error"], json!(null), None),
        (
            &["response", "_error"],
            json!("net::ERR_FAILED"),
            Some("net::ERR_FAILED"),
        ),
        (&["request", "postData"], json!([]), None),
        (&["request", "postData"], json!({"text": null}), None),
        (&["request", "headers"], json!(null), None),
        (
            &["request", "method"],
            json!(null),
            Some("its request has no method"),
        ),
        (&["startedDateTime"], json!(1_790_000_000_000_i64), None),
        (&["serverIPAddress"], json!(null), None),
        (&["timings"], json!(null), None),
        (&["timings", "wait"], json!("5"), None),
        (&["_initiator"], json!("parser"), None),
        (&["comment"], json!(null), None),
    ];
    for (path, value, reason) in cases {
        let said = format!("{path:?} {value}");
        let imported = import_with(&odd(path, value));
        let Some(reason) = reason else {
            assert_eq!(imported.exchanges[1].body, "abc", "{said}");
            assert!(imported.provenance.left_out.is_empty(), "{said}");
            continue;
        };
        assert_eq!(imported.exchanges.len(), 1, "{said}");
        let [sentence] = &imported.provenance.left_out[..] else {
            panic!("{said}: {:?}", imported.provenance)
        };
        assert!(
            sentence.starts_with(&format!("{ODD}: ")),
            "{said}: {sentence}"
        );
        assert!(sentence.contains(reason), "{said}: {sentence}");
        assert!(sentence.ends_with("(entry 1)"), "{said}: {sentence}");
    }
}

#[test]
fn numbers_and_halves_of_surrogate_pairs_are_read_as_texts() {
    let imported = import_with(&odd(&["response", "headers", "0", "value"], json!(12)));
    assert_eq!(
        imported.exchanges[1].response_header("content-type"),
        Some("12")
    );
    let har = json!({"log": {"entries": [entry("https://a.test/", "a-b")]}}).to_string();
    let har = har
        .replace("a-b", r"a\ud800b")
        .replace("\"size\":3", "\"size\":5");
    let imported = import_content(Format::Har, har.into()).unwrap();
    assert_eq!(imported.exchanges[0].body, "a\u{fffd}b");
}

#[test]
fn entries_that_are_no_objects_are_left_out_by_their_number() {
    for odd in [
        json!(null),
        json!([]),
        json!("entry"),
        json!({}),
        json!({"request": 1}),
    ] {
        let imported = import_with(&odd);
        let sentence = &imported.provenance.left_out[0];
        assert!(sentence.contains("(entry 1)"), "{sentence}");
    }
}

#[test]
fn invalid_json_refuses_the_file_with_its_position() {
    let sound = json!({"log": {"entries": [entry("https://a.test/", "<p>"), entry(ODD, "abc")]}});
    let sound = sound.to_string();
    let at = sound.find("\"time\":10.5").unwrap();
    for (damaged, after) in [
        (sound.replacen("10.5", "NaN", 1), "JSON: "),
        (
            sound[..sound.len() - 1].to_owned(),
            "JSON after 2 entries, the last for https://a.test/odd",
        ),
        (
            sound[..sound.rfind("\"abc\"").unwrap()].to_owned(),
            "JSON after 1 entries, the last for https://a.test/:",
        ),
        (sound[..at].to_owned(), "JSON: "),
        (sound.replace("abc", "a\\c"), "JSON after 1 entries"),
        (sound.replace("\"entries\"", "\"entrees\""), NO_HAR),
    ] {
        let error = import_content(Format::Har, damaged.into())
            .unwrap_err()
            .to_string();
        assert!(error.contains(after), "{error}");
        let has_remedy = error.ends_with("copy or export it again") || after == NO_HAR;
        assert!(has_remedy, "{error}");
    }
}

const NO_HAR: &str = "it is no HAR, which has one `log` with one list of `entries`; export it";

#[test]
fn other_formats_are_refused_by_name() {
    let whole = json!({"log": {"entries": [entry("https://a.test/", "<p>")]}}).to_string();
    let utf16 = |of: fn(u16) -> [u8; 2]| whole.encode_utf16().flat_map(of).collect::<Vec<u8>>();
    let (little, big) = (utf16(u16::to_le_bytes), utf16(u16::to_be_bytes));
    for (file, reason) in [
        (b"{}".to_vec(), NO_HAR),
        (br#"{"log": null}"#.to_vec(), NO_HAR),
        (br#"{"log": []}"#.to_vec(), NO_HAR),
        (br#"{"log": "entries"}"#.to_vec(), NO_HAR),
        (br#"{"log": {"entries": null}}"#.to_vec(), NO_HAR),
        (br#"{"log": {"entries": {}}}"#.to_vec(), NO_HAR),
        (
            br#"{"log": {"entries": [], "entries": []}}"#.to_vec(),
            NO_HAR,
        ),
        (
            br#" {"Requests": {}, "Certs": {}}"#.to_vec(),
            "it is a Web Page Replay archive that is not compressed; run `gzip` on it",
        ),
        (
            gzip(whole.as_bytes()),
            "it is a HAR that is compressed; run `gunzip` on it",
        ),
        (
            little.clone(),
            "it is in UTF-16, and a HAR is in UTF-8; save it",
        ),
        (
            big.clone(),
            "it is in UTF-16, and a HAR is in UTF-8; save it",
        ),
        (Vec::new(), "it is empty; record or export it again"),
        (b"\x28\xb5\x2f\xfdx".to_vec(), "run `unzstd` on it"),
        (
            b"{\"log\": \"\xfcber\"}".to_vec(),
            "it is not in UTF-8, as a HAR is; save it in UTF-8",
        ),
        (
            gzip(b"plain text"),
            "neither a WARC nor a Web Page Replay archive; run `gunzip` on it",
        ),
        (
            gzip(b"filedesc://a.arc 0.0.0.0"),
            "`warcio recompress FILE.arc.gz FILE.warc.gz`",
        ),
        ([&b"\xff\xfe"[..], &little].concat(), "it is in UTF-16"),
        ([&b"\xfe\xff"[..], &big].concat(), "it is in UTF-16"),
    ] {
        // The name has no meaning: the beginning decides.
        let name = format!("no-har-{}", std::process::id());
        let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        std::fs::write(&path, &file).unwrap();
        let refused = import(std::slice::from_ref(&path)).unwrap_err().to_string();
        std::fs::remove_file(&path).unwrap();
        assert!(refused.contains(reason), "{refused}");
        assert!(!refused.contains(" column "), "{refused}");
    }
}

const WPR_REQUEST: &str = "R0VUIC8gSFRUUC8xLjENCg0K"; // GET / HTTP/1.1
const WPR_RESPONSE: &str = "SFRUUC8xLjEgMjAwIE9LDQoNCng="; // HTTP/1.1 200 OK, body x

/// Imports an archive of a page whose other members are `more`.
fn web_page_replay(hosts: &Value, more: &Value) -> Imported {
    let archived = json!({"SerializedRequest": WPR_REQUEST, "SerializedResponse": WPR_RESPONSE});
    let mut requests = json!({"a.test": {"https://a.test/": [archived]}});
    merge(&mut requests, hosts);
    let mut archive =
        json!({"Requests": requests, "Certs": {}, "NegotiatedProtocol": {"a.test": "h2"}});
    merge(&mut archive, more);
    let file = gzip(archive.to_string().as_bytes());
    let imported = import_content(Format::WebPageReplay, file.into()).unwrap();
    assert_eq!(imported.exchanges[0].body, "x");
    imported
}

fn merge(into: &mut Value, more: &Value) {
    let more = more.as_object().into_iter().flatten();
    for (name, value) in more {
        into[name] = value.clone();
    }
}

#[test]
fn nulls_of_web_page_replay_cost_no_other_exchange() {
    let url = "https://b.test/";
    let archived =
        |request: &str| json!([{"SerializedRequest": request, "SerializedResponse": WPR_RESPONSE}]);
    for (of_host, left_out) in [
        (json!(null), "b.test: it has no exchange"),
        (json!({url: null}), "https://b.test/: it has no exchange"),
        (json!({url: [null]}), "https://b.test/: it is no object"),
        (json!({url: [{}]}), "https://b.test/: it is not the base64"),
        (
            json!({url: archived("!!")}),
            "https://b.test/: it is not the base64",
        ),
    ] {
        let imported = web_page_replay(&json!({"b.test": of_host}), &json!({}));
        let sentence = &imported.provenance.left_out[0];
        assert!(sentence.starts_with(left_out), "{sentence}");
        assert_eq!(imported.exchanges[0].protocol, "h2");
    }
    for (name, value) in [
        ("NegotiatedProtocol", json!(null)),
        ("NegotiatedProtocol", json!({"a.test": null})),
        ("DeterministicTimeSeedMs", json!("soon")),
        ("Certs", json!(null)),
    ] {
        let mut more = Map::new();
        more.insert(name.to_owned(), value);
        assert!(
            web_page_replay(&json!({}), &Value::Object(more))
                .provenance
                .left_out
                .is_empty()
        );
    }
}

/// Generates any JSON value, and values that writers confuse.
fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "[ -~]{0,12}".prop_map(Value::from),
        "[0-9]{1,4}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::hash_map("[a-z]{1,6}|name|value|text|url", inner, 0..3)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// Returns the paths of all members of a value.
fn paths(value: &Value, at: &[String]) -> Vec<Vec<String>> {
    let members: Vec<(String, &Value)> = match value {
        Value::Object(members) => members
            .iter()
            .map(|(name, member)| (name.clone(), member))
            .collect(),
        Value::Array(list) => list
            .iter()
            .enumerate()
            .map(|(at, member)| (at.to_string(), member))
            .collect(),
        _ => Vec::new(),
    };
    let each = members.into_iter().flat_map(|(name, member)| {
        let path = [at, &[name]].concat();
        [vec![path.clone()], paths(member, &path)].concat()
    });
    each.collect()
}

proptest! {
    #[test]
    fn no_member_costs_another_entry(at in any::<prop::sample::Index>(), value in value()) {
        let paths = paths(&entry(ODD, "abc"), &[]);
        let path: Vec<&str> = paths[at.index(paths.len())].iter().map(String::as_str).collect();
        let imported = import_with(&odd(&path, value));
        let left_out = &imported.provenance.left_out;
        prop_assert_eq!(imported.exchanges.len() + left_out.len(), 2, "{:?}", left_out);
        let has_its_url = path != ["request"] && path != ["request", "url"];
        if let [sentence] = &left_out[..] && has_its_url {
            prop_assert!(sentence.contains(ODD), "{}", sentence);
        }
    }
}

#[test]
fn methods_and_versions_are_read_however_they_are_written() {
    let import = |method: &str, asked: &str, answered: &str| {
        let har = json!({"log": {"entries": [{
            "request": {"method": method, "url": "https://a.test/", "httpVersion": asked},
            "response": {"status": 200, "httpVersion": answered, "content": {"text": "a"}},
        }]}});
        let imported = import_content(Format::Har, har.to_string().into()).unwrap();
        let exchange = imported.exchanges[0].clone();
        (exchange.method, exchange.protocol)
    };
    for (method, sent) in [
        ("get", "GET"),
        ("Post", "POST"),
        ("patch", "patch"),
        ("PUT", "PUT"),
    ] {
        assert_eq!(import(method, "", "").0, sent);
    }
    for (asked, answered, protocol) in [
        ("", "h3-29", "h3"),
        ("", "http/2+quic/46", "h3"),
        ("", "HTTP/3.0", "h3"),
        ("HTTP/1.1", "h2", "h2"),
        ("", "H2C", "h2"),
        ("h2", "", "h2"),
        ("", "HTTP/1.0", "http/1.0"),
        ("", "unknown", "http/1.1"),
        ("", "", "http/1.1"),
    ] {
        assert_eq!(
            import("GET", asked, answered).1,
            protocol,
            "{asked} {answered}"
        );
    }
}

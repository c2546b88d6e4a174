//! What a HAR's statuses and bodies become.

use eyelevel_archive::{Format, Imported, import_content};

/// An entry for `https://a.test/PATH`; `headers` and `content` are JSON.
fn entry(path: &str, status: u16, headers: &str, content: &str) -> String {
    format!(
        r#"{{"request": {{"method": "GET", "url": "https://a.test/{path}"}},
         "response": {{"status": {status}, "statusText": "as recorded", "headers": {headers},
         "content": {content}}}}}"#
    )
}

fn har(entries: &[String]) -> Imported {
    let text = format!(r#"{{"log": {{"entries": [{}]}}}}"#, entries.join(","));
    import_content(Format::Har, text.into()).unwrap()
}

fn headers(imported: &Imported, number: usize) -> Vec<(&str, &str)> {
    let headers = imported.exchanges[number].response_headers.iter();
    headers
        .map(|header| (&*header.name, header.text().unwrap()))
        .collect()
}

const TAG: &str = r#"[{"name": "ETag", "value": "\"1\""}]"#;

#[test]
fn a_304_with_the_cached_body_becomes_the_whole_answer() {
    let imported = har(&[
        entry("", 200, "[]", r#"{"text": "<p>"}"#),
        entry(
            "a.css",
            304,
            TAG,
            r#"{"text": "b{}", "mimeType": "text/css"}"#,
        ),
        entry(
            "a.js",
            304,
            r#"[{"name": "content-type", "value": "text/javascript"}]"#,
            r#"{"text": "Ow==", "encoding": "base64", "mimeType": "text/plain"}"#,
        ),
        entry("a.bin", 304, "[]", r#"{"text": "c", "mimeType": ""}"#),
    ]);
    let found: Vec<_> = imported
        .exchanges
        .iter()
        .map(|each| (each.status, &*each.reason, &each.body[..]))
        .collect();
    assert_eq!(
        found,
        [
            (200, "as recorded", &b"<p>"[..]),
            (200, "OK", b"b{}"),
            (200, "OK", b";"),
            (200, "OK", b"c"),
        ]
    );
    let typed = [("ETag", "\"1\""), ("Content-Type", "text/css")];
    assert_eq!(headers(&imported, 1), typed);
    let typed = [("content-type", "text/javascript")];
    assert_eq!(headers(&imported, 2), typed);
    assert_eq!(headers(&imported, 3), []);
    let [altered] = &imported.provenance.altered[..] else {
        panic!("{:?}", imported.provenance)
    };
    assert!(
        altered.starts_with("3 answers with status 304"),
        "{altered}"
    );
}

#[test]
fn a_304_without_a_body_is_left_out_unless_another_answer_has_it() {
    let imported = har(&[
        entry("a.css", 200, TAG, r#"{"text": "b{}"}"#),
        entry("a.css", 304, TAG, r#"{"size": 0, "text": ""}"#),
        entry("b.css", 304, TAG, r#"{"size": 3}"#),
        entry("c.css", 304, TAG, r#"{"size": 0, "text": ""}"#),
    ]);
    let statuses: Vec<_> = imported.exchanges.iter().map(|each| each.status).collect();
    assert_eq!(statuses, [200, 304]);
    assert_eq!(
        imported.exchanges[1].url.to_string(),
        "https://a.test/a.css"
    );
    assert!(imported.provenance.altered.is_empty());
    let left_out = &imported.provenance.left_out;
    assert_eq!(left_out.len(), 2);
    for (sentence, url) in left_out.iter().zip(["b.css", "c.css"]) {
        let expected = format!("https://a.test/{url}: it has the status 304 and no body");
        assert!(sentence.starts_with(&expected), "{sentence}");
    }
}

/// An entry with timings and an address.
fn timed(url: &str, version: &str, timings: &str) -> String {
    format!(
        r#"{{"request": {{"method": "GET", "url": "{url}"}}, "serverIPAddress": "192.0.2.7",
         "timings": {timings},
         "response": {{"status": 200, "httpVersion": "{version}", "headers": [],
         "content": {{"text": "a"}}}}}}"#
    )
}

/// Host, least round trip and count of what came of the entries' timings.
fn round_trips(entries: &[String]) -> Vec<(String, f64, u32)> {
    let told = har(entries).provenance.handshake_rtts;
    let each = told
        .into_iter()
        .map(|each| (each.host, each.handshake_rtt_ms_min, each.handshakes));
    each.collect()
}

#[test]
fn what_is_left_of_connect_without_tls_is_the_handshakes_round_trip() {
    let found = round_trips(&[
        timed("https://a.test/1", "h2", r#"{"connect": 61, "ssl": 40}"#),
        timed("https://a.test/2", "h2", r#"{"connect": 60, "ssl": 40}"#),
        timed("https://a.test/3", "h2", r#"{"connect": -1, "ssl": -1}"#),
        timed("https://a.test/4", "h2", r#"{"connect": 7}"#),
        timed("https://a.test/6", "h2", r#"{"connect": "7", "ssl": {}}"#),
        timed("https://a.test/5", "h3", r#"{"connect": 9, "ssl": 5}"#),
        timed("http://b.test/", "http/1.1", r#"{"connect": 30}"#),
    ]);
    let wanted = [
        ("a.test".to_owned(), 20.0, 2),
        ("b.test".to_owned(), 30.0, 1),
    ];
    assert_eq!(found, wanted);
}

#[test]
fn a_writer_that_leaves_tls_out_of_connect_tells_no_round_trip_over_tls() {
    let found = round_trips(&[
        timed("https://a.test/1", "h2", r#"{"connect": 30, "ssl": 20}"#),
        timed("https://a.test/2", "h2", r#"{"connect": 20, "ssl": 21}"#),
        timed("http://b.test/", "http/1.1", r#"{"connect": 30}"#),
    ]);
    assert_eq!(found, [("b.test".to_owned(), 30.0, 1)]);
}

#[test]
fn a_har_whose_page_is_not_in_it_is_refused() {
    let har = |content: &str| {
        let entry = |path: &str, kind: &str, content: &str| {
            format!(
                r#"{{"request": {{"method": "GET", "url": "https://a.test/{path}"}},
                 "response": {{"status": 200, "content": {content},
                 "headers": [{{"name": "content-type", "value": "text/{kind}"}}]}}}}"#
            )
        };
        let entries = [
            entry("a.css", "css", r#"{"text": "b{}"}"#),
            entry("", "html", content),
        ];
        let text = format!(r#"{{"log": {{"entries": [{}]}}}}"#, entries.join(","));
        import_content(Format::Har, text.into())
    };
    let whole = har(r#"{"text": "<html>"}"#).unwrap();
    let page = whole.metadata(None, "a").unwrap().main_url;
    assert_eq!(page.to_string(), "https://a.test/");
    // What is left must not pass for the page.
    let without = har(r#"{"size": 6}"#).unwrap();
    let error = without.metadata(None, "a").unwrap_err();
    assert!(
        error.contains("hold no page; left out: https://a.test/: "),
        "{error}"
    );
    let damaged = har(r#"{"text": "!!!!", "encoding": "base64"}"#).unwrap();
    let error = damaged.metadata(None, "a").unwrap_err();
    let expected = "left out: https://a.test/: its body is not the base64 that it says (entry 1)";
    assert!(error.contains(expected), "{error}");
}

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

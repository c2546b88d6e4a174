//! The import of a HAR's statuses and bodies.

use eyelevel_archive::{Format, Imported, import_content};

/// Returns an entry for `https://a.test/PATH`; `headers` and `content` are JSON.
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

/// A HAR has URLs as its writer spelled them; browsers request the normalised ones.
#[test]
fn urls_are_those_that_a_browser_asks_for() {
    for (written, asked) in [
        (
            "https://b\u{fc}cher.example/idn",
            "https://xn--bcher-kva.example/idn",
        ),
        ("https://a.test/a/../b", "https://a.test/b"),
        (r"https://a.test/a\\b", "https://a.test/a/b"),
        (
            "https://[2001:DB8:0:0:0:0:0:2]:8443/v6",
            "https://[2001:db8::2]:8443/v6",
        ),
        ("https://127.1/", "https://127.0.0.1/"),
    ] {
        let entry = entry("a.js", 200, "[]", r#"{"text": "a"}"#);
        let imported = har(&[entry.replace("https://a.test/a.js", written)]);
        assert_eq!(imported.exchanges[0].url.to_string(), asked);
        assert!(imported.provenance.left_out.is_empty());
    }
}

#[test]
fn a_304_with_the_cached_body_becomes_a_complete_response() {
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
fn a_304_without_a_body_is_left_out_unless_another_response_has_it() {
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

/// Returns an entry with timings and an address.
fn timed_entry(url: &str, version: &str, timings: &str) -> String {
    format!(
        r#"{{"request": {{"method": "GET", "url": "{url}"}}, "serverIPAddress": "192.0.2.7",
         "timings": {timings},
         "response": {{"status": 200, "httpVersion": "{version}", "headers": [],
         "content": {{"text": "a"}}}}}}"#
    )
}

/// Returns host, smallest round trip and count of the handshakes in the entries.
fn round_trips(entries: &[String]) -> Vec<(String, f64, u32)> {
    let told = har(entries).provenance.handshake_rtts;
    let each = told
        .into_iter()
        .map(|each| (each.host, each.handshake_rtt_ms_min, each.handshakes));
    each.collect()
}

#[test]
fn connect_without_tls_is_the_handshakes_round_trip() {
    let found = round_trips(&[
        timed_entry("https://a.test/1", "h2", r#"{"connect": 61, "ssl": 40}"#),
        timed_entry("https://a.test/2", "h2", r#"{"connect": 60, "ssl": 40}"#),
        timed_entry("https://a.test/3", "h2", r#"{"connect": -1, "ssl": -1}"#),
        timed_entry("https://a.test/4", "h2", r#"{"connect": 7}"#),
        timed_entry("https://a.test/6", "h2", r#"{"connect": "7", "ssl": {}}"#),
        timed_entry("https://a.test/5", "h3", r#"{"connect": 9, "ssl": 5}"#),
        timed_entry("http://b.test/", "http/1.1", r#"{"connect": 30}"#),
    ]);
    let wanted = [
        ("a.test".to_owned(), 20.0, 2),
        ("b.test".to_owned(), 30.0, 1),
    ];
    assert_eq!(found, wanted);
}

#[test]
fn connect_times_without_tls_give_no_round_trips_over_tls() {
    let found = round_trips(&[
        timed_entry("https://a.test/1", "h2", r#"{"connect": 30, "ssl": 20}"#),
        timed_entry("https://a.test/2", "h2", r#"{"connect": 20, "ssl": 21}"#),
        timed_entry("http://b.test/", "http/1.1", r#"{"connect": 30}"#),
    ]);
    assert_eq!(found, [("b.test".to_owned(), 30.0, 1)]);
}

#[test]
fn connect_times_beside_those_of_tls_are_known_by_the_sum() {
    let entry = |timings: &str, time: u32| {
        let entry = timed_entry("https://a.test/", "h2", timings);
        entry.replacen('{', &format!(r#"{{"time": {time}, "#), 1)
    };
    let timings = r#"{"blocked": -1, "connect": 31, "ssl": 29, "send": 0, "wait": 30}"#;
    assert_eq!(round_trips(&[entry(timings, 90)]), []);
    for time in [61, 75] {
        let found = round_trips(&[entry(timings, time)]);
        assert_eq!(found, [("a.test".to_owned(), 2.0, 1)], "{time}");
    }
}

#[test]
fn field_values_are_the_bytes_that_were_sent() {
    for (written, sent) in [
        ("/\u{c3}\u{bc}ber", "/über".as_bytes()),
        ("/voil\u{c3}\u{a0}", "/voilà".as_bytes()),
        ("/über", "/über".as_bytes()),
        ("/日本", "/日本".as_bytes()),
    ] {
        let field = format!(r#"[{{"name": "Location", "value": " {written}"}}]"#);
        let imported = har(&[entry("a", 302, &field, "{}")]);
        let location = &imported.exchanges[0].response_headers[0];
        assert_eq!(&location.value[..], sent, "{written}");
    }
}

#[test]
fn an_initiator_is_read_as_writers_have_it() {
    const SCRIPT: &str = "https://a.test/a.js";
    for initiator in [
        r#"{"type": "parser", "url": "https://a.test/a.js"}"#,
        r#""https://a.test/a.js""#,
        r#"{"type": "script", "stack": {"callFrames": [
            {"url": ""}, 5, {"url": "https://a.test/a.js"}, {"url": "https://a.test/b.js"}]}}"#,
    ] {
        let entry = entry("b.json", 200, "[]", r#"{"text": "a"}"#);
        let entry = entry.replacen('{', &format!(r#"{{"_initiator": {initiator}, "#), 1);
        let exchange = &har(&[entry]).exchanges[0];
        assert_eq!(exchange.initiator.as_deref(), Some(SCRIPT), "{initiator}");
    }
    let other = entry("b.json", 200, "[]", r#"{"text": "a"}"#);
    let other = other.replacen('{', r#"{"_initiator": {"stack": {"callFrames": {}}}, "#, 1);
    assert_eq!(har(&[other]).exchanges[0].initiator, None);
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
    // The remaining exchanges must not be taken for the page.
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

/// Imports a POST with fields and the members of its `postData`.
fn import_post(headers: &str, post: &str) -> Imported {
    let entry = format!(
        r#"{{"request": {{"method": "POST", "url": "https://a.test/", "headers": {headers},
         {post}}}, "response": {{"status": 200, "content": {{"text": "a"}}}}}}"#
    );
    har(&[entry])
}

#[test]
fn request_bodies_are_as_sent_or_noted() {
    let length = |bytes: usize| format!(r#"[{{"name": "content-length", "value": "{bytes}"}}]"#);
    let form = |params: &str| {
        format!(
            r#""postData": {{"mimeType": "application/x-www-form-urlencoded; charset=UTF-8",
             "params": [{params}]}}"#
        )
    };
    let two = form(r#"{"name": "a b", "value": "ü&"}, {"name": "c", "value": 1}"#);
    let escaped = form(r#"{"name": "a+b", "value": "%26"}, {"name": "c"}"#);
    let lacks = "1 requests lack their body";
    let written = "1 forms are in the HAR";
    for (headers, post, body, notes) in [
        (
            "[]".to_owned(),
            two.clone(),
            &b"a+b=%C3%BC%26&c=1"[..],
            &[written][..],
        ),
        (length(17), two.clone(), b"a+b=%C3%BC%26&c=1", &[written]),
        (length(18), two, b"a+b=%C3%BC%26&c=1", &[written, lacks]),
        // A browser writes them as they were sent.
        (length(10), escaped.clone(), b"a+b=%26&c=", &[written]),
        ("[]".to_owned(), escaped, b"a%2Bb=%2526&c=", &[written]),
        (
            length(300),
            r#""postData": {"text": ""}"#.to_owned(),
            b"",
            &[lacks],
        ),
        (
            length(0),
            r#""postData": {"text": ""}"#.to_owned(),
            b"",
            &[],
        ),
        (
            "[]".to_owned(),
            r#""bodySize": 7"#.to_owned(),
            b"",
            &[lacks],
        ),
        ("[]".to_owned(), r#""bodySize": 0"#.to_owned(), b"", &[]),
        (
            length(4),
            r#""postData": {"text": "abcd"}"#.to_owned(),
            b"abcd",
            &[],
        ),
        (
            length(5),
            r#""postData": {"text": "abcd"}"#.to_owned(),
            b"abcd",
            &[lacks],
        ),
        (
            length(3),
            r#""postData": {"text": "gP/+", "encoding": "base64"}"#.to_owned(),
            b"\x80\xff\xfe",
            &[],
        ),
        (
            length(3),
            r#""postData": {"text": "gP/+", "_encoding": "base64"}"#.to_owned(),
            b"\x80\xff\xfe",
            &[],
        ),
        (
            length(2),
            r#""postData": {"text": "!!", "encoding": "base64"}"#.to_owned(),
            b"!!",
            &[],
        ),
        (
            length(9),
            r#""postData": {"mimeType": "multipart/form-data", "params": [{"name": "a"}]}"#
                .to_owned(),
            b"",
            &[lacks],
        ),
    ] {
        let imported = import_post(&headers, &post);
        assert_eq!(imported.exchanges[0].request_body, body, "{post}");
        let found = &imported.provenance.altered;
        assert_eq!(found.len(), notes.len(), "{post}: {found:?}");
        for (found, note) in found.iter().zip(notes) {
            assert!(found.starts_with(note), "{post}: {found}");
        }
    }
}

#[test]
fn codings_on_several_lines_become_that_of_the_body() {
    for (fields, coding) in [
        (
            r#"{"name": "Content-Encoding", "value": "gzip\nbr"}"#,
            "gzip",
        ),
        (
            r#"{"name": "Content-Encoding", "value": "gzip"}, {"name": "content-encoding", "value": "gzip"}"#,
            "gzip",
        ),
        (
            r#"{"name": "Content-Encoding", "value": "identity"}, {"name": "content-encoding", "value": "gzip"}"#,
            "gzip",
        ),
    ] {
        let imported = har(&[entry(
            "a.js",
            200,
            &format!("[{fields}]"),
            r#"{"text": "var a=1;"}"#,
        )]);
        assert_eq!(
            headers(&imported, 0),
            [("Content-Encoding", coding)],
            "{fields}"
        );
        let body = imported.exchanges[0].decoded_body(100);
        assert_eq!(body.as_deref(), Some(&b"var a=1;"[..]), "{fields}");
    }
}

#[test]
fn fields_that_a_browser_added_are_dropped() {
    let added = r#"[{"name": "X-Firefox-Spdy", "value": "h2"}, {"name": "x-firefox-http3", "value": "h3"},
        {"name": "X-Archive-Orig-Server", "value": "b"}, {"name": "Server", "value": "a"}]"#;
    let location = r#"[{"name": "location", "value": "https://a.test/b.js"}]"#;
    let made = entry("a.js", 307, location, r#"{"text": "", "size": 0}"#);
    let made = made.replace("as recorded", "Internal Redirect");
    let sent = entry("c.js", 307, location, r#"{"text": "", "size": 0}"#);
    let imported = har(&[made, entry("b.js", 200, added, r#"{"text": "b"}"#), sent]);
    assert_eq!(imported.exchanges.len(), 2);
    assert_eq!(headers(&imported, 0), [("Server", "a")]);
    let [altered] = &imported.provenance.altered[..] else {
        panic!("{:?}", imported.provenance)
    };
    assert!(altered.starts_with("1 answers have fields that Firefox or an archive added"));
    let [left_out] = &imported.provenance.left_out[..] else {
        panic!("{:?}", imported.provenance)
    };
    let expected = "https://a.test/a.js: the browser made this answer itself";
    assert!(left_out.starts_with(expected), "{left_out}");
}

//! Damage in one exchange leaves out that exchange; damage to the file refuses it.

use crate::support::{gzip, open, page, record, request, response};
use eyelevel_archive::Site;
use proptest::prelude::*;

const PAGE: &str = "https://a.test/";
const ODD: &str = "https://a.test/odd";

/// Opens a page along with one further record.
fn open_with(odd: Vec<u8>) -> Site {
    open(&[gzip(&page("page", PAGE)), gzip(&odd)]).unwrap()
}

fn urls(site: &Site) -> Vec<String> {
    let exchanges = site.exchanges().iter();
    exchanges.map(|exchange| exchange.url.to_string()).collect()
}

/// Asserts that the odd exchange is left out, with its URL and `reason`, and the page is not.
fn assert_left_out(site: &Site, reason: &str) {
    assert_eq!(urls(site), [PAGE], "{reason}");
    let [note] = site.notes() else {
        panic!("{:?}", site.notes())
    };
    let expected = format!("{ODD}: ");
    assert!(note.message.starts_with(&expected), "{}", note.message);
    assert!(note.message.contains(reason), "{}", note.message);
    assert_eq!(note.record, 1);
}

#[test]
fn an_odd_status_line_is_read_as_a_browser_reads_it_or_leaves_its_exchange_out() {
    for (line, protocol) in [
        ("http/1.1 200 OK", "http/1.1"),
        ("h2 200 No Reason", "h2"),
        ("HTTP/1.2 200 OK", "http/1.1"),
        ("HTTP/1.1  200 OK", "http/1.1"),
        ("HTTP 200 OK", "http/1.0"),
        ("\r\n\r\nHTTP/1.1 200 OK", "http/1.1"),
    ] {
        let site = open_with(response("1", ODD, &[], &format!("{line}\r\n\r\nx")));
        assert_eq!(urls(&site), [PAGE, ODD], "{line}");
        let odd = &site.exchanges()[1];
        assert_eq!((odd.status, &*odd.protocol), (200, protocol), "{line}");
        assert_eq!(odd.body, "x");
    }
    for message in ["", "HTTP/1.1 0 \r\n\r\nx", "<html>old</html>", "\r\n\r\n"] {
        let site = open_with(response("1", ODD, &[], message));
        assert_left_out(&site, "its status line is");
    }
}

#[test]
fn broken_chunks_leave_one_exchange_out() {
    let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    for raw in ["5\r\nabc\r\n0\r\n\r\n", "3\r\nabc\r\n", "ff\r\n"] {
        let site = open_with(response("1", ODD, &[], &format!("{head}{raw}")));
        assert_left_out(&site, "its chunked body is broken at byte ");
    }
}

#[test]
fn a_broken_request_leaves_its_own_exchange_out() {
    let answer = response("1", ODD, &[], "HTTP/1.1 200 OK\r\n\r\nx");
    for broken in ["\r\n\r\n", "G=T / HTTP/1.1\r\n\r\n"] {
        let asked = request("2", ODD, &["WARC-Concurrent-To: <urn:test:1>"], broken);
        let site = open_with([answer.clone(), asked].concat());
        assert_left_out(&site, "its request cannot be read: ");
    }
    // The request of a response that is left out must not join another response.
    let asked =
        |id: &str, method: &str| request(id, ODD, &[], &format!("{method} /odd HTTP/1.1\r\n\r\n"));
    let broken = response("4", ODD, &[], "nothing");
    let site = open_with([asked("3", "POST"), broken, asked("5", "PUT"), answer].concat());
    assert_eq!(urls(&site), [PAGE, ODD]);
    assert_eq!(site.exchanges()[1].method, "PUT");
}

#[test]
fn interim_responses_before_the_final_one_are_passed_over() {
    let early = "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n";
    let last = "HTTP/1.1 200 OK\r\nA: b\r\n\r\nbody";
    let twice = format!("HTTP/1.1 100 Continue\r\n\r\n{early}{last}");
    let site = open_with(response("1", ODD, &[], &twice));
    let found = &site.exchanges()[1];
    assert_eq!((found.status, &found.body[..]), (200, &b"body"[..]));
    assert_eq!(found.response_headers.len(), 1);
    let site = open_with(response("1", ODD, &[], early));
    assert_left_out(&site, "an interim response");
    let site = open_with(response("1", ODD, &[], &twice.replace("HTTP", "http")));
    assert_eq!(site.exchanges()[1].body, "body");
}

#[test]
fn a_record_without_its_url_leaves_only_itself_out() {
    for kind in ["response", "revisit", "resource"] {
        let message = b"HTTP/1.1 200 OK\r\n\r\nbody";
        let site = open_with(record(kind, "nameless", &[], message));
        assert_eq!(site.exchanges().len(), 1);
        let note = &site.notes()[0].message;
        let expected = format!("the {kind} record urn:test:nameless has no `WARC-Target-URI`");
        assert!(note.starts_with(&expected), "{note}");
    }
}

#[test]
fn a_truncated_head_is_reported_with_its_length() {
    let message = "HTTP/1.1 200 OK\r\nContent-Type: text/javascript";
    let site = open_with(response("1", ODD, &[], message));
    assert_left_out(&site, "its header of 46 bytes ends without an empty line");
}

#[test]
fn a_protocol_is_read_as_others_write_it() {
    for (written, status_line, expected) in [
        ("HTTP/2", "HTTP/1.1", "h2"),
        ("http/2.0", "HTTP/1.1", "h2"),
        ("HTTP/3", "HTTP/1.1", "h3"),
        ("HTTP/1.0", "HTTP/1.1", "http/1.0"),
        ("spdy/3", "HTTP/2", "h2"),
        ("http/x", "HTTP/1.1", "http/1.1"),
    ] {
        let fields = [
            "WARC-Protocol: tls/1.3",
            &format!("WARC-Protocol: {written}"),
        ];
        let message = format!("{status_line} 200 OK\r\n\r\nbody");
        let site = open_with(response("1", ODD, &fields, &message));
        assert_eq!(site.exchanges()[1].protocol, expected, "{written}");
    }
}

#[test]
fn an_endless_head_leaves_its_exchange_out_and_an_empty_file_names_why() {
    let message = format!("HTTP/1.1 200 OK\r\nA: {}\r\n\r\n", "a".repeat(2 << 20));
    let odd = response("1", ODD, &[], &message);
    assert_left_out(&open_with(odd.clone()), "its header has no end within");
    let error = open(&[odd]).unwrap_err().to_string();
    let expected = format!("no recorded HTTP response (left out: {ODD}: its header has no end");
    assert!(error.contains(&expected), "{error}");
}

#[test]
fn other_exchanges_do_not_replace_a_broken_page() {
    let script = response(
        "1",
        "https://a.test/a.js",
        &[],
        "HTTP/1.1 200 OK\r\nContent-Type: text/javascript\r\n\r\nx",
    );
    let cut = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 9\r\n\r\n<p>";
    let error = open(&[response("2", PAGE, &[], cut), script.clone()]).unwrap_err();
    let expected = "hold no page (left out: https://a.test/: its body has 3 of 9 bytes)";
    assert!(error.to_string().contains(expected), "{error}");
    assert!(open(&[script]).is_ok());
}

#[test]
fn damage_to_the_container_still_refuses_the_file() {
    let sound = gzip(&page("page", PAGE));
    let odd = record(
        "response",
        "1",
        &["WARC-Target-URI: https://a.test/odd"],
        b"x",
    );
    for damaged in [
        gzip(&odd[..odd.len() - 1]),
        gzip(&odd)[..odd.len() / 2].to_vec(),
        gzip(
            &String::from_utf8_lossy(&odd)
                .replace("WARC-Date", "WARC-Data")
                .into_bytes(),
        ),
    ] {
        assert!(open(&[sound.clone(), damaged]).is_err());
    }
}

/// Generates beginnings of heads, as servers and writers make them, and invalid ones.
fn odd_message() -> impl Strategy<Value = String> {
    let version = prop_oneof![
        Just("HTTP/1.1".to_owned()),
        "[hH][tT]{2}[pP](/[0-9](\\.[0-9])?)?",
        Just("h2".to_owned()),
        "[ -~]{0,8}",
    ];
    let status = prop_oneof![Just("200".to_owned()), "[0-9]{0,4}", "[ -~]{0,4}"];
    let field = prop_oneof![
        Just("Transfer-Encoding: chunked".to_owned()),
        "Content-Length: [0-9]{1,2}",
        "Content-Encoding: (gzip|br|deflate|x)",
        "[ -~]{0,20}",
    ];
    let fields = prop::collection::vec(field, 0..4);
    let end = prop_oneof![Just("\r\n"), Just("\n")];
    (
        version,
        " {0,2}",
        status,
        "[ -~]{0,5}",
        fields,
        end,
        "[ -~\r\n]{0,30}",
    )
        .prop_map(|(version, spaces, status, reason, fields, end, body)| {
            let line = format!("{version}{spaces}{status}{reason}{end}");
            let fields: String = fields.iter().map(|field| format!("{field}{end}")).collect();
            format!("{line}{fields}{end}{body}")
        })
}

proptest! {
    #[test]
    fn no_message_costs_another_exchange(message in odd_message(), is_request: bool) {
        let odd = match is_request {
            false => response("1", ODD, &[], &message),
            true => [
                response("1", ODD, &[], "HTTP/1.1 200 OK\r\n\r\nx"),
                request("2", ODD, &["WARC-Concurrent-To: <urn:test:1>"], &message),
            ]
            .concat(),
        };
        let site = open_with(odd);
        prop_assert_eq!(site.exchanges()[0].url.to_string(), PAGE);
        let is_named = site.notes().iter().any(|note| note.message.starts_with(ODD));
        prop_assert!(is_named || site.exchanges().len() == 2, "{:?}", site.notes());
    }
}

//! Heads that are invalid HTTP but accepted by browsers are recorded as the page gets them; others
//! are named in notes.

mod recording;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread;

use eyelevel_archive::Exchange;
use recording::{run_blocking, start_recording};

const BODY: &str = "window.x=1;";

/// Starts a server that responds to each request with these bytes and closes the connection.
fn serve_bytes(answer: Vec<u8>) -> SocketAddr {
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = server.local_addr().unwrap();
    thread::spawn(move || {
        for stream in server.incoming() {
            let mut stream = stream.unwrap();
            let mut asked = Vec::new();
            while !asked.ends_with(b"\r\n\r\n") {
                let mut byte = [0];
                stream.read_exact(&mut byte).unwrap();
                asked.push(byte[0]);
            }
            let _ = stream.write_all(&answer);
        }
    });
    address
}

/// Returns all bytes of the proxy's response.
fn get(proxy: SocketAddr, server: SocketAddr) -> Vec<u8> {
    let mut stream = TcpStream::connect(proxy).unwrap();
    let request =
        format!("GET http://{server}/a HTTP/1.1\r\nhost: {server}\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    answer
}

/// Returns what a server's bytes become at the page, and in the recording, or why they are not in
/// it.
async fn record(answer: Vec<u8>) -> (Vec<u8>, Result<Exchange, String>) {
    let server = serve_bytes(answer);
    let recording = start_recording(server).await;
    let proxy = recording.proxy;
    let page = run_blocking(move || get(proxy, server)).await;
    recording.store.settle().await;
    match recording.store.why_left_out("127.0.0.1") {
        Some(note) => (page, Err(note)),
        None => (page, Ok(recording.write().await.remove(0))),
    }
}

fn with_fields(fields: &[u8]) -> Vec<u8> {
    let length = format!("Content-Length: {}\r\n\r\n{BODY}", BODY.len());
    let start = &b"HTTP/1.1 200 OK\r\nContent-Type: text/javascript\r\n"[..];
    [start, fields, length.as_bytes()].concat()
}

/// Returns the fields of a valid head, without connection-specific ones.
fn parse_fields(head: &[u8]) -> Vec<(String, Vec<u8>)> {
    let end = head
        .windows(4)
        .position(|four| four == b"\r\n\r\n")
        .unwrap();
    let lines = head[..end].split(|&byte| byte == b'\n').skip(1);
    let fields = lines.map(|line| {
        let colon = line.iter().position(|&byte| byte == b':').unwrap();
        let name = String::from_utf8(line[..colon].to_vec()).unwrap();
        (name, line[colon + 1..].trim_ascii().to_vec())
    });
    let mut fields: Vec<_> = fields
        .filter(|(name, _)| !name.eq_ignore_ascii_case("connection"))
        .collect();
    fields.sort();
    fields
}

#[tokio::test]
async fn accepted_heads_are_recorded_as_the_page_gets_them() {
    let many = |count: usize| -> Vec<u8> {
        (0..count)
            .flat_map(|n| format!("X-F{n}: v\r\n").into_bytes())
            .collect()
    };
    let big = [&b"X-Big: "[..], &[b'b'; 250_000], b"\r\n"].concat();
    let odd: [(&[u8], &[u8]); 11] = [
        (b"PHP Warning: Module already loaded\r\n", b""),
        (b"preload\r\n", b""),
        (b": empty name\r\n", b""),
        (b"<b>Warning</b>: a warning\r\nX-A: 1\r\n", b"X-A: 1\r\n"),
        (b"X-Spaced \t: 1\r\n", b"X-Spaced: 1\r\n"),
        (b"X-Fold: a;\r\n \t b\r\n c\r\n", b"X-Fold: a; b c\r\n"),
        (b"X-Lone: 1\nX-Two: 2\r\n", b"X-Lone: 1\r\nX-Two: 2\r\n"),
        (
            b"x-repeated: 1\r\nX-B: 2\r\nX-Repeated: 3\r\n",
            b"x-repeated: 1\r\nX-B: 2\r\nX-Repeated: 3\r\n",
        ),
        (b"X-Latin: \xe9t\xe9\r\n", b"X-Latin: \xe9t\xe9\r\n"),
        (&many(1500), &many(1500)),
        (&big, &big),
    ];
    for (sent, right) in odd {
        let subject = String::from_utf8_lossy(&sent[..sent.len().min(60)]).into_owned();
        let (page, recorded) = record(with_fields(sent)).await;
        let recorded = recorded.unwrap_or_else(|note| panic!("{subject}: {note}"));
        assert!(page.ends_with(BODY.as_bytes()), "{subject}");
        assert_eq!(recorded.body, BODY, "{subject}");
        let kept = recorded.response_headers.iter();
        let mut kept: Vec<_> = kept
            .map(|each| (each.name.clone(), each.value.to_vec()))
            .collect();
        kept.sort();
        assert_eq!(kept, parse_fields(&with_fields(right)), "{subject}");
        assert_eq!(kept, parse_fields(&page), "{subject}");
    }
}

#[tokio::test]
async fn heads_that_only_the_library_refuses_are_repaired() {
    let start = "X-A: 1\r\nContent-Length: 11\r\n\r\n";
    let with_length: &[(&str, &str)] = &[("X-A", "1"), ("Content-Length", "11")];
    for (head, fields) in [
        (format!("HTTP/1.1  200  Fine\r\n{start}"), with_length),
        (format!("http/1.1 200 Fine\r\n{start}"), with_length),
        (format!("HTTP/1.2 200 Fine\r\n{start}"), with_length),
        (format!("HTTP/1.1 200 Fine\r{start}"), with_length),
        (format!("HTTP/1.1 200 Fine\n{start}"), with_length),
        (format!("\r\nHTTP/1.1 200 Fine\r\n{start}"), with_length),
        (
            format!("http/1.1  103 Hints\r\n\r\nHTTP/1.1  200 Fine\r\n{start}"),
            with_length,
        ),
        (
            "HTTP/1.1 200 Fine\r\nContent-Length: +11\r\nX-A: 1\r\n\r\n".to_owned(),
            &[("X-A", "1")],
        ),
        (
            "HTTP/1.0 200 Fine\r\nTransfer-Encoding: chunked\r\nX-A: 1\r\n\r\n".to_owned(),
            &[("X-A", "1")],
        ),
    ] {
        let (page, recorded) = record([&head, BODY].concat().into_bytes()).await;
        let recorded = recorded.unwrap_or_else(|note| panic!("{head:?}: {note}"));
        let page = String::from_utf8(page).unwrap();
        let is_whole = page[8..].starts_with(" 200 ") && page.contains(BODY);
        assert!(
            is_whole && page.to_lowercase().contains("\r\nx-a: 1\r\n"),
            "{head:?}: {page}"
        );
        assert_eq!(
            (recorded.status, &*recorded.reason),
            (200, "Fine"),
            "{head:?}"
        );
        assert_eq!(recorded.body, BODY, "{head:?}");
        let kept = recorded.response_headers.iter();
        let kept: Vec<_> = kept
            .map(|each| (each.name.to_lowercase(), each.value.to_vec()))
            .collect();
        let fields = fields.iter();
        let fields: Vec<_> = fields
            .map(|(name, value)| (name.to_lowercase(), value.as_bytes().to_vec()))
            .collect();
        assert_eq!(kept, fields, "{head:?}");
    }
}

/// A head may arrive in any pieces, and an invalid one is refused without waiting.
#[tokio::test]
async fn invalid_responses_are_refused_while_the_server_waits() {
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = server.local_addr().unwrap();
    thread::spawn(move || {
        for stream in server.incoming() {
            let mut stream = stream.unwrap();
            assert!(stream.read(&mut [0; 4096]).unwrap() > 0);
            stream.write_all(b"SSH-2.0-OpenSSH_9.2\r\n").unwrap();
            // Until the recorder closes it.
            let _ = stream.read_to_end(&mut Vec::new());
        }
    });
    let recording = start_recording(address).await;
    let proxy = recording.proxy;
    let page = run_blocking(move || get(proxy, address)).await;
    let page = String::from_utf8(page).unwrap();
    assert!(page.starts_with("HTTP/1.1 502 "), "{page}");
    assert!(
        page.contains("its status line is `SSH-2.0-OpenSSH_9.2`"),
        "{page}"
    );
}

#[tokio::test]
async fn refused_heads_are_named() {
    let start = |line: &str| {
        let rest = format!("\r\nContent-Length: {}\r\n\r\n{BODY}", BODY.len());
        [line, &rest].concat().into_bytes()
    };
    let wide = [&b"X-Big: "[..], &[b'b'; 300_000], b"\r\n"].concat();
    for (sent, place) in [
        (
            start("HTTP/1.1 0200 OK"),
            "its status line is `HTTP/1.1 0200 OK`",
        ),
        (start("ICY 200 OK"), "its status line is `ICY 200 OK`"),
        (with_fields(b"X-N: a\0b\r\n"), "its field `X-N` has a NUL"),
        (
            with_fields(b"Content-Length: +11\r\n"),
            "its field `Content-Length` is not a number",
        ),
        (
            b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 2x0\r\n\r\n".to_vec(),
            "its status line is `HTTP/1.1 2x0`",
        ),
        (with_fields(&wide), "over 262144 bytes or 16384 fields"),
    ] {
        let (page, recorded) = record(sent).await;
        let note = recorded.unwrap_err();
        assert!(note.contains("GET http://127.0.0.1:"), "{note}");
        assert!(note.ends_with(place), "{note} is not {place}");
        let page = String::from_utf8(page).unwrap();
        assert!(
            page.starts_with("HTTP/1.1 502 ") && page.contains(&note),
            "{page}"
        );
    }
}

#[tokio::test]
async fn a_field_that_the_library_drops_is_named() {
    let (page, recorded) = record(with_fields(b"X-A: 1\r\nX-Ctl: a\x01b\r\n")).await;
    assert_eq!(
        parse_fields(&page),
        parse_fields(&with_fields(b"X-A: 1\r\n"))
    );
    let note = recorded.unwrap_err();
    assert!(
        note.ends_with("/a: its field `X-Ctl` has a control character; the page did not get it")
    );
}

//! Requests for servers that are not public are refused, noted, and never connected.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use eyelevel_recorder::{Credentials, Recorder, RecorderOptions, Store};
use tokio::sync::oneshot;

/// Bounds a test that hangs; no duration is measured by it.
const HANG: Duration = Duration::from_secs(600);

/// Starts a server on loopback that counts its connections and responds `OK`.
fn start_counting_server() -> (SocketAddr, Arc<AtomicUsize>) {
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let (address, count) = (server.local_addr().unwrap(), Arc::new(AtomicUsize::new(0)));
    let counting = count.clone();
    thread::spawn(move || {
        for stream in server.incoming() {
            let Ok(mut stream) = stream else { return };
            counting.fetch_add(1, Ordering::SeqCst);
            thread::spawn(move || {
                while stream.read(&mut [0; 4096]).is_ok_and(|read| read > 0) {
                    let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nOK");
                }
            });
        }
    });
    (address, count)
}

/// Returns how many connections a server had so far. The kernel accepts before the server counts,
/// in order: when our own connection has its response, all earlier ones are counted.
fn connections(server: SocketAddr, count: &AtomicUsize) -> usize {
    let mut own = TcpStream::connect(server).unwrap();
    own.write_all(b"?").unwrap();
    assert!(own.read(&mut [0; 100]).unwrap() > 0);
    count.fetch_sub(1, Ordering::SeqCst) - 1
}

/// Runs a recorder with these options, while `work` uses it in its own thread.
async fn run_recorder<T: Send + 'static>(
    options: RecorderOptions,
    work: impl FnOnce(SocketAddr) -> T + Send + 'static,
) -> (T, Arc<Store>) {
    let unique = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = unique.local_addr().unwrap().port();
    let spool = format!("eyelevel-reach-{}-{port}", std::process::id());
    let store = Arc::new(Store::new(std::env::temp_dir().join(spool), false).unwrap());
    let recorder = Recorder::bind(options, store.clone()).await.unwrap();
    let address = recorder.address();
    let (shutdown, ended) = oneshot::channel::<()>();
    let serving = tokio::spawn(recorder.run(async { ended.await.unwrap_or_default() }));
    let done = tokio::task::spawn_blocking(move || work(address)).await;
    drop(shutdown);
    serving.await.unwrap();
    (done.unwrap(), store)
}

/// Returns the first line of the response to a head, on a new connection.
fn first_line(proxy: SocketAddr, head: &str) -> String {
    exchange(&mut TcpStream::connect(proxy).unwrap(), head)
}

fn exchange(stream: &mut TcpStream, head: &str) -> String {
    stream.set_read_timeout(Some(HANG)).unwrap();
    stream.write_all(head.as_bytes()).unwrap();
    let mut answer = Vec::new();
    while !answer.windows(4).any(|four| four == b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).unwrap();
        answer.push(byte[0]);
    }
    let text = String::from_utf8(answer).unwrap();
    let length = text.to_ascii_lowercase();
    let length = length
        .lines()
        .find_map(|line| line.strip_prefix("content-length: "));
    let mut body = vec![0; length.map_or(0, |length| length.parse().unwrap())];
    stream.read_exact(&mut body).unwrap();
    text.lines().next().unwrap().to_owned()
}

#[tokio::test]
async fn private_servers_are_refused_in_every_form_and_not_connected() {
    let (server, count) = start_counting_server();
    let port = server.port();
    let hosts = [
        "127.0.0.1",
        "127.1",
        "2130706433",
        "0177.0.0.1",
        "0x7f.0.0.1",
        "localhost",
        "0.0.0.0",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[::127.0.0.1]",
        "169.254.169.254",
        "10.0.0.1",
        "[fe80::1]",
        "[fd00:ec2::254]",
        "[64:ff9b::7f00:1]",
    ];
    let ask = move |proxy| -> Vec<(String, String)> {
        let asked = hosts.into_iter().flat_map(|host| {
            let authority = format!("{host}:{port}");
            [
                format!("GET http://{authority}/ HTTP/1.1\r\nhost: {authority}\r\n\r\n"),
                format!("CONNECT {authority} HTTP/1.1\r\nhost: {authority}\r\n\r\n"),
            ]
        });
        asked.map(|head| (first_line(proxy, &head), head)).collect()
    };
    let (answers, store) = run_recorder(RecorderOptions::default(), ask).await;
    for (answer, head) in answers {
        assert_eq!(answer, "HTTP/1.1 403 Forbidden", "{head}");
    }
    assert_eq!(connections(server, &count), 0);
    for host in hosts {
        let note = store
            .why_left_out(host.trim_matches(['[', ']']))
            .expect(host);
        assert!(note.starts_with("refused: "), "{note}");
    }
    let note = store.why_left_out("localhost").unwrap();
    let told = format!("refused: localhost:{port} is at 127.0.0.1, loopback (RFC 1122)");
    assert!(note.starts_with(&told) || note.contains("::1"), "{note}");
    assert_eq!((store.counts().open, store.counts().exchanges), (0, 0));
}

#[tokio::test]
async fn only_allowed_servers_are_reached() {
    let ((server, count), (other, beside)) = (start_counting_server(), start_counting_server());
    let mut options = RecorderOptions::default();
    options.reach.allow(&server.to_string()).unwrap();
    let ask = move |proxy| {
        let get = |to: SocketAddr| format!("GET http://{to}/ HTTP/1.1\r\nhost: {to}\r\n\r\n");
        // One client connection, which is reused.
        let mut stream = TcpStream::connect(proxy).unwrap();
        [server, other, server].map(|to| exchange(&mut stream, &get(to)))
    };
    let (answers, store) = run_recorder(options, ask).await;
    let (reached, refused) = ("HTTP/1.1 200 OK", "HTTP/1.1 403 Forbidden");
    assert_eq!(answers, [reached, refused, reached]);
    assert_eq!(
        (connections(server, &count), connections(other, &beside)),
        (2, 0)
    );
    assert_eq!((store.counts().exchanges, store.counts().left_out), (2, 1));
}

#[tokio::test]
async fn names_below_localhost_are_loopback_and_open_as_any_other() {
    let (server, count) = start_counting_server();
    let named = format!("tags.localhost:{}", server.port());
    let mut options = RecorderOptions::default();
    options.reach.allow(&named).unwrap();
    let ask = move |proxy| {
        let get = |host: &str| format!("GET http://{host}/ HTTP/1.1\r\nhost: {host}\r\n\r\n");
        let other = format!("other.localhost:{}", server.port());
        [named.clone(), other].map(|host| first_line(proxy, &get(&host)))
    };
    let (answers, store) = run_recorder(options, ask).await;
    assert_eq!(answers, ["HTTP/1.1 200 OK", "HTTP/1.1 403 Forbidden"]);
    assert_eq!(connections(server, &count), 1);
    let way_out = format!("`--allow other.localhost:{}` if it is meant", server.port());
    assert!(store.why_left_out("other").unwrap().ends_with(&way_out));
}

#[tokio::test]
async fn a_client_without_the_runs_credentials_gets_nothing() {
    let (server, count) = start_counting_server();
    let credentials = Credentials::new().unwrap();
    let encoded = STANDARD.encode(credentials.to_user_info());
    let mut options = RecorderOptions {
        credentials: Some(credentials),
        ..RecorderOptions::default()
    };
    options.reach.allow(&server.to_string()).unwrap();
    let ask = move |proxy| {
        let heads = |field: &str| {
            [
                format!("GET http://{server}/ HTTP/1.1\r\nhost: {server}\r\n{field}\r\n"),
                format!("CONNECT {server} HTTP/1.1\r\nhost: {server}\r\n{field}\r\n"),
            ]
        };
        let wrong = STANDARD.encode("eyelevel:00112233445566778899aabbccddeeff");
        let mut stream = TcpStream::connect(proxy).unwrap();
        let refused = heads("")
            .into_iter()
            .chain(heads(&format!("proxy-authorization: Basic {wrong}\r\n")));
        let refused: Vec<String> = refused.map(|head| exchange(&mut stream, &head)).collect();
        let known = heads(&format!("proxy-authorization: Basic {encoded}\r\n"));
        (refused, known.map(|head| exchange(&mut stream, &head)))
    };
    let ((refused, known), store) = run_recorder(options, ask).await;
    assert_eq!(refused, ["HTTP/1.1 407 Proxy Authentication Required"; 4]);
    assert_eq!(known, ["HTTP/1.1 200 OK"; 2]);
    assert_eq!(connections(server, &count), 2);
    assert_eq!(store.counts().exchanges, 1);
    assert!(store.why_left_out("credentials").is_some());
}

#[tokio::test]
async fn a_request_for_another_server_than_its_own_is_refused() {
    let (server, _) = start_counting_server();
    let mut options = RecorderOptions::default();
    options.reach.allow(&server.to_string()).unwrap();
    let ask = move |proxy| {
        let plain = format!("GET http://{server}/ HTTP/1.1\r\nhost: b.example\r\n\r\n");
        let mut tunnel = TcpStream::connect(proxy).unwrap();
        let opened = exchange(
            &mut tunnel,
            &format!("CONNECT {server} HTTP/1.1\r\nhost: {server}\r\n\r\n"),
        );
        [
            first_line(proxy, &plain),
            opened,
            exchange(&mut tunnel, "GET /x HTTP/1.1\r\nhost: bank.example\r\n\r\n"),
            exchange(
                &mut tunnel,
                &format!("GET /x HTTP/1.1\r\nhost: {server}\r\n\r\n"),
            ),
            exchange(
                &mut tunnel,
                "GET http://bank.example/ HTTP/1.1\r\nhost: bank.example\r\n\r\n",
            ),
        ]
    };
    let (answers, store) = run_recorder(options, ask).await;
    let misdirected = "HTTP/1.1 421 Misdirected Request";
    let reached = "HTTP/1.1 200 OK";
    assert_eq!(
        answers,
        [misdirected, reached, misdirected, reached, misdirected]
    );
    assert_eq!(store.counts().exchanges, 1);
    let note = store.why_left_out("bank.example").unwrap();
    let told = format!("refused: a request for bank.example on the way to {server}");
    assert!(note.starts_with(&told), "{note}");
}

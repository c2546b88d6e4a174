//! Servers with invalid responses: the recorder's client gets an error, and nothing hangs.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use eyelevel_recorder::{Recorder, RecorderOptions, Store};
use tokio::sync::oneshot;

/// Bounds a test that hangs; no duration is measured by it.
const HANG: Duration = Duration::from_secs(600);

/// Returns the recorder's responses, one after the other on one connection, for a server that reads
/// a request from each of its connections, sends `said` and closes.
async fn fetch_bodies(said: &'static [u8], requests: usize) -> Vec<String> {
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let upstream = server.local_addr().unwrap();
    thread::spawn(move || {
        for stream in server.incoming() {
            let Ok(mut stream) = stream else { return };
            let mut head = [0; 4096];
            let _ = stream.read(&mut head);
            let _ = stream.write_all(said);
        }
    });
    let spool = format!(
        "eyelevel-recorder-{}-{}",
        std::process::id(),
        upstream.port()
    );
    let store = Arc::new(Store::new(std::env::temp_dir().join(spool), false).unwrap());
    let mut options = RecorderOptions::default();
    options.reach.allow(&upstream.to_string()).unwrap();
    let recorder = Recorder::bind(options, store.clone());
    let recorder = recorder.await.unwrap();
    let address = recorder.address();
    let (shutdown, ended) = oneshot::channel::<()>();
    let serving = tokio::spawn(recorder.run(async { ended.await.unwrap_or_default() }));
    let asking = move || request(address, upstream, requests);
    let answers = tokio::task::spawn_blocking(asking).await.unwrap();
    assert_eq!((store.counts().exchanges, store.counts().open), (0, 0));
    assert!(store.why_left_out("127.0.0.1").is_some());
    drop(shutdown);
    serving.await.unwrap();
    answers
}

fn request(proxy: SocketAddr, upstream: SocketAddr, requests: usize) -> Vec<String> {
    let mut stream = TcpStream::connect(proxy).unwrap();
    stream.set_read_timeout(Some(HANG)).unwrap();
    let mut answers = Vec::new();
    for _ in 0..requests {
        let request = format!("GET http://{upstream}/ HTTP/1.1\r\nhost: {upstream}\r\n\r\n");
        stream.write_all(request.as_bytes()).unwrap();
        answers.push(read_response(&mut stream));
    }
    answers
}

/// Reads one complete response with a length.
fn read_response(stream: &mut TcpStream) -> String {
    let mut text = Vec::new();
    loop {
        let mut byte = [0];
        stream.read_exact(&mut byte).unwrap();
        text.push(byte[0]);
        let said = String::from_utf8_lossy(&text).into_owned();
        let Some((head, body)) = said.split_once("\r\n\r\n") else {
            continue;
        };
        let length = head.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            let is_length = name.eq_ignore_ascii_case("content-length");
            is_length.then(|| value.trim().parse::<usize>().unwrap())
        });
        if body.len() == length.expect("a length") {
            return said;
        }
    }
}

#[tokio::test]
async fn a_server_that_closes_without_a_response_is_reported_each_time() {
    for answer in fetch_bodies(b"", 2).await {
        assert!(answer.starts_with("HTTP/1.1 502 "), "{answer}");
        assert!(answer.contains("sending GET http://127.0.0.1"), "{answer}");
    }
}

#[tokio::test]
async fn an_invalid_head_is_reported() {
    for answer in fetch_bodies(b"this is no HTTP\r\n\r\n", 2).await {
        assert!(answer.starts_with("HTTP/1.1 502 "), "{answer}");
    }
}

//! What a client has seen of a response is in the recording, whenever the client or the recording
//! ends.

mod recording;

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use recording::{
    HEAD, Recording, request_head, run_blocking, start_recording, start_scripted_server,
};

/// Returns the recorded bodies.
async fn bodies(recording: Recording) -> Vec<Vec<u8>> {
    let exchanges = recording.write().await;
    exchanges.iter().map(|each| each.body.to_vec()).collect()
}

/// Disconnects, and returns when the proxy has noticed.
fn leave(mut stream: TcpStream) {
    stream.shutdown(Shutdown::Write).unwrap();
    match stream.read_to_end(&mut Vec::new()) {
        Err(error) if error.kind() != ErrorKind::ConnectionReset => panic!("{error}"),
        _ => {}
    }
}

#[tokio::test]
async fn an_abandoned_response_is_recorded_completely() {
    let (server, say, _done) = start_scripted_server();
    let recording = start_recording(server).await;
    let proxy = recording.proxy;
    say.send(HEAD).unwrap();
    run_blocking(move || leave(request_head(proxy, server))).await;
    say.send("whole").unwrap();
    recording.store.settle().await;
    let counts = recording.store.counts();
    assert_eq!((counts.exchanges, counts.open, counts.left_out), (1, 0, 0));
    assert_eq!(bodies(recording).await, [b"whole"]);
}

#[tokio::test]
async fn the_end_waits_for_an_answer_that_has_begun() {
    let (server, say, _done) = start_scripted_server();
    let recording = start_recording(server).await;
    let proxy = recording.proxy;
    say.send(HEAD).unwrap();
    let client = run_blocking(move || request_head(proxy, server)).await;
    let store = recording.store.clone();
    let mut ending = Box::pin(store.settle());
    tokio::select! {
        biased;
        () = &mut ending => panic!("it did not wait"),
        () = tokio::task::yield_now() => say.send("whole").unwrap(),
    }
    ending.await;
    drop(client);
    assert_eq!(bodies(recording).await, [b"whole"]);
}

#[tokio::test]
async fn complete_responses_are_recorded_at_once() {
    for (head, body) in [
        ("content-length: 5\r\n\r\n", "whole"),
        (
            "transfer-encoding: chunked\r\n\r\n",
            "5\r\nwhole\r\n0\r\n\r\n",
        ),
    ] {
        let (server, say, _done) = start_scripted_server();
        let recording = start_recording(server).await;
        let proxy = recording.proxy;
        say.send("HTTP/1.1 200 OK\r\ncontent-type: text/html\r\n")
            .unwrap();
        say.send(head).unwrap();
        say.send(body).unwrap();
        let store = recording.store.clone();
        let kept = run_blocking(move || {
            let mut client = request_head(proxy, server);
            let mut read = vec![0; body.len()];
            client.read_exact(&mut read).unwrap();
            assert_eq!(read, body.as_bytes());
            store.counts().exchanges
        });
        assert_eq!(kept.await, 1, "{head}");
        assert_eq!(bodies(recording).await, [b"whole"]);
    }
}

#[tokio::test]
async fn a_long_rest_is_not_downloaded() {
    let (server, say, _done) = start_scripted_server();
    let recording = start_recording(server).await;
    let proxy = recording.proxy;
    say.send("HTTP/1.1 200 OK\r\ncontent-type: video/mp4\r\ncontent-length: 2000000\r\n\r\n")
        .unwrap();
    run_blocking(move || leave(request_head(proxy, server))).await;
    recording.store.settle().await;
    assert_eq!(recording.store.counts().open, 0);
    let cut = recording.store.why_left_out("127.0.0.1").unwrap();
    let told = format!("http://{server}/: its answer was cut (video/mp4)");
    assert_eq!(cut, told);
}

/// A server whose first connection ends at its second request, unanswered; counts its connections.
fn closing_the_first_connection() -> (SocketAddr, Arc<AtomicUsize>) {
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = server.local_addr().unwrap();
    let connections = Arc::new(AtomicUsize::new(0));
    let counted = connections.clone();
    thread::spawn(move || {
        for stream in server.incoming() {
            let mut stream = stream.unwrap();
            let is_first = counted.fetch_add(1, Ordering::SeqCst) == 0;
            thread::spawn(move || {
                let mut is_kept = false;
                while read_head(&mut stream).is_some() && !(is_first && is_kept) {
                    let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nwhole";
                    stream.write_all(answer).unwrap();
                    is_kept = true;
                }
            });
        }
    });
    (address, connections)
}

/// Reads to the end of a head; returns nothing where the stream ends before.
fn read_head(stream: &mut TcpStream) -> Option<()> {
    let mut last = [0; 4];
    while last != *b"\r\n\r\n" {
        last.rotate_left(1);
        stream.read_exact(&mut last[3..]).ok()?;
    }
    Some(())
}

/// The status lines of two requests on one connection to the proxy.
fn two_answers(method: &str, proxy: SocketAddr, server: SocketAddr) -> Vec<String> {
    let mut stream = TcpStream::connect(proxy).unwrap();
    let mut answers = Vec::new();
    for connection in ["keep-alive", "close"] {
        let request = format!(
            "{method} http://{server}/{connection} HTTP/1.1\r\nhost: {server}\r\n\
             connection: {connection}\r\ncontent-length: 0\r\n\r\n"
        );
        stream.write_all(request.as_bytes()).unwrap();
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            stream.read_exact(&mut byte).unwrap();
            head.push(byte[0]);
        }
        let text = String::from_utf8(head).unwrap();
        answers.push(text.lines().next().unwrap().to_owned());
        if connection == "keep-alive" {
            stream.read_exact(&mut [0; 5]).unwrap();
        }
    }
    answers
}

/// As Chromium does with every method, where a kept connection ends without a byte of the answer.
#[tokio::test]
async fn a_request_that_a_kept_connection_loses_is_sent_again() {
    for method in ["GET", "POST"] {
        let (server, connections) = closing_the_first_connection();
        let recording = start_recording(server).await;
        let proxy = recording.proxy;
        let answers = run_blocking(move || two_answers(method, proxy, server)).await;
        assert_eq!(answers, ["HTTP/1.1 200 OK"; 2], "{method}");
        recording.store.settle().await;
        assert_eq!(recording.store.counts().left_out, 0);
        assert_eq!(connections.load(Ordering::SeqCst), 2);
        assert_eq!(bodies(recording).await, [b"whole", b"whole"]);
    }
}

//! What a client has seen of an answer is in the recording, whenever it leaves and whenever that ends.

mod recording;

use std::io::{ErrorKind, Read};
use std::net::{Shutdown, TcpStream};

use recording::{HEAD, Recording, aside, asked, dictated, recording};

/// The bodies that are in the file.
async fn bodies(recording: Recording) -> Vec<Vec<u8>> {
    let exchanges = recording.written().await;
    exchanges.iter().map(|each| each.body.to_vec()).collect()
}

/// Leaves, and is back when the proxy knows.
fn leave(mut stream: TcpStream) {
    stream.shutdown(Shutdown::Write).unwrap();
    match stream.read_to_end(&mut Vec::new()) {
        Err(error) if error.kind() != ErrorKind::ConnectionReset => panic!("{error}"),
        _ => {}
    }
}

#[tokio::test]
async fn an_answer_whose_client_left_after_its_head_is_kept_whole() {
    let (server, say, _done) = dictated();
    let recording = recording(server).await;
    let proxy = recording.proxy;
    say.send(HEAD).unwrap();
    aside(move || leave(asked(proxy, server))).await;
    say.send("whole").unwrap();
    recording.store.settle().await;
    let counts = recording.store.counts();
    assert_eq!((counts.exchanges, counts.open, counts.left_out), (1, 0, 0));
    assert_eq!(bodies(recording).await, [b"whole"]);
}

#[tokio::test]
async fn the_end_waits_for_an_answer_that_has_begun() {
    let (server, say, _done) = dictated();
    let recording = recording(server).await;
    let proxy = recording.proxy;
    say.send(HEAD).unwrap();
    let client = aside(move || asked(proxy, server)).await;
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
async fn what_a_client_has_seen_whole_is_kept_already() {
    for (head, body) in [
        ("content-length: 5\r\n\r\n", "whole"),
        (
            "transfer-encoding: chunked\r\n\r\n",
            "5\r\nwhole\r\n0\r\n\r\n",
        ),
    ] {
        let (server, say, _done) = dictated();
        let recording = recording(server).await;
        let proxy = recording.proxy;
        say.send("HTTP/1.1 200 OK\r\ncontent-type: text/html\r\n")
            .unwrap();
        say.send(head).unwrap();
        say.send(body).unwrap();
        let store = recording.store.clone();
        let kept = aside(move || {
            let mut client = asked(proxy, server);
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
async fn a_long_rest_is_not_fetched_for_nobody() {
    let (server, say, _done) = dictated();
    let recording = recording(server).await;
    let proxy = recording.proxy;
    say.send("HTTP/1.1 200 OK\r\ncontent-type: video/mp4\r\ncontent-length: 2000000\r\n\r\n")
        .unwrap();
    aside(move || leave(asked(proxy, server))).await;
    recording.store.settle().await;
    assert_eq!(recording.store.counts().open, 0);
    let cut = recording.store.why_left_out("127.0.0.1").unwrap();
    let told = format!("http://{server}/: its answer was cut (video/mp4)");
    assert_eq!(cut, told);
}

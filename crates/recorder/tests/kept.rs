//! What a client has seen of an answer is in the recording, whenever it leaves and whenever that ends.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use eyelevel_archive::Site;
use eyelevel_recorder::{Recorder, RecorderOptions, Store, Writing};
use tokio::sync::oneshot;

/// Bounds a test that hangs; no duration is measured by it.
const HANG: Duration = Duration::from_secs(600);
const HEAD: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 5\r\n\r\n";

/// A server of one connection, which answers its request with what it is told to send.
fn dictated() -> (SocketAddr, mpsc::Sender<&'static str>) {
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = server.local_addr().unwrap();
    let (say, said) = mpsc::channel::<&'static str>();
    thread::spawn(move || {
        let (mut stream, _) = server.accept().unwrap();
        assert!(stream.read(&mut [0; 4096]).unwrap() > 0);
        for text in said {
            let _ = stream.write_all(text.as_bytes());
        }
    });
    (address, say)
}

struct Recording {
    store: Arc<Store>,
    proxy: SocketAddr,
    shutdown: oneshot::Sender<()>,
    serving: tokio::task::JoinHandle<()>,
}

async fn recording(server: SocketAddr) -> Recording {
    let spool = format!("eyelevel-kept-{}-{}", std::process::id(), server.port());
    let store = Arc::new(Store::new(std::env::temp_dir().join(spool), false).unwrap());
    let mut options = RecorderOptions::default();
    options.reach.allow(&server.to_string()).unwrap();
    let recorder = Recorder::bind(options, store.clone()).await.unwrap();
    let proxy = recorder.address();
    let (shutdown, ended) = oneshot::channel::<()>();
    let serving = tokio::spawn(recorder.run(async { ended.await.unwrap_or_default() }));
    Recording {
        store,
        proxy,
        shutdown,
        serving,
    }
}

impl Recording {
    /// The bodies that are in the file.
    async fn written(self) -> Vec<Vec<u8>> {
        let out = std::env::temp_dir().join(format!(
            "eyelevel-kept-{}-{}.wacz",
            std::process::id(),
            self.proxy.port()
        ));
        self.store.write(&out, Writing::default()).unwrap();
        drop(self.shutdown);
        self.serving.await.unwrap();
        let site = Site::open(&out).unwrap();
        std::fs::remove_file(&out).unwrap();
        let exchanges = site.exchanges().iter();
        exchanges.map(|each| each.body.to_vec()).collect()
    }
}

/// Work that waits for packets.
async fn aside<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    tokio::task::spawn_blocking(work).await.unwrap()
}

/// A client that has asked and read the answer up to the end of its head.
fn asked(proxy: SocketAddr, server: SocketAddr) -> TcpStream {
    let mut stream = TcpStream::connect(proxy).unwrap();
    stream.set_read_timeout(Some(HANG)).unwrap();
    let request = format!("GET http://{server}/ HTTP/1.1\r\nhost: {server}\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).unwrap();
        head.push(byte[0]);
    }
    stream
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
    let (server, say) = dictated();
    let recording = recording(server).await;
    let proxy = recording.proxy;
    say.send(HEAD).unwrap();
    aside(move || leave(asked(proxy, server))).await;
    say.send("whole").unwrap();
    recording.store.settle().await;
    let counts = recording.store.counts();
    assert_eq!((counts.exchanges, counts.open, counts.left_out), (1, 0, 0));
    assert_eq!(recording.written().await, [b"whole"]);
}

#[tokio::test]
async fn the_end_waits_for_an_answer_that_has_begun() {
    let (server, say) = dictated();
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
    assert_eq!(recording.written().await, [b"whole"]);
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
        let (server, say) = dictated();
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
        assert_eq!(recording.written().await, [b"whole"]);
    }
}

#[tokio::test]
async fn a_long_rest_is_not_fetched_for_nobody() {
    let (server, say) = dictated();
    let recording = recording(server).await;
    let proxy = recording.proxy;
    say.send("HTTP/1.1 200 OK\r\ncontent-type: video/mp4\r\ncontent-length: 2000000\r\n\r\n")
        .unwrap();
    aside(move || leave(asked(proxy, server))).await;
    recording.store.settle().await;
    assert_eq!(recording.store.counts().open, 0);
    let cut = recording.store.left_out_of("127.0.0.1").unwrap();
    let told = format!("http://{server}/: its answer was cut (video/mp4)");
    assert_eq!(cut, told);
}

//! A recorder on loopback, a scripted server, and clients.
#![allow(dead_code)]

use std::io::{Read, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use bytes::Bytes;
use eyelevel_archive::{Exchange, Site};
use eyelevel_recorder::{Recorder, RecorderOptions, Store, Writing};
use eyelevel_replay::tls::client_config_trusting;
use eyelevel_replay::{HttpVersion, TlsVersion};
use http_body_util::Empty;
use hyper::client::conn::http2;
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls::pki_types::{CertificateDer, ServerName};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::oneshot;
use tokio_rustls::TlsConnector;

/// Bounds a test that hangs; no duration is measured by it.
const HANG: Duration = Duration::from_secs(600);
pub const HEAD: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 5\r\n\r\n";

/// Starts a server for one connection, which responds with what it receives on the channel and
/// reports when it has.
pub fn start_scripted_server() -> (SocketAddr, mpsc::Sender<&'static str>, mpsc::Receiver<()>) {
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = server.local_addr().unwrap();
    let (say, said) = mpsc::channel::<&'static str>();
    let (tell, done) = mpsc::channel();
    thread::spawn(move || {
        let (mut stream, _) = server.accept().unwrap();
        assert!(stream.read(&mut [0; 4096]).unwrap() > 0);
        for text in said {
            let _ = stream.write_all(text.as_bytes());
            let _ = tell.send(());
        }
    });
    (address, say, done)
}

pub struct Recording {
    pub store: Arc<Store>,
    pub proxy: SocketAddr,
    /// The root that its clients trust.
    pub root: CertificateDer<'static>,
    shutdown: oneshot::Sender<()>,
    serving: tokio::task::JoinHandle<()>,
}

pub async fn start_recording(server: SocketAddr) -> Recording {
    let mut options = RecorderOptions::default();
    options.reach.allow(&server.to_string()).unwrap();
    start_recording_with(options, server).await
}

/// Starts a recording with these options.
pub async fn start_recording_with(options: RecorderOptions, server: SocketAddr) -> Recording {
    let spool = format!("eyelevel-kept-{}-{}", std::process::id(), server.port());
    let store = Arc::new(Store::new(std::env::temp_dir().join(spool), false).unwrap());
    let recorder = Recorder::bind(options, store.clone()).await.unwrap();
    let (proxy, root) = (recorder.address(), recorder.authority().root().clone());
    let (shutdown, ended) = oneshot::channel::<()>();
    let serving = tokio::spawn(recorder.run(async { ended.await.unwrap_or_default() }));
    Recording {
        store,
        proxy,
        root,
        shutdown,
        serving,
    }
}

impl Recording {
    /// Writes the recording and returns its exchanges.
    pub async fn write(self) -> Vec<Exchange> {
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
        site.exchanges().to_vec()
    }
}

/// Opens a client's HTTP/2 session with a host, through the proxy.
pub async fn session(
    proxy: SocketAddr,
    root: CertificateDer<'static>,
    host: &'static str,
) -> http2::SendRequest<Empty<Bytes>> {
    let mut stream = tokio::net::TcpStream::connect(proxy).await.unwrap();
    stream.set_nodelay(true).unwrap();
    let wish = format!("CONNECT {host}:443 HTTP/1.1\r\nhost: {host}:443\r\n\r\n");
    stream.write_all(wish.as_bytes()).await.unwrap();
    assert!(read_head(&mut stream).await.starts_with("HTTP/1.1 200 "));
    let tls = client_config_trusting(root, HttpVersion::H2, TlsVersion::Tls13).unwrap();
    let name = ServerName::try_from(host).unwrap();
    let stream = TlsConnector::from(Arc::new(tls)).connect(name, stream);
    let (sender, connection) =
        http2::handshake(TokioExecutor::new(), TokioIo::new(stream.await.unwrap()))
            .await
            .unwrap();
    tokio::spawn(connection);
    sender
}

/// Runs blocking work in another thread.
pub async fn run_blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    tokio::task::spawn_blocking(work).await.unwrap()
}

/// Sends a request and reads the response up to the end of its head.
pub fn request_head(proxy: SocketAddr, server: SocketAddr) -> TcpStream {
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

/// Reads the head of a response without blocking.
pub async fn read_head(stream: &mut tokio::net::TcpStream) -> String {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.unwrap());
    }
    String::from_utf8(head).unwrap()
}

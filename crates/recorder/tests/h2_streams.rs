//! Each response on an HTTP/2 connection has the think time of its own stream, whatever the order
//! of responses and cancelled requests.

mod recording;

use std::collections::HashMap;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use bytes::Bytes;
use eyelevel_recorder::RecorderOptions;
use eyelevel_replay::tls::{Authority, Chains, server_config};
use eyelevel_replay::{CertificateKey, HttpVersion, StackConfig};
use http::{Request, Response};
use http_body_util::{BodyExt, Empty, Full};
use hyper::body::Incoming;
use hyper::client::conn::http2;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use recording::{session, start_recording_with};
use rustls::pki_types::CertificateDer;
use tokio::net::TcpListener;
use tokio::runtime::Builder;
use tokio::sync::{mpsc as asynchronous, oneshot};
use tokio_rustls::TlsAcceptor;

const HOST: &str = "streams.example";
const GIVEN_UP: &str = "/given-up";
const LATE: &str = "/late";
/// The prefix of paths that are answered at once; a number follows.
const SOON: &str = "/soon/";
const SOON_COUNT: usize = 7;
/// The time between a late response and the next, which reveals a swapped stream.
const HELD_MIN: Duration = Duration::from_millis(20);
/// The tolerance between clocks: kernel timestamps use another clock, which may be set.
const CLOCKS_MS: f64 = 1.0;

/// An HTTP/2 server that reports its requests. It never responds to `GIVEN_UP`, responds to `LATE`
/// on command and returns how long that was held, and responds to all else at once.
struct Server {
    address: SocketAddr,
    root: CertificateDer<'static>,
    asked: asynchronous::UnboundedReceiver<String>,
    answer_late: oneshot::Sender<()>,
    held: mpsc::Receiver<Duration>,
}

fn server() -> Server {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let authority = Authority::new(vec![], HOST, CertificateKey::Ecdsa, Chains::Short);
    let authority = Arc::new(authority.unwrap());
    let root = authority.root().clone();
    let tls = server_config(authority, &StackConfig::tuned("test", HttpVersion::H2)).unwrap();
    let (tell, asked) = asynchronous::unbounded_channel();
    let (answer_late, may_answer) = oneshot::channel();
    let (tell_held, held) = mpsc::channel();
    let may_answer = Mutex::new(Some(may_answer));
    let answer = move |request: Request<Incoming>| {
        let received = Instant::now();
        let path = request.uri().path().to_owned();
        tell.send(path.clone()).unwrap();
        let may_answer = (path == LATE).then(|| may_answer.lock().unwrap().take().unwrap());
        let tell_held = tell_held.clone();
        async move {
            if path == GIVEN_UP {
                std::future::pending::<()>().await;
            }
            if let Some(may_answer) = may_answer {
                may_answer.await.unwrap();
                while received.elapsed() < HELD_MIN {}
                tell_held.send(received.elapsed()).unwrap();
            }
            Ok::<_, Infallible>(Response::new(Full::new(Bytes::from(path))))
        }
    };
    thread::spawn(move || {
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            listener.set_nonblocking(true).unwrap();
            let listener = TcpListener::from_std(listener).unwrap();
            let (stream, _) = listener.accept().await.unwrap();
            stream.set_nodelay(true).unwrap();
            let stream = TlsAcceptor::from(Arc::new(tls)).accept(stream).await;
            let serving = hyper::server::conn::http2::Builder::new(TokioExecutor::new())
                .serve_connection(TokioIo::new(stream.unwrap()), service_fn(answer));
            let _ = serving.await;
        });
    });
    Server {
        address,
        root,
        asked,
        answer_late,
        held,
    }
}

/// Fetches a path; returns the body and the time that it took.
async fn fetch(mut sender: http2::SendRequest<Empty<Bytes>>, path: String) -> (Bytes, Duration) {
    let request = Request::get(format!("https://{HOST}{path}"));
    let began = Instant::now();
    let answer = sender.send_request(request.body(Empty::new()).unwrap());
    let body = answer.await.unwrap().into_body().collect().await.unwrap();
    (body.to_bytes(), began.elapsed())
}

#[tokio::test]
async fn each_answer_has_the_time_of_its_own_stream() {
    let mut server = server();
    let mut options = RecorderOptions::default();
    options.roots.push(server.root.clone());
    let place = (HOST.to_owned(), 443);
    options.addresses.insert(place, server.address);
    let recording = start_recording_with(options, server.address).await;
    let sender = session(recording.proxy, recording.root.clone(), HOST).await;

    let given_up = tokio::spawn(fetch(sender.clone(), GIVEN_UP.to_owned()));
    assert_eq!(server.asked.recv().await.unwrap(), GIVEN_UP);
    given_up.abort();
    // All at once, so that their HEADERS queue together.
    let late = tokio::spawn(fetch(sender.clone(), LATE.to_owned()));
    let soon: Vec<String> = (0..SOON_COUNT)
        .map(|each| format!("{SOON}{each}"))
        .collect();
    let fetching = soon.iter().cloned();
    let fetching: Vec<_> = fetching
        .map(|path| tokio::spawn(fetch(sender.clone(), path)))
        .collect();
    let mut took = HashMap::new();
    for (path, fetching) in soon.into_iter().zip(fetching) {
        let (body, took_so_long) = fetching.await.unwrap();
        assert_eq!(body, path);
        took.insert(path, took_so_long);
    }
    server.answer_late.send(()).unwrap();
    let (body, late_took) = late.await.unwrap();
    assert_eq!(body, LATE);
    took.insert(LATE.to_owned(), late_took);
    let held = server.held.recv().unwrap();
    drop(sender);

    recording.store.settle().await;
    let exchanges = recording.write().await;
    let ms = |duration: Duration| duration.as_secs_f64() * 1e3;
    // The server's time lies within the recorded one, and that within the client's.
    assert_eq!(exchanges.len(), took.len());
    for exchange in exchanges {
        let recorded_ms = exchange.time_to_first_byte_ms.unwrap();
        let path = exchange.url.path();
        let most_ms = ms(took[path]) + CLOCKS_MS;
        assert!(recorded_ms <= most_ms, "{path}: {recorded_ms} of {most_ms}");
        let is_held = path != LATE || recorded_ms >= ms(held) - CLOCKS_MS;
        assert!(is_held, "{recorded_ms} of {held:?}");
        assert_eq!(exchange.protocol, "h2");
    }
}

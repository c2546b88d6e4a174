//! HTTP/2 responses that the library refuses are left out with their host and field.

mod recording;

use std::sync::Arc;

use bytes::Bytes;
use eyelevel_recorder::RecorderOptions;
use eyelevel_replay::tls::{Authority, Chains, server_config};
use eyelevel_replay::{CertificateKey, HttpVersion, StackConfig};
use http::Request;
use http_body_util::{BodyExt, Empty};
use recording::{session, start_recording_with};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

const HOST: &str = "odd.example";
const BODY: &[u8] = b"hello";
const PREFACE_BYTES: usize = 24;
const DATA: u8 = 0;
const HEADERS: u8 = 1;
const SETTINGS: u8 = 4;
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;

fn frame(kind: u8, flags: u8, stream: u8, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    [&length[1..], &[kind, flags, 0, 0, 0, stream], payload].concat()
}

/// Encodes status 200 and a field without Huffman coding.
fn head(name: &str, value: &str) -> Vec<u8> {
    let part = |text: &str| [&[u8::try_from(text.len()).unwrap()], text.as_bytes()].concat();
    [&[0x88, 0][..], &part(name), &part(value)].concat()
}

/// Requests a response with the field; returns whether it arrived, and why it was not recorded.
async fn record(name: &str, value: &str) -> (bool, Option<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let authority = Authority::new(vec![], HOST, CertificateKey::Ecdsa, Chains::Short);
    let authority = Arc::new(authority.unwrap());
    let root = authority.root().clone();
    let tls = server_config(authority, &StackConfig::tuned("test", HttpVersion::H2)).unwrap();
    let answer = [
        frame(HEADERS, END_HEADERS, 1, &head(name, value)),
        frame(DATA, END_STREAM, 1, BODY),
    ];
    tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        let stream = TlsAcceptor::from(Arc::new(tls)).accept(stream).await;
        let mut stream = stream.unwrap();
        stream.write_all(&frame(SETTINGS, 0, 0, &[])).await.unwrap();
        stream.read_exact(&mut [0; PREFACE_BYTES]).await.unwrap();
        loop {
            let mut header = [0; 9];
            stream.read_exact(&mut header).await.unwrap();
            let length = u32::from_be_bytes([0, header[0], header[1], header[2]]);
            let mut payload = vec![0; length as usize];
            stream.read_exact(&mut payload).await.unwrap();
            if header[3] == HEADERS {
                break;
            }
        }
        stream.write_all(&answer.concat()).await.unwrap();
        // Until the recorder closes it.
        let _ = stream.read_to_end(&mut Vec::new()).await;
    });
    let mut options = RecorderOptions::default();
    options.roots.push(root);
    options.addresses.insert((HOST.to_owned(), 443), address);
    let recording = start_recording_with(options, address).await;
    let mut sender = session(recording.proxy, recording.root.clone(), HOST).await;
    let request = Request::get(format!("https://{HOST}/a"));
    let answer = sender.send_request(request.body(Empty::<Bytes>::new()).unwrap());
    let is_whole = match answer.await {
        Ok(answer) if answer.status() == 200 => {
            let body = answer.into_body().collect().await;
            body.is_ok_and(|body| body.to_bytes() == BODY)
        }
        _ => false,
    };
    drop(sender);
    recording.store.settle().await;
    (is_whole, recording.store.why_left_out(HOST))
}

#[tokio::test]
async fn refused_responses_are_named() {
    for (name, value) in [("x-a", "1"), ("content-length", "5")] {
        assert_eq!(record(name, value).await, (true, None), "{name}");
    }
    for (name, value, fault) in [
        ("proxy-connection", "x", "is none of HTTP/2"),
        ("te", "gzip", "is none of HTTP/2"),
        ("X-Upper", "1", "has a name that HTTP/2 does not allow"),
        ("content-length", "3", "is 3, and 5 bytes or more came"),
        ("content-length", "9", "is 9, and 5 bytes came"),
        ("content-length", "x", "is not a number"),
    ] {
        let (is_whole, note) = record(name, value).await;
        let note = note.unwrap();
        assert!(!is_whole, "{name}: {note}");
        assert!(note.contains("https://odd.example/a"), "{note}");
        let right = format!("its field `{name}` {fault}");
        assert!(note.ends_with(&right), "{note} is not {right}");
    }
}

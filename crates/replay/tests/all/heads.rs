//! Head sizes equal those on the wire, over HTTP/1.1 and HTTP/2, with and without tables.

use crate::common::{Recorded, Running, pattern, site, stack};
use eyelevel_replay::tls::client_config;
use eyelevel_replay::{Event, HttpVersion, InForce, StackConfig, TlsVersion};
use std::sync::Arc;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::client::TlsStream;

const HOST: &str = "www.example.test";
const BODY_BYTES: usize = 3000;
const END: &[u8] = b"\r\n\r\n";
const HEADERS: u8 = 1;
const SETTINGS: u8 = 4;
/// The flags END_STREAM and END_HEADERS.
const WHOLE: u8 = 5;

async fn connect(running: &Running, version: HttpVersion) -> TlsStream<TcpStream> {
    let address = running.address(&running.site.origins()[0]);
    let tls = client_config(&running.authority, version, TlsVersion::Tls13).unwrap();
    let stream = TcpStream::connect(address).await.unwrap();
    let connector = tokio_rustls::TlsConnector::from(Arc::new(tls));
    connector
        .connect(HOST.try_into().unwrap(), stream)
        .await
        .unwrap()
}

fn running(version: HttpVersion, table_bytes: Option<u32>) -> Running {
    let recorded = Recorded {
        fields: "content-type: text/css\r\nx-of-the-site: a value that comes with each of them\r\n"
            .into(),
        ..Recorded::new(&format!("https://{HOST}/a"), pattern(BODY_BYTES, 1))
    };
    let stack = StackConfig {
        header_table_bytes: table_bytes,
        ..stack(version)
    };
    Running::start(site(&[recorded]), stack)
}

/// Returns what was in force on the only connection, and each request's bytes.
async fn counted(running: Running) -> (InForce, Vec<u64>) {
    let (mut in_force, mut heads) = (None, Vec::new());
    for event in running.stop().await {
        match event {
            Event::Request(request) => heads.push(request.head_bytes.unwrap()),
            Event::Connection(connection) => in_force = Some(connection.in_force),
        }
    }
    (in_force.unwrap(), heads)
}

#[tokio::test]
async fn heads_of_http1_are_counted_as_they_are_on_the_wire() {
    let running = running(HttpVersion::H1, None);
    let mut stream = connect(&running, HttpVersion::H1).await;
    let (mut up, mut down) = (Vec::new(), 0);
    for target in ["/a", "/a?b=1&c", "/not/recorded"] {
        let head = format!(
            "GET {target} HTTP/1.1\r\nHost: {HOST}\r\nAccept: */*\r\nCookie: a=1; b=2\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        up.push(head.len() as u64);
        let mut seen = Vec::new();
        while !seen.ends_with(END) {
            seen.push(stream.read_u8().await.unwrap());
        }
        down += seen.len() as u64;
        let text = String::from_utf8(seen).unwrap();
        let length = text
            .split("content-length: ")
            .nth(1)
            .unwrap()
            .split('\r')
            .next()
            .unwrap();
        let mut body = vec![0; length.parse().unwrap()];
        stream.read_exact(&mut body).await.unwrap();
    }
    drop(stream);
    let (in_force, heads) = counted(running).await;
    assert_eq!(heads, up);
    assert_eq!(in_force.request_head_bytes, Some(up.iter().sum()));
    assert_eq!(in_force.response_head_bytes, Some(down));
    assert_eq!(in_force.request_table_bytes, None);
}

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

/// Encodes `:method: GET`, `:scheme: https`, `:path`, `:authority` by HPACK's static table.
fn request() -> Vec<u8> {
    let mut block = vec![0x82, 0x87, 0x04, 2];
    block.extend(b"/a");
    block.extend([0x01, u8::try_from(HOST.len()).unwrap()]);
    block.extend(HOST.as_bytes());
    block
}

/// Returns the table size that the server's SETTINGS offer (RFC 9113, section 6.5.2), and the field
/// sections of three responses, for a client that offers that table, or none.
async fn sections(running: &Running, offered: Option<u32>) -> (u32, Vec<Vec<u8>>) {
    let mut stream = connect(running, HttpVersion::H2).await;
    let settings = offered.map_or(Vec::new(), |bytes| {
        [&[0, 1][..], &bytes.to_be_bytes()].concat()
    });
    let mut first = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec();
    first.extend(frame(4, 0, 0, &settings));
    stream.write_all(&first).await.unwrap();
    let (mut found, mut table_bytes) = (Vec::new(), None);
    for number in 0..3 {
        let id = 2 * number + 1;
        stream
            .write_all(&frame(HEADERS, WHOLE, id, &request()))
            .await
            .unwrap();
        loop {
            let mut header = [0; 9];
            stream.read_exact(&mut header).await.unwrap();
            let length = u32::from_be_bytes([0, header[0], header[1], header[2]]);
            let mut payload = vec![0; length as usize];
            stream.read_exact(&mut payload).await.unwrap();
            match header[3] {
                HEADERS => found.push(payload),
                SETTINGS if header[4] == 0 => {
                    let own = payload.chunks_exact(6).find(|own| own[..2] == [0, 1]);
                    let own = own.map(|own| u32::from_be_bytes(own[2..].try_into().unwrap()));
                    table_bytes = Some(own.unwrap_or(4096));
                }
                0 if header[4] & 1 == 1 => break,
                _ => {}
            }
        }
    }
    (table_bytes.unwrap(), found)
}

#[tokio::test]
async fn http2s_tables_are_the_lesser_of_the_stacks_and_the_offer() {
    for (ours, offered, expected) in [
        (None, Some(65_536), 4096),
        (None, None, 4096),
        (None, Some(0), 0),
        (Some(0), Some(65_536), 0),
        (Some(0), None, 0),
        (Some(200), Some(65_536), 200),
        (Some(200), None, 200),
    ] {
        let running = running(HttpVersion::H2, ours);
        let (table_bytes, found) = sections(&running, offered).await;
        assert_eq!(table_bytes, ours.unwrap_or(4096));
        let bytes: Vec<u64> = found.iter().map(|section| section.len() as u64).collect();
        // A change of the table's size comes first (RFC 7541, section 6.3).
        let is_change = found[0][0] & 0xe0 == 0x20;
        assert_eq!(is_change, expected != 4096, "{ours:?}, {offered:?}");
        assert_eq!(found[0][0] == 0x20, expected == 0, "{ours:?}, {offered:?}");
        if expected == 0 {
            assert_eq!(bytes[1] + 1, bytes[0], "nothing is remembered: {bytes:?}");
        } else {
            assert!(bytes[1] < bytes[0] / 2, "{bytes:?}");
        }
        assert_eq!(bytes[1], bytes[2]);
        let (in_force, heads) = counted(running).await;
        assert_eq!(heads, [request().len() as u64; 3]);
        assert_eq!(in_force.request_head_bytes, Some(heads.iter().sum()));
        assert_eq!(in_force.response_head_bytes, Some(bytes.iter().sum()));
        assert_eq!(in_force.response_table_bytes, Some(expected));
        assert_eq!(in_force.request_table_bytes, Some(table_bytes.into()));
        assert_eq!(in_force.encoder_sent_bytes, None);
    }
}

//! Clients that write HTTP/2 and HTTP/3 by hand and record the order of body bytes on the wire.

use eyelevel_replay::quic::transport;
use eyelevel_replay::tls::client_config;
use eyelevel_replay::{HttpVersion, TlsVersion};
use noq::crypto::rustls::QuicClientConfig;
use noq::{ConnectionId, QlogConfig, QlogFactory, Side, VarInt};
use std::collections::BTreeSet;
use std::io::Write;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::Running;

/// A stream's window before it is read: less than the first body, more than the others'.
const STREAM_WINDOW_BYTES: u32 = 65_535;
const WINDOW_BYTES: u32 = 8 << 20;

/// A client's request or change, one after the other.
#[derive(Clone, Copy, Debug)]
pub enum Step {
    /// A path, with its `priority` field.
    Ask(&'static str, &'static str),
    /// A changed priority of the request with this number, sent before or after it.
    Change(u64, &'static str),
}

/// Requests the body that fills its stream's window, takes the steps, lets the first body continue
/// once all heads were sent, and returns the request of each stretch of body bytes. The first
/// body's number is 0.
pub async fn order(running: &Running, host: &str, first: &str, steps: &[Step]) -> Vec<u64> {
    let origin = &running.site.origins()[0];
    let address = running.address(origin);
    match running.version() {
        HttpVersion::H3 => order_h3(running, address, host, first, steps).await,
        _ => order_h2(running, address, host, first, steps).await,
    }
}

fn count_requests(steps: &[Step]) -> usize {
    1 + steps.iter().filter(|s| matches!(s, Step::Ask(..))).count()
}

/// Waits until that many heads were sent; the server's tasks run meanwhile.
async fn heads(running: &Running, count: usize) {
    while running.events.lock().unwrap().len() < count {
        tokio::task::yield_now().await;
    }
}

fn frame(kind: u8, flags: u8, stream: u64, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    let stream = u32::try_from(stream).unwrap().to_be_bytes();
    [&length[1..], &[kind, flags], &stream, payload].concat()
}

/// Encodes fields by HPACK (RFC 7541, section 6.2.2) as literals.
fn hpack(fields: &[(&str, &str)]) -> Vec<u8> {
    let mut block = Vec::new();
    for (name, value) in fields {
        block.push(0);
        for text in [name, value] {
            block.push(u8::try_from(text.len()).unwrap());
            block.extend_from_slice(text.as_bytes());
        }
    }
    block
}

/// Encodes fields by QPACK (RFC 9204, section 4.5.6), with names and values as literals.
fn qpack(fields: &[(&str, &str)]) -> Vec<u8> {
    let mut block = vec![0, 0];
    for (name, value) in fields {
        let length = u8::try_from(name.len()).unwrap();
        if length < 7 {
            block.push(0x20 | length);
        } else {
            block.extend([0x27, length - 7]);
        }
        block.extend_from_slice(name.as_bytes());
        block.push(u8::try_from(value.len()).unwrap());
        block.extend_from_slice(value.as_bytes());
    }
    block
}

fn fields<'a>(host: &'a str, path: &'a str, priority: &'a str) -> Vec<(&'a str, &'a str)> {
    let mut fields = vec![
        (":method", "GET"),
        (":scheme", "https"),
        (":authority", host),
        (":path", path),
    ];
    if !priority.is_empty() {
        fields.push(("priority", priority));
    }
    fields
}

async fn order_h2(
    running: &Running,
    address: SocketAddr,
    host: &str,
    first: &str,
    steps: &[Step],
) -> Vec<u64> {
    let tls = client_config(&running.authority, HttpVersion::H2, TlsVersion::Tls13).unwrap();
    let stream = tokio::net::TcpStream::connect(address).await.unwrap();
    let name = host.to_owned().try_into().unwrap();
    let connector = tokio_rustls::TlsConnector::from(Arc::new(tls));
    let mut stream = connector.connect(name, stream).await.unwrap();
    let stream_of = |number: u64| 2 * number + 1;
    let headers = |number, path: &str, priority: &str| {
        frame(
            1,
            5,
            stream_of(number),
            &hpack(&fields(host, path, priority)),
        )
    };
    let mut begin = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec();
    begin.extend(frame(4, 0, 0, &[]));
    begin.extend(frame(8, 0, 0, &WINDOW_BYTES.to_be_bytes()));
    begin.extend(headers(0, first, "u=0"));
    stream.write_all(&begin).await.unwrap();
    heads(running, 1).await;
    let mut number = 0;
    let mut rest = Vec::new();
    for step in steps {
        match step {
            Step::Ask(path, priority) => {
                number += 1;
                rest.extend(headers(number, path, priority));
            }
            Step::Change(number, priority) => {
                let id = u32::try_from(stream_of(*number)).unwrap().to_be_bytes();
                rest.extend(frame(0x10, 0, 0, &[&id, priority.as_bytes()].concat()));
            }
        }
    }
    stream.write_all(&rest).await.unwrap();
    heads(running, count_requests(steps)).await;
    let more = frame(8, 0, stream_of(0), &WINDOW_BYTES.to_be_bytes());
    stream.write_all(&more).await.unwrap();
    let (mut order, mut open) = (Vec::new(), count_requests(steps));
    let mut settings = Vec::new();
    while open > 0 {
        let mut header = [0; 9];
        stream.read_exact(&mut header).await.unwrap();
        let length = u32::from_be_bytes([0, header[0], header[1], header[2]]);
        let mut payload = vec![0; length as usize];
        stream.read_exact(&mut payload).await.unwrap();
        let id = u32::from_be_bytes([header[5], header[6], header[7], header[8]]);
        match header[3] {
            0 if length > 0 => order.push(u64::from(id / 2)),
            4 if header[4] == 0 => settings = payload,
            _ => {}
        }
        // END_STREAM of DATA or HEADERS.
        open -= usize::from(header[3] < 2 && header[4] & 1 == 1);
    }
    let no_rfc7540_priorities = settings.chunks(6).any(|each| each == [0, 9, 0, 0, 0, 1]);
    assert!(no_rfc7540_priorities, "{settings:?}");
    order.dedup();
    order
}

/// A writer that keeps noq's log of a connection.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl QlogFactory for Log {
    fn for_connection(
        &self,
        _side: Side,
        _remote: SocketAddr,
        _initial_dst_cid: ConnectionId,
        _now: std::time::Instant,
    ) -> Option<QlogConfig> {
        Some(QlogConfig::new(Box::new(self.clone())))
    }
}

async fn order_h3(
    running: &Running,
    address: SocketAddr,
    host: &str,
    first: &str,
    steps: &[Step],
) -> Vec<u64> {
    let tls = client_config(&running.authority, HttpVersion::H3, TlsVersion::Tls13).unwrap();
    let endpoint = noq::Endpoint::client("127.0.0.1:0".parse().unwrap()).unwrap();
    let mut config = noq::ClientConfig::new(Arc::new(QuicClientConfig::try_from(tls).unwrap()));
    let log = Log::default();
    let mut transport = transport(1200);
    transport
        .stream_receive_window(VarInt::from_u32(STREAM_WINDOW_BYTES))
        .receive_window(VarInt::from_u32(WINDOW_BYTES))
        .qlog_factory(Arc::new(log.clone()));
    config.transport_config(Arc::new(transport));
    let connection = endpoint.connect_with(config, address, host).unwrap();
    let connection = connection.await.unwrap();
    let mut control = connection.open_uni().await.unwrap();
    control.write_all(&[0, 4, 0]).await.unwrap();
    let mut reading = Vec::new();
    let mut number = 0;
    let ask = [Step::Ask("", "u=0")];
    for step in ask.iter().chain(steps) {
        match step {
            Step::Ask(path, priority) => {
                let path = if path.is_empty() { first } else { path };
                let block = qpack(&fields(host, path, priority));
                let (mut send, receive) = connection.open_bi().await.unwrap();
                let head = [1, 0x40, u8::try_from(block.len()).unwrap()];
                send.write_all(&[&head[..], &block].concat()).await.unwrap();
                send.finish().unwrap();
                reading.push(receive);
                number += 1;
                if number == 1 {
                    heads(running, 1).await;
                }
            }
            Step::Change(number, priority) => {
                let id = u8::try_from(4 * number).unwrap();
                let length = u8::try_from(1 + priority.len()).unwrap();
                let head = [0x80, 0x0f, 0x07, 0, length, id];
                let update = [&head[..], priority.as_bytes()].concat();
                control.write_all(&update).await.unwrap();
            }
        }
    }
    heads(running, count_requests(steps)).await;
    for receive in &mut reading {
        receive.read_to_end(usize::MAX).await.unwrap();
    }
    let text = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    stream_order(&text)
}

/// Returns the order of the requests' bytes, from a client's qlog.
fn stream_order(text: &str) -> Vec<u64> {
    let (mut order, mut seen) = (Vec::new(), BTreeSet::new());
    let records = text
        .split('\u{1e}')
        .filter(|record| record.contains("packet_received"));
    for record in records {
        let event: serde_json::Value = serde_json::from_str(record.trim()).unwrap();
        for each in event["data"]["frames"].as_array().into_iter().flatten() {
            let Some(stream) = each["stream_id"].as_u64() else {
                continue;
            };
            // The head of a response is no body: the first few bytes of its stream.
            let bidirectional = stream % 4 == 0 && each["frame_type"] == "stream";
            if bidirectional && !seen.insert(stream) {
                order.push(stream / 4);
            }
        }
    }
    order.dedup();
    order
}

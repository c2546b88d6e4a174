use bytes::Bytes;
use eyelevel_archive::{Exchange, Header, Imported, secure};

/// The bound on decoded bodies, that of a page's largest text; bodies in the inputs are small.
const BYTES_MAX: u64 = 4 << 20;

/// Decodes a body; the first line is the value of `Content-Encoding`. The result stays within the
/// bound, and the body still decodes after its links are rewritten.
pub(crate) fn run(input: &[u8]) {
    let end = input.iter().position(|byte| *byte == b'\n');
    let (names, body) = input.split_at(end.unwrap_or(input.len()));
    let body = body.get(1..).unwrap_or(&[]);
    let exchange = Exchange {
        index: 0,
        method: "GET".into(),
        url: "http://a.test/".parse().expect("it is a URL"),
        request_headers: Vec::new(),
        request_body: Bytes::new(),
        status: 200,
        reason: String::new(),
        response_headers: vec![
            Header::new("content-type", "text/html"),
            Header::new("content-encoding", Bytes::copy_from_slice(names)),
        ],
        body: Bytes::copy_from_slice(body),
        address: None,
        protocol: "http/1.1".into(),
        recorded_at_unix_ms: None,
        time_to_first_byte_ms: None,
        initiator: None,
    };
    let Some(decoded) = exchange.decoded_body(BYTES_MAX) else {
        return;
    };
    assert!(decoded.len() as u64 <= BYTES_MAX.max(body.len() as u64));
    let letters = decoded.len();
    let mut imported = Imported {
        exchanges: vec![exchange],
        ..Imported::default()
    };
    secure(&mut imported);
    let moved = imported.exchanges[0].decoded_body(2 * BYTES_MAX);
    assert!(moved.expect("it was decoded before").len() >= letters);
}

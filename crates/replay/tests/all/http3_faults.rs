//! Protocol violations of HTTP/3 clients, and the ones that the server tolerates.

use crate::common::h3::{H3, HOST, SETTINGS, URL, closed, cookie, is_whole, running, silent};
use eyelevel_http3::headers;
use eyelevel_http3::qpack::{Encoder, FieldLine, Indexing};

/// A client's violation, and the code that its connection ends with.
type Wrong = (&'static str, &'static [(Where, &'static [u8])], u64);

#[derive(Clone, Copy)]
enum Where {
    /// A new unidirectional stream that stays open.
    New,
    /// A new unidirectional stream with its end.
    Ended,
    /// A new request's stream that stays open.
    Request,
    /// A new request's stream with its end.
    RequestEnded,
}

const CONTROL: (Where, &[u8]) = (Where::New, &[0, 4, 0]);

const WRONG: [Wrong; 22] = [
    ("no settings", &[(Where::New, &[0, 0x07, 1, 0])], 0x10a),
    ("settings twice", &[(Where::New, &[0, 4, 0, 4, 0])], 0x105),
    (
        "a setting twice",
        &[(Where::New, &[0, 4, 4, 1, 0, 1, 0])],
        0x109,
    ),
    ("HTTP/2's setting", &[(Where::New, &[0, 4, 2, 4, 1])], 0x109),
    ("half a setting", &[(Where::New, &[0, 4, 1, 1])], 0x106),
    (
        "a body on control",
        &[(Where::New, &[0, 4, 0, 0, 0])],
        0x105,
    ),
    ("HTTP/2's frame", &[(Where::New, &[0, 4, 0, 6, 0])], 0x105),
    ("a push", &[(Where::New, &[0, 4, 0, 3, 1, 0])], 0x108),
    (
        "no request",
        &[(Where::New, &[0, 4, 0, 0x80, 0x0f, 7, 0, 1, 2])],
        0x108,
    ),
    ("two controls", &[CONTROL, CONTROL], 0x103),
    ("a push stream", &[(Where::New, &[1, 0])], 0x103),
    ("control's end", &[(Where::Ended, &[0, 4, 0])], 0x104),
    ("the encoder's end", &[CONTROL, (Where::Ended, &[2])], 0x104),
    (
        "a large table",
        &[CONTROL, (Where::New, &[2, 0x3f, 0xe2, 0x1f])],
        0x201,
    ),
    (
        "no such entry",
        &[CONTROL, (Where::New, &[2, 0x3f, 0x01, 0x00])],
        0x201,
    ),
    (
        "no such section",
        &[CONTROL, (Where::New, &[3, 0x84])],
        0x202,
    ),
    (
        "no such insert",
        &[CONTROL, (Where::New, &[3, 0x01])],
        0x202,
    ),
    (
        "a body first",
        &[CONTROL, (Where::Request, &[0, 1, 7])],
        0x105,
    ),
    (
        "settings in a request",
        &[CONTROL, (Where::Request, &[4, 0])],
        0x105,
    ),
    (
        "a cut frame",
        &[CONTROL, (Where::RequestEnded, &[1, 9, 0])],
        0x106,
    ),
    (
        "a cut section",
        &[CONTROL, (Where::Request, &[1, 3, 0, 0, 0x51])],
        0x200,
    ),
    (
        "no static entry",
        &[CONTROL, (Where::Request, &[1, 4, 0, 0, 0xff, 0x24])],
        0x200,
    ),
];

#[tokio::test]
async fn a_violation_ends_its_connection_with_the_right_code() {
    let running = running(|_| ());
    for (what, writes, code) in WRONG {
        let (_endpoint, connection) = silent(&running, HOST).await;
        let mut kept = Vec::new();
        for (place, bytes) in writes {
            let (mut send, receive) = match place {
                Where::New | Where::Ended => (connection.open_uni().await.unwrap(), None),
                Where::Request | Where::RequestEnded => {
                    let (send, receive) = connection.open_bi().await.unwrap();
                    (send, Some(receive))
                }
            };
            send.write_all(bytes).await.unwrap();
            if matches!(place, Where::Ended | Where::RequestEnded) {
                send.finish().unwrap();
            }
            kept.push((send, receive));
        }
        let (closed, reason) = closed(&connection).await;
        assert_eq!(closed, code, "{what}: {reason}");
        assert!(!reason.is_empty(), "{what}");
    }
    running.stop().await;
}

#[tokio::test]
async fn a_malformed_request_ends_its_stream_alone() {
    let running = running(|_| ());
    let mut client = H3::connect(&running, HOST, SETTINGS).await;
    let pseudo = |name: &'static str, value: &'static str| (name, value);
    let well = [
        pseudo(":method", "GET"),
        pseudo(":scheme", "https"),
        pseudo(":authority", HOST),
        pseudo(":path", "/0"),
    ];
    let cases: [(&[(&str, &str)], u64); 8] = [
        (&well[1..], 0x10e),
        (&well[..3], 0x10e),
        (&[well[0], well[1], well[3]], 0x10e),
        (&[well[0], well[0], well[1], well[2], well[3]], 0x10e),
        (
            &[well[0], well[1], ("accept", "*/*"), well[2], well[3]],
            0x10e,
        ),
        (
            &[well[0], well[1], well[2], well[3], ("connection", "close")],
            0x10e,
        ),
        (
            &[well[0], well[1], well[2], well[3], ("Accept", "*/*")],
            0x10e,
        ),
        (&[], 0x10d),
    ];
    for (fields, code) in cases {
        let (mut send, receive) = client.connection.open_bi().await.unwrap();
        let lines = fields.iter().map(|(name, value)| FieldLine {
            name: name.as_bytes(),
            value: value.as_bytes(),
            indexing: Indexing::Skipped,
        });
        if !fields.is_empty() {
            let section = Encoder::new().encode(0, lines, false);
            send.write_all(&headers(&section)).await.unwrap();
        }
        send.finish().unwrap();
        let ended = client.answer(receive).await.unwrap_err();
        let expected = noq::ReadError::Reset(noq::VarInt::from_u64(code).unwrap());
        assert_eq!(ended, expected, "{fields:?}");
    }
    is_whole(&client.get(URL, &cookie("a")).await);
    running.stop().await;
}

#[tokio::test]
async fn a_head_beyond_the_bound_is_refused_as_over_http2() {
    let running = running(|_| ());
    let mut client = H3::connect(&running, HOST, SETTINGS).await;
    for bytes in [60_000, 70_000, 200_000] {
        let answer = client.get(URL, &cookie(&"~".repeat(bytes))).await;
        assert_eq!(answer.status, if bytes < 65_000 { 200 } else { 431 });
    }
    is_whole(&client.get(URL, &cookie("a")).await);
    running.stop().await;
}

#[tokio::test]
async fn unknown_streams_and_settings_are_ignored() {
    let running = running(|_| ());
    let mut client = H3::connect(&running, HOST, SETTINGS).await;
    // More than the streams that a client may have open at once.
    for number in 0..40u8 {
        let mut stream = client.connection.open_uni().await.unwrap();
        stream.write_all(&[0x21, number, 1, 2, 3]).await.unwrap();
        stream.finish().unwrap();
    }
    client
        .control
        .write_all(&[0x40, 0x40, 3, 1, 2, 3])
        .await
        .unwrap();
    is_whole(&client.get(URL, &cookie("a")).await);
    assert_eq!(client.connection.stats().frame_rx.stop_sending, 0);
    running.stop().await;
}

#[tokio::test]
async fn more_waiting_requests_than_offered_end_the_connection() {
    let running = running(|stack| stack.blocked_streams_max = Some(2));
    let mut client = H3::connect(&running, HOST, SETTINGS).await;
    assert_eq!(client.use_table(4096).await.blocked_streams_max, 2);
    let mut kept = Vec::new();
    for stream in 0..3 {
        // All refer to an entry that never arrives.
        let mut encoder = Encoder::new();
        encoder.on_settings(4096, 4096, 100);
        let lines = [FieldLine {
            name: b"x-entry",
            value: b"a value",
            indexing: Indexing::Allowed,
        }];
        let section = encoder.encode(stream, lines, true);
        let (mut send, receive) = client.connection.open_bi().await.unwrap();
        send.write_all(&headers(&section)).await.unwrap();
        kept.push((send, receive));
    }
    assert_eq!(client.closed().await.0, 0x200);
    running.stop().await;
}

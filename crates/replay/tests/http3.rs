//! HTTP/3's framing and compression, with a client whose streams are written by hand.

mod common;

use common::h3::{Answer, H3, SETTINGS, closed, id, silent};
use common::{Recorded, Running, pattern, site, stack};
use eyelevel_http3::qpack::{Encoder, FieldLine, Indexing};
use eyelevel_http3::{Kind, Settings, data_head, headers};
use eyelevel_replay::{Event, HttpVersion, InForce, StackConfig};
use http::HeaderMap;
use std::time::Duration;

const HOST: &str = "www.example.test";
const URL: &str = "https://www.example.test/0";
const BODY_BYTES: usize = 3000;

fn running(change: impl FnOnce(&mut StackConfig)) -> Running {
    let recorded = Recorded {
        fields: "content-type: text/css\r\nx-of-the-site: a value that comes with each of them\r\n\
                 cache-control: public, max-age=12345\r\n"
            .into(),
        ..Recorded::new(URL, pattern(BODY_BYTES, 1))
    };
    let mut stack = stack(HttpVersion::H3);
    change(&mut stack);
    Running::start(site(&[recorded]), stack)
}

fn cookie(value: &str) -> HeaderMap {
    let agent = "an agent of eighty letters, so that it is worth the while to say it only once, ok";
    [("user-agent", agent), ("x-cookie", value)]
        .map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()))
        .into_iter()
        .collect()
}

fn is_whole(answer: &Answer) {
    assert_eq!((answer.status, answer.body.len()), (200, BODY_BYTES));
    assert!(!answer.has_trailers);
}

/// What the server counted of its only connection.
async fn counted(running: Running) -> (InForce, Vec<u64>) {
    let events = running.stop().await;
    let heads = events.iter().filter_map(|event| match event {
        Event::Request(request) => Some(request.head_bytes.unwrap()),
        Event::Connection(_) => None,
    });
    let heads = heads.collect();
    let Some(Event::Connection(connection)) = events.last() else {
        panic!("no connection was reported");
    };
    (connection.in_force.clone(), heads)
}

#[tokio::test]
async fn heads_shrink_both_ways_and_all_their_bytes_are_counted() {
    let running = running(|_| ());
    let mut client = H3::connect(&running, HOST, SETTINGS).await;
    let settings = client.use_table(4096).await;
    let offered = (settings.table_bytes_max, settings.blocked_streams_max);
    assert_eq!(offered, (4096, 100));
    let (mut up, mut down) = (Vec::new(), Vec::new());
    for number in 0..20 {
        let answer = client.get(URL, &cookie(&format!("{}", number / 10))).await;
        is_whole(&answer);
        down.push(answer.section_bytes as u64);
        assert_eq!(
            answer.headers["x-of-the-site"],
            "a value that comes with each of them"
        );
    }
    let encoder_bytes = client.said.lock().unwrap().encoder_bytes as u64;
    drop(client);
    let (in_force, heads) = counted(running).await;
    up.extend(heads);
    assert!(up.iter().sum::<u64>() < 20 * 30, "{up:?}");
    assert!(down.iter().sum::<u64>() < 20 * 20, "{down:?}");
    assert_eq!(in_force.request_head_bytes, Some(up.iter().sum()));
    assert_eq!(in_force.response_head_bytes, Some(down.iter().sum()));
    // The type of the stream comes first.
    assert_eq!(in_force.encoder_sent_bytes, Some(encoder_bytes + 1));
    assert!(
        in_force.encoder_received_bytes.unwrap() > 60,
        "{in_force:?}"
    );
    assert!(in_force.decoder_received_bytes.unwrap() >= 20);
    assert_eq!(in_force.request_table_bytes, Some(4096));
    assert_eq!(in_force.response_table_bytes, Some(4096));
    assert_eq!(in_force.blocked_streams_max, Some(100));
}

#[tokio::test]
async fn without_tables_nothing_is_indexed_and_no_stream_is_opened_for_it() {
    let running = running(|stack| stack.header_table_bytes = Some(0));
    let mut client = H3::connect(&running, HOST, SETTINGS).await;
    assert_eq!(client.use_table(4096).await.table_bytes_max, 0);
    let first = client.get(URL, &cookie("a")).await;
    let second = client.get(URL, &cookie("a")).await;
    assert_eq!(first.section_bytes, second.section_bytes);
    assert!(first.section_bytes > 60, "{first:?}");
    drop(client);
    let (in_force, heads) = counted(running).await;
    assert_eq!(heads[0], heads[1]);
    assert_eq!(in_force.encoder_sent_bytes, Some(0));
    assert_eq!(in_force.response_table_bytes, Some(0));
}

#[tokio::test]
async fn what_the_client_offers_less_is_taken() {
    let running = running(|_| ());
    let settings = Settings {
        table_bytes_max: 300,
        blocked_streams_max: 0,
        field_section_bytes_max: None,
    };
    let mut client = H3::connect(&running, HOST, settings).await;
    client.use_table(100).await;
    for _ in 0..5 {
        is_whole(&client.get(URL, &cookie("a")).await);
    }
    drop(client);
    let (in_force, _) = counted(running).await;
    assert_eq!(in_force.request_table_bytes, Some(100));
    assert_eq!(in_force.response_table_bytes, Some(300));
    assert_eq!(in_force.blocked_streams_max, Some(0));
}

#[tokio::test]
async fn a_request_waits_for_its_inserts_and_one_given_up_meanwhile_disturbs_nobody() {
    let running = running(|_| ());
    let mut client = H3::connect(&running, HOST, SETTINGS).await;
    client.use_table(4096).await;
    let mut streams = Vec::new();
    let mut inserts = Vec::new();
    for number in 0..3 {
        let (mut send, receive) = client.connection.open_bi().await.unwrap();
        let (section, more) = client.section(id(&receive), URL, &cookie(&number.to_string()));
        inserts.extend(more);
        send.write_all(&headers(&section)).await.unwrap();
        streams.push((send, receive));
    }
    // The second is given up while it waits: the server says so to the client's encoder.
    let given_up = id(&streams[1].1);
    streams[1].0.reset(0x10c_u32.into()).unwrap();
    let cancelled = |said: &common::h3::Said| {
        said.decoder_bytes
            .contains(&(0x40 | given_up as u8))
            .then_some(())
    };
    client.until(cancelled).await;
    assert!(
        running.events.lock().unwrap().is_empty(),
        "none could be read"
    );
    client.to_decoder.write_all(&inserts).await.unwrap();
    for (at, (mut send, receive)) in streams.into_iter().enumerate() {
        if at != 1 {
            send.finish().unwrap();
            is_whole(&client.answer(receive).await.unwrap());
        }
    }
    is_whole(&client.get(URL, &cookie("later")).await);
    running.stop().await;
}

#[tokio::test]
async fn more_waiting_requests_than_offered_end_the_connection() {
    let running = running(|stack| stack.blocked_streams_max = Some(2));
    let mut client = H3::connect(&running, HOST, SETTINGS).await;
    assert_eq!(client.use_table(4096).await.blocked_streams_max, 2);
    let mut kept = Vec::new();
    for stream in 0..3 {
        // All refer to an entry that never comes.
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

#[tokio::test]
async fn requests_are_read_to_their_end_and_nobody_is_told_to_stop() {
    let running = running(|_| ());
    let mut client = H3::connect(&running, HOST, SETTINGS).await;
    client.use_table(4096).await;
    for number in 0..40u8 {
        let (mut send, receive) = client.connection.open_bi().await.unwrap();
        let (section, inserts) = client.section(id(&receive), URL, &cookie("a"));
        client.to_decoder.write_all(&inserts).await.unwrap();
        send.write_all(&headers(&section)).await.unwrap();
        if number % 2 == 0 {
            send.finish().unwrap();
            is_whole(&client.answer(receive).await.unwrap());
            continue;
        }
        // The end comes after the answer, behind a reserved frame, a body that nobody asked for and
        // trailers.
        is_whole(&client.answer(receive).await.unwrap());
        send.write_all(&[0x21, 2, 0, 0]).await.unwrap();
        send.write_all(&[data_head(3), b"abc".to_vec()].concat())
            .await
            .unwrap();
        let lines = [FieldLine {
            name: b"x-trailer",
            value: b"a value",
            indexing: Indexing::Skipped,
        }];
        let trailers = Encoder::new().encode(0, lines, false);
        send.write_all(&headers(&trailers)).await.unwrap();
        send.finish().unwrap();
    }
    // One after all others, so that what was said of them has come.
    is_whole(&client.get(URL, &cookie("a")).await);
    let stats = client.connection.stats();
    assert_eq!(
        (stats.frame_rx.stop_sending, stats.frame_rx.reset_stream),
        (0, 0)
    );
    assert_eq!(stats.frame_tx.reset_stream, 0);
    running.stop().await;
}

/// Both windows alone keep the server back, and no other connection's do.
#[tokio::test]
async fn a_client_whose_windows_are_full_is_told_with_what_it_offered() {
    const WIDE: u32 = 1 << 20;
    for (stream, all, limited) in [(1000, WIDE, true), (WIDE, 1000, true), (WIDE, WIDE, false)] {
        let running = running(|_| ());
        let mut client = H3::with_windows(&running, HOST, stream, all).await;
        let (mut send, receive) = client.connection.open_bi().await.unwrap();
        let (section, _) = client.section(id(&receive), URL, &HeaderMap::new());
        send.write_all(&headers(&section)).await.unwrap();
        send.finish().unwrap();
        // The body has three times the windows; nothing more comes before some of it is read.
        tokio::time::sleep(Duration::from_millis(50)).await;
        is_whole(&client.answer(receive).await.unwrap());
        drop(client);
        let (in_force, _) = counted(running).await;
        assert_eq!(in_force.receive_window_bytes, Some(all.into()));
        let limited_ms = in_force.receive_window_limited_ms.unwrap();
        assert_eq!(limited_ms > 0.0, limited, "{limited_ms}");
    }
}

#[tokio::test]
async fn a_server_that_ends_says_goodbye() {
    let running = running(|_| ());
    let mut client = H3::connect(&running, HOST, SETTINGS).await;
    is_whole(&client.get(URL, &cookie("a")).await);
    is_whole(&client.get(URL, &cookie("a")).await);
    running.stop().await;
    assert_eq!(client.closed().await.0, 0x100);
    assert_eq!(client.until(|said| said.goaway).await, 8);
}

#[tokio::test]
async fn settings_are_there_with_the_handshake() {
    let running = running(|_| ());
    let (_endpoint, connection) = silent(&running, HOST).await;
    // The client has sent nothing but its handshake.
    let mut control = connection.accept_uni().await.unwrap();
    let first = control.read_chunk(100).await.unwrap().unwrap();
    assert_eq!(first[..2], [0, 4]);
    // An acknowledgement of the first half of the hello, and the two of the flight: no datagram of its
    // own, before which Chromium might ask without a table.
    assert_eq!(
        connection.stats().udp_rx.datagrams,
        3,
        "{:?}",
        connection.stats().udp_rx
    );
    running.stop().await;
}

/// What a client does, and the code that its connection ends with.
type Wrong = (&'static str, &'static [(Where, &'static [u8])], u64);

#[derive(Clone, Copy)]
enum Where {
    /// A new stream of one direction, whose end does not come.
    New,
    /// The same, and its end.
    Ended,
    /// A new request's stream.
    Request,
    /// The same, and its end.
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
async fn what_a_client_may_not_do_ends_its_connection_with_the_right_code() {
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
async fn streams_and_settings_that_nobody_knows_are_read_and_forgotten() {
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
    let _ = Kind::Unknown;
    running.stop().await;
}

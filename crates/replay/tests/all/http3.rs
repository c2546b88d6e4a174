//! HTTP/3's framing and compression, with a client whose streams are written by hand.

use crate::common::Running;
use crate::common::h3::{H3, HOST, Received, SETTINGS, URL, cookie, id, is_whole, running, silent};
use eyelevel_http3::qpack::{Encoder, FieldLine, Indexing};
use eyelevel_http3::{Settings, data_head, headers};
use eyelevel_replay::{Event, InForce};
use http::HeaderMap;
use std::time::Duration;

/// Returns the server's counts of its only connection.
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
    let encoder_bytes = client.received.lock().unwrap().encoder_bytes as u64;
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
async fn a_smaller_offer_of_the_client_is_used() {
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
async fn a_request_waits_for_its_inserts_and_a_cancelled_one_disturbs_no_other() {
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
    // The second is cancelled while it waits: the server reports that to the client's encoder.
    let given_up = id(&streams[1].1);
    streams[1].0.reset(0x10c_u32.into()).unwrap();
    let cancelled = |received: &Received| {
        received
            .decoder_bytes
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
async fn requests_are_read_to_their_end_without_stop_sending() {
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
        // The end arrives after the response, behind a reserved frame, an unsolicited body and
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
    // One after all others, so that their effects have arrived.
    is_whole(&client.get(URL, &cookie("a")).await);
    let stats = client.connection.stats();
    assert_eq!(
        (stats.frame_rx.stop_sending, stats.frame_rx.reset_stream),
        (0, 0)
    );
    assert_eq!(stats.frame_tx.reset_stream, 0);
    running.stop().await;
}

/// Both windows alone hold the server back, and no other connection's do.
#[tokio::test]
async fn full_client_windows_are_reported_with_their_offer() {
    const WIDE: u32 = 1 << 20;
    for (stream, all, limited) in [(1000, WIDE, true), (WIDE, 1000, true), (WIDE, WIDE, false)] {
        let running = running(|_| ());
        let mut client = H3::with_windows(&running, HOST, stream, all).await;
        let (mut send, receive) = client.connection.open_bi().await.unwrap();
        let (section, _) = client.section(id(&receive), URL, &HeaderMap::new());
        send.write_all(&headers(&section)).await.unwrap();
        send.finish().unwrap();
        // The body has three times the windows; nothing more arrives before some of it is read.
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
async fn a_server_that_ends_sends_goaway() {
    let running = running(|_| ());
    let mut client = H3::connect(&running, HOST, SETTINGS).await;
    is_whole(&client.get(URL, &cookie("a")).await);
    is_whole(&client.get(URL, &cookie("a")).await);
    running.stop().await;
    assert_eq!(client.closed().await.0, 0x100);
    assert_eq!(client.until(|received| received.goaway).await, 8);
}

#[tokio::test]
async fn settings_are_there_with_the_handshake() {
    let running = running(|_| ());
    let (_endpoint, connection) = silent(&running, HOST).await;
    // The client has sent nothing but its handshake.
    let mut control = connection.accept_uni().await.unwrap();
    let first = control.read_chunk(100).await.unwrap().unwrap();
    assert_eq!(first[..2], [0, 4]);
    // An acknowledgement of the first half of the hello, and the two of the flight: no datagram of
    // its own, before which Chromium might send requests without a table.
    assert_eq!(
        connection.stats().udp_rx.datagrams,
        3,
        "{:?}",
        connection.stats().udp_rx
    );
    running.stop().await;
}

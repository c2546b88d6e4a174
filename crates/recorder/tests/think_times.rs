//! A server's think time is the kernel's, however late the recorder's own tasks run.

mod recording;

use std::time::{Duration, Instant};

use recording::{HEAD, request_head, run_blocking, start_recording, start_scripted_server};

/// The least time to compare with: a busy kernel may stamp an arrival tens of milliseconds late.
const LEAST: Duration = Duration::from_millis(50);

#[tokio::test]
async fn wake_up_delays_are_not_think_time() {
    let (server, say, done) = start_scripted_server();
    let recording = start_recording(server).await;
    let proxy = recording.proxy;
    let began = Instant::now();
    say.send("").unwrap();
    let client = tokio::task::spawn_blocking(move || request_head(proxy, server));
    let done = run_blocking(move || done.recv().map(|()| done))
        .await
        .unwrap();
    // The server has the request. This thread, which is the recorder's, runs nothing else from here
    // until the response has been there for nine times as long as everything before took: the
    // recorded time is far from that, however late a busy machine timestamps arrivals.
    say.send(HEAD).unwrap();
    say.send("whole").unwrap();
    done.recv().unwrap();
    done.recv().unwrap();
    let answered = began.elapsed().max(LEAST);
    while began.elapsed() < 10 * answered {}
    drop(client.await.unwrap());
    recording.store.settle().await;
    let exchanges = recording.write().await;
    let recorded_ms = exchanges[0].time_to_first_byte_ms.unwrap();
    let answered_ms = answered.as_secs_f64() * 1e3;
    assert!(
        recorded_ms < 5.0 * answered_ms,
        "{recorded_ms} of {answered_ms} ms"
    );
}

//! A server's think time is as the kernel saw it, however late the recorder's own tasks run.

mod recording;

use std::time::Instant;

use recording::{HEAD, aside, asked, dictated, recording};

#[tokio::test]
async fn what_the_recorder_takes_to_wake_up_is_no_think_time() {
    let (server, say, done) = dictated();
    let recording = recording(server).await;
    let proxy = recording.proxy;
    let began = Instant::now();
    say.send("").unwrap();
    let client = tokio::task::spawn_blocking(move || asked(proxy, server));
    let done = aside(move || done.recv().map(|()| done)).await.unwrap();
    // The server has the request. This thread, which is the recorder's, runs nothing else from here
    // until the answer has been there for nine times as long as all before it took: what is recorded
    // is far from that, however late a busy machine stamps what arrived.
    say.send(HEAD).unwrap();
    say.send("whole").unwrap();
    done.recv().unwrap();
    done.recv().unwrap();
    let answered = began.elapsed();
    while began.elapsed() < 10 * answered {}
    drop(client.await.unwrap());
    recording.store.settle().await;
    let exchanges = recording.written().await;
    let recorded_ms = exchanges[0].time_to_first_byte_ms.unwrap();
    let answered_ms = answered.as_secs_f64() * 1e3;
    assert!(
        recorded_ms < 5.0 * answered_ms,
        "{recorded_ms} of {answered_ms} ms"
    );
}

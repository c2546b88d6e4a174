//! Serves HTTP/3: drives the streams of a QUIC connection through `eyelevel-http3`, which is pure.

mod compression;
mod incoming;
mod outgoing;
mod requests;
mod unidirectional;

pub(super) use compression::Compression;

use crate::scheduler::Gate;
use crate::service::Entrance;
use crate::{Service, StackConfig};
use eyelevel_http3::{Code, Error, Kind, Settings, Unidirectional};
use noq::{SendStream, VarInt};
use std::future::poll_fn;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;
use tokio::task::JoinSet;

/// The largest head accepted, as over HTTP/2.
const HEADER_BYTES_MAX: u64 = 64 * 1024;
/// The priority of control streams, above every response's: responses wait for what they carry.
const PRIORITY: i32 = 1;
/// The turns of the runtime in which QUIC sends what was written.
const LAST_TURNS: usize = 3;

/// The record of requests that arrived before the handshake was complete.
#[derive(Debug, Default)]
pub(super) struct EarlyRequests {
    pub complete: AtomicBool,
    pub seen: AtomicBool,
}

/// One connection, shared by the tasks of its streams.
pub(super) struct Http3 {
    connection: noq::Connection,
    compression: Arc<Compression>,
    gate: Gate,
    entrance: Entrance,
    service: Arc<Service>,
    unidirectional: Mutex<Unidirectional>,
    /// The stream after that of the last request.
    next_request: AtomicU64,
}

impl Http3 {
    pub fn new(
        connection: noq::Connection,
        compression: Arc<Compression>,
        gate: Gate,
        entrance: Entrance,
        service: Arc<Service>,
    ) -> Arc<Self> {
        Arc::new(Self {
            connection,
            compression,
            gate,
            entrance,
            service,
            unidirectional: Mutex::new(Unidirectional::new(eyelevel_http3::Side::Client)),
            next_request: AtomicU64::new(0),
        })
    }

    /// Answers requests until the client disconnects or `stopping` ends. `on_begun` is called once our
    /// settings are written, or cannot be so far.
    pub async fn run(
        self: &Arc<Self>,
        stack: &StackConfig,
        early: &EarlyRequests,
        stopping: impl Future<Output = ()>,
        on_begun: impl FnOnce(),
    ) {
        let mut running = JoinSet::new();
        let control = Mutex::new(None);
        // However this ends, what is dropped after it resets no stream.
        let _closing = Closing(&self.connection);
        tokio::select! {
            biased;
            () = stopping => self.send_goaway(&control).await,
            () = self.compression.drive() => {
                self.close(Code::ClosedCriticalStream, "one of QPACK's streams was stopped");
            }
            () = self.open_and_notify(stack, &control, on_begun) => {}
            () = self.accept(&mut running, early) => {}
        }
    }

    async fn open_and_notify(
        &self,
        stack: &StackConfig,
        control: &Mutex<Option<SendStream>>,
        on_begun: impl FnOnce(),
    ) {
        let mut opening = pin!(self.open(stack, control));
        let first = poll_fn(|context| Poll::Ready(opening.as_mut().poll(context))).await;
        on_begun();
        if first.is_pending() {
            opening.await;
        }
    }

    /// Opens our streams; returns only with the connection's end.
    async fn open(&self, stack: &StackConfig, control: &Mutex<Option<SendStream>>) {
        let settings = Settings {
            table_bytes_max: stack.header_table().into(),
            blocked_streams_max: stack.blocked_streams().into(),
            field_section_bytes_max: Some(HEADER_BYTES_MAX),
        };
        let first = [Kind::Control.head(), &settings.frame()].concat();
        let Ok(mut stream) = self.connection.open_uni().await else {
            return;
        };
        let _ = stream.set_priority(PRIORITY);
        if stream.write_all(&first).await.is_err() {
            return;
        }
        *control.lock().unwrap_or_else(PoisonError::into_inner) = Some(stream);
        // Without a table these streams would stay empty (RFC 9204, section 4.2).
        if stack.header_table() > 0 {
            for kind in [Kind::Encoder, Kind::Decoder] {
                let Ok(stream) = self.connection.open_uni().await else {
                    return;
                };
                let _ = stream.set_priority(PRIORITY);
                self.compression.on_opened(kind, stream);
            }
        }
        std::future::pending().await
    }

    async fn accept(self: &Arc<Self>, running: &mut JoinSet<()>, early: &EarlyRequests) {
        loop {
            while running.try_join_next().is_some() {}
            // The client's settings and inserts arrive before the requests that need them.
            tokio::select! {
                biased;
                stream = self.connection.accept_uni() => match stream {
                    Ok(stream) => running.spawn(self.clone().read_unidirectional(stream)),
                    Err(_) => return,
                },
                stream = self.connection.accept_bi() => match stream {
                    Ok((send, receive)) => {
                        if !early.complete.load(Ordering::Relaxed) {
                            early.seen.store(true, Ordering::Relaxed);
                        }
                        let id = u64::from(VarInt::from(receive.id()));
                        self.next_request.fetch_max(id + 4, Ordering::Relaxed);
                        running.spawn(self.clone().respond(send, receive, id))
                    }
                    Err(_) => return,
                },
            };
        }
    }

    /// Sends GOAWAY, as far as it can be written at once; a lab that ends does not wait for
    /// clients.
    async fn send_goaway(&self, control: &Mutex<Option<SendStream>>) {
        let stream = control
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some(mut stream) = stream {
            let next = self.next_request.load(Ordering::Relaxed);
            let goaway = eyelevel_http3::goaway(next);
            tokio::select! {
                biased;
                _ = stream.write_all(&goaway) => {}
                () = std::future::ready(()) => {}
            }
            for _ in 0..LAST_TURNS {
                tokio::task::yield_now().await;
            }
            self.close(Code::NoError, "");
        }
    }

    /// Closes the connection after a violation by the client.
    fn fail(&self, error: Error) {
        self.close(error.code, error.reason);
    }

    fn close(&self, code: Code, reason: &str) {
        self.connection.close(number(code), reason.as_bytes());
    }
}

fn number(code: Code) -> VarInt {
    VarInt::from_u64(code.value()).unwrap_or(VarInt::MAX)
}

/// A guard that closes the connection before its streams are dropped, since each drop would reset
/// its stream.
struct Closing<'a>(&'a noq::Connection);

impl Drop for Closing<'_> {
    fn drop(&mut self) {
        self.0.close(number(Code::NoError), b"");
    }
}

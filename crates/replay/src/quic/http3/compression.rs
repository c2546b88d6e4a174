use super::HEADER_BYTES_MAX;
use super::outgoing::Outgoing;
use eyelevel_http3::qpack::{Decoded, Decoder, Encoder, Field};
use eyelevel_http3::{Error, Kind, Settings, head};
use http::{HeaderMap, StatusCode};
use noq::SendStream;
use std::future::poll_fn;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

/// The QPACK state of one connection: our encoder for responses, our decoder for requests.
#[derive(Debug)]
pub(in crate::quic) struct Compression(Mutex<State>);

/// The coded bytes of heads, and of the instructions between the encoders and decoders.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::quic) struct HeadBytes {
    pub requests: u64,
    pub responses: u64,
    pub encoder_received: u64,
    pub encoder_sent: u64,
    pub decoder_received: u64,
    pub decoder_sent: u64,
    /// The sizes of the dynamic tables in use.
    pub request_table: u64,
    pub response_table: u64,
    /// Streams that our encoder may block; `None` before the client's SETTINGS.
    pub blocked_streams_max: Option<u64>,
}

#[derive(Debug)]
struct State {
    encoder: Encoder,
    decoder: Decoder,
    table_bytes: u64,
    blocked_streams_max: u64,
    to_decoder: Outgoing,
    to_encoder: Outgoing,
    /// Requests that wait for inserts.
    blocked: Vec<Waker>,
    /// The task that drives the connection, and writes what could not be written at once.
    driver: Option<Waker>,
    bytes: HeadBytes,
}

impl Compression {
    /// Creates the state for a stack's two settings.
    pub fn new(table_bytes: u64, blocked_streams_max: u64) -> Self {
        Self(Mutex::new(State {
            encoder: Encoder::new(),
            decoder: Decoder::new(table_bytes, blocked_streams_max),
            table_bytes,
            blocked_streams_max,
            to_decoder: Outgoing::default(),
            to_encoder: Outgoing::default(),
            blocked: Vec::new(),
            driver: None,
            bytes: HeadBytes::default(),
        }))
    }

    /// Returns the counts so far.
    pub fn bytes(&self) -> HeadBytes {
        let state = self.lock();
        HeadBytes {
            encoder_sent: state.to_decoder.sent,
            decoder_sent: state.to_encoder.sent,
            request_table: state.decoder.table_bytes(),
            response_table: state.encoder.table_bytes(),
            ..state.bytes
        }
    }

    /// Writes instructions whenever there is room; ends when the client accepts no more.
    pub async fn drive(&self) {
        poll_fn(|context| {
            let mut state = self.lock();
            state.driver = Some(context.waker().clone());
            let both = [
                state.to_decoder.poll_write(context),
                state.to_encoder.poll_write(context),
            ];
            let is_over = both.iter().any(|each| matches!(each, Poll::Ready(Err(_))));
            if is_over {
                Poll::Ready(())
            } else {
                Poll::Pending
            }
        })
        .await;
    }

    /// Attaches one of our own streams, the encoder's or the decoder's.
    pub fn on_opened(&self, kind: Kind, stream: SendStream) {
        let mut state = self.lock();
        let outgoing = match kind {
            Kind::Encoder => &mut state.to_decoder,
            _ => &mut state.to_encoder,
        };
        outgoing.on_opened(stream, kind.head());
        state.write();
    }

    /// Applies the client's settings.
    pub fn on_settings(&self, settings: &Settings) {
        let mut state = self.lock();
        let blocked_streams_max = state.blocked_streams_max.min(settings.blocked_streams_max);
        let table_bytes = state.table_bytes;
        let offered = settings.table_bytes_max;
        state
            .encoder
            .on_settings(offered, table_bytes, blocked_streams_max);
        state.bytes.blocked_streams_max = Some(blocked_streams_max);
        state.write();
    }

    /// Processes bytes from the client's encoder or decoder stream.
    pub fn on_instructions(&self, kind: Kind, bytes: &[u8]) -> Result<(), Error> {
        let mut state = self.lock();
        if kind == Kind::Decoder {
            state.bytes.decoder_received += bytes.len() as u64;
            return state.encoder.on_decoder_stream(bytes);
        }
        state.bytes.encoder_received += bytes.len() as u64;
        if state.decoder.on_encoder_stream(bytes)? {
            for waker in std::mem::take(&mut state.blocked) {
                waker.wake();
            }
            // The driver acknowledges the inserts, unless a section does so before.
            if let Some(driver) = &state.driver {
                driver.wake_by_ref();
            }
        }
        Ok(())
    }

    /// Returns the fields of a section, once all inserts that it refers to have arrived; `None` if
    /// they are too large.
    pub async fn decode(&self, stream: u64, section: &[u8]) -> Result<Option<Vec<Field>>, Error> {
        let fields = poll_fn(|context| {
            let mut state = self.lock();
            let decoded = state.decoder.decode(stream, section, HEADER_BYTES_MAX);
            let fields = match decoded {
                Ok(Decoded::Blocked) => {
                    state.blocked.push(context.waker().clone());
                    return Poll::Pending;
                }
                Ok(Decoded::Fields(fields)) => Some(fields),
                Ok(Decoded::TooLarge) => None,
                Err(error) => return Poll::Ready(Err(error)),
            };
            state.bytes.requests += section.len() as u64;
            state.write();
            Poll::Ready(Ok(fields))
        });
        fields.await
    }

    /// Cancels a request whose remainder will not be read.
    pub fn cancel(&self, stream: u64) {
        let mut state = self.lock();
        state.decoder.cancel(stream);
        state.write();
    }

    /// Encodes the field section of a response, once QUIC has accepted the inserts that it refers
    /// to.
    pub async fn encode(&self, stream: u64, status: StatusCode, headers: &HeaderMap) -> Vec<u8> {
        let section = {
            let mut state = self.lock();
            let lines = head::response_lines(&status, headers);
            let may_insert = state.to_decoder.is_written();
            let section = state.encoder.encode(stream, lines, may_insert);
            state.bytes.responses += section.len() as u64;
            state.write();
            section
        };
        poll_fn(|context| self.lock().to_decoder.poll_written(context)).await;
        section
    }

    /// Counts the head of an interim response, which is encoded without tables.
    pub fn on_interim_head(&self, bytes: usize) {
        self.lock().bytes.responses += bytes as u64;
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Writes what is possible now; the driver handles the rest and an end of the connection.
    fn write(&mut self) {
        let Self {
            encoder,
            decoder,
            to_decoder,
            to_encoder,
            driver,
            ..
        } = self;
        to_decoder.push(&encoder.take_instructions());
        to_encoder.push(&decoder.take_instructions());
        let mut context = Context::from_waker(driver.as_ref().unwrap_or(Waker::noop()));
        let _ = to_decoder.poll_write(&mut context);
        let _ = to_encoder.poll_write(&mut context);
    }
}

use super::HEADER_BYTES_MAX;
use super::outgoing::Outgoing;
use eyelevel_http3::qpack::{Decoded, Decoder, Encoder, Field};
use eyelevel_http3::{Error, Kind, Settings, head};
use http::{HeaderMap, StatusCode};
use noq::SendStream;
use std::future::poll_fn;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

/// QPACK's state of one connection: our encoder for responses, our decoder for requests.
#[derive(Debug)]
pub(in crate::quic) struct Compression(Mutex<State>);

/// Coded bytes of heads, and what the two encoders and decoders told one another beside them.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::quic) struct HeadBytes {
    pub requests: u64,
    pub responses: u64,
    pub encoder_received: u64,
    pub encoder_sent: u64,
    pub decoder_received: u64,
    pub decoder_sent: u64,
    /// The dynamic tables in use.
    pub request_table: u64,
    pub response_table: u64,
    /// Streams that our encoder may let wait; none before the client's SETTINGS.
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
    /// Whoever drives the connection, and with it what could not be written at once.
    driver: Option<Waker>,
    bytes: HeadBytes,
}

impl Compression {
    /// Of a stack with these two settings.
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

    /// What was counted so far.
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

    /// Writes instructions whenever there is room; ends where the client takes none.
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

    /// One of our own streams is there: the encoder's or the decoder's.
    pub fn on_opened(&self, kind: Kind, stream: SendStream) {
        let mut state = self.lock();
        let outgoing = match kind {
            Kind::Encoder => &mut state.to_decoder,
            _ => &mut state.to_encoder,
        };
        outgoing.on_opened(stream, kind.head());
        state.write();
    }

    /// The client's settings.
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

    /// Bytes of the client's encoder or decoder.
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
            // Whoever drives the connection tells that they came, unless a section does so before.
            if let Some(driver) = &state.driver {
                driver.wake_by_ref();
            }
        }
        Ok(())
    }

    /// The fields of a section, once all that it refers to is there; none where they are too large.
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

    /// The rest of that request will not be read.
    pub fn cancel(&self, stream: u64) {
        let mut state = self.lock();
        state.decoder.cancel(stream);
        state.write();
    }

    /// The field section of a response, once what it refers to is with QUIC.
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

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Writes what there is; what is left, and an end of the connection, is the driver's.
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
        to_encoder.push(&decoder.take_told());
        let mut context = Context::from_waker(driver.as_ref().unwrap_or(Waker::noop()));
        let _ = to_decoder.poll_write(&mut context);
        let _ = to_encoder.poll_write(&mut context);
    }
}

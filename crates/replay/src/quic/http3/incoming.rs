use super::{Compression, HEADER_BYTES_MAX};
use crate::service::REQUEST_BODY_BYTES_MAX;
use bytes::{Bytes, BytesMut};
use eyelevel_http3::{Code, Error, Message, MessageEvent, Scope, Side, head};
use http::{HeaderMap, Request, header};
use noq::{ReadError, RecvStream};

/// The receiving side of a request's stream.
pub(super) struct Incoming<'a> {
    stream: RecvStream,
    id: u64,
    compression: &'a Compression,
    message: Message,
    /// Bytes read and not yet parsed.
    buffer: Bytes,
    body_bytes: u64,
    is_over: bool,
}

/// The reason why a request's stream is not read to its end.
#[derive(Debug)]
pub(super) enum Failure {
    /// A protocol violation of the client.
    Protocol(Error),
    /// The client cancelled the request or disconnected.
    Gone,
}

impl<'a> Incoming<'a> {
    pub fn new(stream: RecvStream, id: u64, compression: &'a Compression) -> Self {
        Self {
            stream,
            id,
            compression,
            message: Message::new(Side::Client, HEADER_BYTES_MAX),
            buffer: Bytes::new(),
            body_bytes: 0,
            is_over: false,
        }
    }

    /// Reads the request's head, and returns it with its coded size; `None` if it is larger than
    /// allowed.
    pub async fn read_head(&mut self) -> Result<Option<(Request<()>, u64)>, Failure> {
        let section = match self.next().await? {
            Some(MessageEvent::Head(section)) => section,
            _ => {
                self.compression.cancel(self.id);
                return Ok(None);
            }
        };
        match self.decode(&section).await? {
            None => Ok(None),
            Some(fields) => {
                let request = head::request(fields).map_err(Failure::Protocol)?;
                Ok(Some((request, section.len() as u64)))
            }
        }
    }

    /// Reads the remaining stream and returns the body if `keep` is set, cut at its maximum.
    /// Trailers are read and discarded.
    pub async fn read_rest(&mut self, headers: &HeaderMap, keep: bool) -> Result<Bytes, Failure> {
        let mut kept = BytesMut::new();
        let room = if keep { REQUEST_BODY_BYTES_MAX } else { 0 };
        while let Some(event) = self.next().await? {
            match event {
                MessageEvent::Data(data) => {
                    self.body_bytes += data.len() as u64;
                    kept.extend_from_slice(&data[..data.len().min(room - kept.len())]);
                }
                MessageEvent::Trailers(section) => {
                    self.decode(&section).await?;
                }
                MessageEvent::TooLong => self.compression.cancel(self.id),
                MessageEvent::Head(_) => {}
            }
        }
        self.check_length(headers)?;
        Ok(kept.freeze())
    }

    /// Checks the body's length against `content-length` (RFC 9114, section 4.1.2).
    fn check_length(&self, headers: &HeaderMap) -> Result<(), Failure> {
        let declared = headers.get(header::CONTENT_LENGTH);
        let declared = declared.and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
        match declared {
            Some(bytes) if bytes != self.body_bytes => Err(Failure::Protocol(Error {
                scope: Scope::Stream,
                code: Code::MessageError,
                reason: "a body of another length than its head says",
            })),
            _ => Ok(()),
        }
    }

    async fn decode(
        &mut self,
        section: &[u8],
    ) -> Result<Option<Vec<eyelevel_http3::qpack::Field>>, Failure> {
        tokio::select! {
            biased;
            decoded = self.compression.decode(self.id, section) => {
                decoded.map_err(Failure::Protocol)
            }
            // The client may cancel a request while it is blocked.
            Ok(Some(_)) = self.stream.received_reset() => Err(self.on_gone()),
        }
    }

    async fn next(&mut self) -> Result<Option<MessageEvent>, Failure> {
        loop {
            let event = self.message.next(&mut self.buffer);
            if let Some(event) = event.map_err(Failure::Protocol)? {
                return Ok(Some(event));
            }
            if self.is_over {
                return Ok(None);
            }
            match self.stream.read_chunk(usize::MAX).await {
                Ok(Some(bytes)) => self.buffer = bytes,
                Ok(None) => {
                    self.is_over = true;
                    self.message.on_end().map_err(Failure::Protocol)?;
                }
                Err(ReadError::Reset(_)) => return Err(self.on_gone()),
                Err(_) => return Err(Failure::Gone),
            }
        }
    }

    fn on_gone(&self) -> Failure {
        self.compression.cancel(self.id);
        Failure::Gone
    }

    /// Asks the client to stop sending (STOP_SENDING).
    pub fn refuse(&mut self, code: noq::VarInt) {
        // It fails only if the stream is over already, and then nothing more arrives.
        let _ = self.stream.stop(code);
    }
}

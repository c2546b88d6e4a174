//! The frames of one request or response (RFC 9114, section 4.1).

use crate::Side;
use crate::error::{Code, Error};
use crate::frame::{self, Frames, Piece};
use bytes::{Bytes, BytesMut};

/// An event on a message's stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MessageEvent {
    /// The head's field section, coded.
    Head(Bytes),
    /// Bytes of the body.
    Data(Bytes),
    /// The trailers' field section, coded.
    Trailers(Bytes),
    /// A field section that is longer than allowed and was discarded.
    TooLong,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Head,
    Body,
    Trailers,
}

/// A reader of the peer's half of a request's stream.
#[derive(Debug)]
pub struct Message {
    peer: Side,
    section_bytes_max: u64,
    frames: Frames,
    stage: Stage,
    kind: u64,
    /// The field section of a HEADERS frame, unless it is discarded.
    section: Option<BytesMut>,
}

impl Message {
    /// Creates a reader; `peer` is the other end's role. Coded field sections longer than
    /// `section_bytes_max` are discarded.
    pub fn new(peer: Side, section_bytes_max: u64) -> Self {
        Self {
            peer,
            section_bytes_max,
            frames: Frames::default(),
            stage: Stage::Head,
            kind: 0,
            section: None,
        }
    }

    /// Returns the next event, and removes what was read from `input`; `None` if all was read.
    ///
    /// # Errors
    /// Frames that are not allowed there, with the scope of the connection.
    pub fn next(&mut self, input: &mut Bytes) -> Result<Option<MessageEvent>, Error> {
        while let Some(piece) = self.frames.next(input) {
            match piece {
                Piece::Begin(kind, length) => self.on_begin(kind, length)?,
                Piece::Payload(bytes) if self.kind == frame::DATA => {
                    return Ok(Some(MessageEvent::Data(bytes)));
                }
                Piece::Payload(bytes) => {
                    if let Some(section) = &mut self.section {
                        section.extend_from_slice(&bytes);
                    }
                }
                Piece::End if self.kind == frame::HEADERS => {
                    let was_head = self.stage == Stage::Head;
                    self.stage = if was_head {
                        Stage::Body
                    } else {
                        Stage::Trailers
                    };
                    let event = match self.section.take() {
                        None => MessageEvent::TooLong,
                        Some(section) if was_head => MessageEvent::Head(section.freeze()),
                        Some(section) => MessageEvent::Trailers(section.freeze()),
                    };
                    return Ok(Some(event));
                }
                Piece::End => {}
            }
        }
        Ok(None)
    }

    /// Handles the stream's end.
    ///
    /// # Errors
    /// If the message is not complete.
    pub fn on_end(&self) -> Result<(), Error> {
        if self.frames.is_within() {
            let reason = "a stream ends within a frame";
            return Err(Error::connection(Code::FrameError, reason));
        }
        match (self.stage, self.peer) {
            (Stage::Head, Side::Client) => {
                let reason = "a stream ends without a request";
                Err(Error::stream(Code::RequestIncomplete, reason))
            }
            (Stage::Head, Side::Server) => {
                let reason = "a stream ends without a response";
                Err(Error::stream(Code::MessageError, reason))
            }
            _ => Ok(()),
        }
    }

    fn on_begin(&mut self, kind: u64, length: u64) -> Result<(), Error> {
        let unexpected = |reason| Err(Error::connection(Code::FrameUnexpected, reason));
        self.kind = kind;
        match (kind, self.stage) {
            (frame::DATA, Stage::Body) => {}
            (frame::DATA, Stage::Head) => return unexpected("a body before its head"),
            (frame::DATA, Stage::Trailers) => return unexpected("a body after its trailers"),
            (frame::HEADERS, Stage::Trailers) => return unexpected("trailers twice"),
            (frame::HEADERS, _) => {
                self.section = (length <= self.section_bytes_max).then(BytesMut::new);
            }
            (frame::PUSH_PROMISE, _) if self.peer == Side::Server => {
                return Err(Error::connection(
                    Code::IdError,
                    "a push that was not allowed",
                ));
            }
            (
                frame::PUSH_PROMISE
                | frame::SETTINGS
                | frame::CANCEL_PUSH
                | frame::GOAWAY
                | frame::MAX_PUSH_ID
                | frame::PRIORITY_UPDATE_REQUEST
                | frame::PRIORITY_UPDATE_PUSH,
                _,
            ) => return unexpected("a frame of the control stream in a request"),
            (kind, _) if frame::is_http2_type(kind) => return unexpected("a frame of HTTP/2"),
            _ => {}
        }
        Ok(())
    }
}

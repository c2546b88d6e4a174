//! The peer's control stream (RFC 9114, sections 6.2.1 and 7.2).

use crate::error::{Code, Error};
use crate::frame::{self, Frames, Piece};
use crate::{Settings, Side, varint};
use bytes::{Bytes, BytesMut};

/// The longest payload that is read; a priority field has a dozen bytes and SETTINGS a few numbers.
const PAYLOAD_BYTES_MAX: u64 = 4096;

/// An event on the peer's control stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ControlEvent {
    /// Its settings; first, and once.
    Settings(Settings),
    /// A request's stream and its new priority field (RFC 9218, section 7.2).
    PriorityUpdate(u64, Bytes),
    /// The identifier from which on it accepts nothing.
    GoAway(u64),
}

/// A reader of the peer's control stream.
#[derive(Debug)]
pub struct Control {
    peer: Side,
    frames: Frames,
    kind: u64,
    /// The payload of a frame that is kept.
    payload: Option<BytesMut>,
    has_settings: bool,
    push_id_max: Option<u64>,
    goaway: Option<u64>,
}

impl Control {
    /// Creates a reader; `peer` is the other end's role.
    pub fn new(peer: Side) -> Self {
        Self {
            peer,
            frames: Frames::default(),
            kind: 0,
            payload: None,
            has_settings: false,
            push_id_max: None,
            goaway: None,
        }
    }

    /// Returns the next event, and removes what was read from `input`; `None` if all was read.
    ///
    /// # Errors
    /// A protocol violation; the connection is to be closed with it.
    pub fn next(&mut self, input: &mut Bytes) -> Result<Option<ControlEvent>, Error> {
        while let Some(piece) = self.frames.next(input) {
            match piece {
                Piece::Begin(kind, length) => self.on_begin(kind, length)?,
                Piece::Payload(bytes) => {
                    if let Some(payload) = &mut self.payload {
                        payload.extend_from_slice(&bytes);
                    }
                }
                Piece::End => {
                    if let Some(payload) = self.payload.take()
                        && let Some(event) = self.on_frame(payload.freeze())?
                    {
                        return Ok(Some(event));
                    }
                }
            }
        }
        Ok(None)
    }

    fn on_begin(&mut self, kind: u64, length: u64) -> Result<(), Error> {
        let unexpected = |reason| Err(Error::connection(Code::FrameUnexpected, reason));
        if !self.has_settings && kind != frame::SETTINGS {
            let reason = "the control stream does not begin with SETTINGS";
            return Err(Error::connection(Code::MissingSettings, reason));
        }
        match kind {
            frame::SETTINGS if self.has_settings => return unexpected("SETTINGS twice"),
            frame::DATA | frame::HEADERS | frame::PUSH_PROMISE => {
                return unexpected("a request's frame on the control stream");
            }
            frame::MAX_PUSH_ID | frame::PRIORITY_UPDATE_REQUEST | frame::PRIORITY_UPDATE_PUSH
                if self.peer == Side::Server =>
            {
                return unexpected("a client's frame from a server");
            }
            kind if frame::is_http2_type(kind) => return unexpected("a frame of HTTP/2"),
            frame::SETTINGS
            | frame::CANCEL_PUSH
            | frame::GOAWAY
            | frame::MAX_PUSH_ID
            | frame::PRIORITY_UPDATE_REQUEST
            | frame::PRIORITY_UPDATE_PUSH => {
                if length > PAYLOAD_BYTES_MAX {
                    let reason = "a frame on the control stream is longer than any has need to be";
                    return Err(Error::connection(Code::ExcessiveLoad, reason));
                }
                self.payload = Some(BytesMut::new());
            }
            _ => {}
        }
        self.has_settings = true;
        self.kind = kind;
        Ok(())
    }

    fn on_frame(&mut self, mut payload: Bytes) -> Result<Option<ControlEvent>, Error> {
        if self.kind == frame::SETTINGS {
            return Ok(Some(ControlEvent::Settings(Settings::read(&payload)?)));
        }
        // All others begin with an identifier.
        let malformed = Error::connection(Code::FrameError, "a frame without a whole identifier");
        let wrong = |reason| Err(Error::connection(Code::IdError, reason));
        let (id, length) = varint::read(&payload).ok_or(malformed)?;
        let rest = payload.split_off(length);
        let is_update = matches!(
            self.kind,
            frame::PRIORITY_UPDATE_REQUEST | frame::PRIORITY_UPDATE_PUSH
        );
        if !rest.is_empty() && !is_update {
            let reason = "a frame with more than an identifier";
            return Err(Error::connection(Code::FrameError, reason));
        }
        match self.kind {
            frame::PRIORITY_UPDATE_REQUEST if !id.is_multiple_of(4) => {
                wrong("the priority of a stream that is no request's")
            }
            frame::PRIORITY_UPDATE_REQUEST => Ok(Some(ControlEvent::PriorityUpdate(id, rest))),
            // No push was ever promised, by either end.
            frame::PRIORITY_UPDATE_PUSH | frame::CANCEL_PUSH => wrong("no such push"),
            frame::MAX_PUSH_ID => {
                if self.push_id_max.is_some_and(|before| id < before) {
                    return wrong("MAX_PUSH_ID became less");
                }
                self.push_id_max = Some(id);
                Ok(None)
            }
            _ => self.on_goaway(id),
        }
    }

    fn on_goaway(&mut self, id: u64) -> Result<Option<ControlEvent>, Error> {
        let wrong = |reason| Err(Error::connection(Code::IdError, reason));
        // A server sends a request's stream, a client a push.
        if self.peer == Side::Server && !id.is_multiple_of(4) {
            return wrong("GOAWAY names a stream that is no request's");
        }
        if self.goaway.is_some_and(|before| id > before) {
            return wrong("GOAWAY names more than before");
        }
        self.goaway = Some(id);
        Ok(Some(ControlEvent::GoAway(id)))
    }
}

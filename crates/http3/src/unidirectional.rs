//! Unidirectional streams (RFC 9114, section 6.2).

use crate::error::{Code, Error};
use crate::{Side, varint};
use bytes::{Buf, Bytes};

const CONTROL: u64 = 0x00;
const PUSH: u64 = 0x01;
/// The types of QPACK's streams (RFC 9204, section 4.2).
const ENCODER: u64 = 0x02;
const DECODER: u64 = 0x03;

/// The purpose of a unidirectional stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Frames about the connection.
    Control,
    /// Instructions of the peer's encoder, for our decoder.
    Encoder,
    /// Instructions of the peer's decoder, for our encoder.
    Decoder,
    /// An unknown type: its bytes are read and discarded.
    Unknown,
}

impl Kind {
    /// Returns the first bytes of our stream of this kind; empty for an unknown one.
    pub fn head(self) -> &'static [u8] {
        match self {
            Self::Control => &[CONTROL as u8],
            Self::Encoder => &[ENCODER as u8],
            Self::Decoder => &[DECODER as u8],
            Self::Unknown => &[],
        }
    }

    /// Handles the stream's end: streams of known types last as long as the connection.
    pub fn on_end(self) -> Result<(), Error> {
        match self {
            Self::Unknown => Ok(()),
            _ => Err(Error::connection(
                Code::ClosedCriticalStream,
                "the control stream or one of QPACK's ended",
            )),
        }
    }
}

/// The peer's unidirectional streams: of known types there is one each.
#[derive(Debug)]
pub struct Unidirectional {
    peer: Side,
    seen: [bool; 3],
}

impl Unidirectional {
    /// Creates the state; `peer` is the other end's role.
    pub fn new(peer: Side) -> Self {
        Self {
            peer,
            seen: [false; 3],
        }
    }

    /// Reads a stream's type from its beginning, of which `head` buffers an incomplete one; `None`
    /// if more is needed.
    ///
    /// # Errors
    /// A second stream of a kind, or one that this peer may not open.
    pub fn kind(&mut self, head: &mut Vec<u8>, input: &mut Bytes) -> Result<Option<Kind>, Error> {
        let before = head.len();
        let taken = input.len().min(varint::BYTES_MAX - before);
        head.extend_from_slice(&input[..taken]);
        let Some((value, length)) = varint::read(head) else {
            input.advance(taken);
            return Ok(None);
        };
        input.advance(length - before);
        head.clear();
        let refused = |reason| Err(Error::connection(Code::StreamCreationError, reason));
        let (kind, at) = match value {
            CONTROL => (Kind::Control, 0),
            ENCODER => (Kind::Encoder, 1),
            DECODER => (Kind::Decoder, 2),
            PUSH if self.peer == Side::Client => return refused("a client's push stream"),
            // No push is allowed without MAX_PUSH_ID, which we never send (RFC 9114, section 4.6).
            PUSH => {
                return Err(Error::connection(
                    Code::IdError,
                    "a push that was not allowed",
                ));
            }
            _ => return Ok(Some(Kind::Unknown)),
        };
        if std::mem::replace(&mut self.seen[at], true) {
            return refused("a second control stream or one of QPACK's");
        }
        Ok(Some(kind))
    }
}

//! Parses frames (RFC 9114, section 7) from a stream as its bytes arrive.

use crate::varint;
use bytes::{Buf, Bytes};

pub(crate) const DATA: u64 = 0x00;
pub(crate) const HEADERS: u64 = 0x01;
pub(crate) const CANCEL_PUSH: u64 = 0x03;
pub(crate) const SETTINGS: u64 = 0x04;
pub(crate) const PUSH_PROMISE: u64 = 0x05;
pub(crate) const GOAWAY: u64 = 0x07;
pub(crate) const MAX_PUSH_ID: u64 = 0x0d;
/// The types of PRIORITY_UPDATE, for a request and for a push (RFC 9218, section 7.2).
pub(crate) const PRIORITY_UPDATE_REQUEST: u64 = 0x000f_0700;
pub(crate) const PRIORITY_UPDATE_PUSH: u64 = 0x000f_0701;

/// Returns whether the type was HTTP/2's and may never be sent (RFC 9114, section 7.2.8).
pub(crate) fn is_http2_type(kind: u64) -> bool {
    matches!(kind, 0x02 | 0x06 | 0x08 | 0x09)
}

/// The next part of a stream of frames.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    /// The beginning of a frame: its type and length.
    Begin(u64, u64),
    /// Bytes of its payload.
    Payload(Bytes),
    /// Its end.
    End,
}

/// A splitter of a stream into frames, whose payload is passed on as it arrives.
#[derive(Debug, Default)]
pub(crate) struct Frames {
    head: Vec<u8>,
    /// The remaining bytes of the payload; `None` between frames.
    left: Option<u64>,
}

impl Frames {
    /// Returns the next piece, and removes its bytes from `input`; `None` if all was read.
    pub fn next(&mut self, input: &mut Bytes) -> Option<Piece> {
        match self.left {
            Some(0) => {
                self.left = None;
                Some(Piece::End)
            }
            Some(left) => {
                let length = usize::try_from(left).unwrap_or(usize::MAX).min(input.len());
                self.left = Some(left - length as u64);
                (length > 0).then(|| Piece::Payload(input.split_to(length)))
            }
            None => self.next_head(input),
        }
    }

    /// Returns whether a frame has begun and not ended.
    pub fn is_within(&self) -> bool {
        self.left.is_some() || !self.head.is_empty()
    }

    fn next_head(&mut self, input: &mut Bytes) -> Option<Piece> {
        let before = self.head.len();
        let taken = input.len().min(2 * varint::BYTES_MAX - before);
        self.head.extend_from_slice(&input[..taken]);
        let numbers = varint::read(&self.head).and_then(|(kind, first)| {
            let (length, second) = varint::read(&self.head[first..])?;
            Some((kind, length, first + second))
        });
        let Some((kind, length, size)) = numbers else {
            input.advance(taken);
            return None;
        };
        input.advance(size - before);
        self.head.clear();
        self.left = Some(length);
        Some(Piece::Begin(kind, length))
    }
}

/// Returns a HEADERS frame.
pub fn headers(section: &[u8]) -> Vec<u8> {
    let mut frame = Vec::with_capacity(section.len() + 4);
    varint::write(HEADERS, &mut frame);
    varint::write(section.len() as u64, &mut frame);
    frame.extend_from_slice(section);
    frame
}

/// Returns the bytes before the payload of a DATA frame.
pub fn data_head(payload_bytes: usize) -> Vec<u8> {
    let mut head = Vec::with_capacity(5);
    varint::write(DATA, &mut head);
    varint::write(payload_bytes as u64, &mut head);
    head
}

/// Returns a GOAWAY frame: `id` and later identifiers are not answered.
pub fn goaway(id: u64) -> Vec<u8> {
    let mut payload = Vec::new();
    varint::write(id, &mut payload);
    let mut frame = Vec::new();
    varint::write(GOAWAY, &mut frame);
    varint::write(payload.len() as u64, &mut frame);
    frame.extend_from_slice(&payload);
    frame
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_split_from_pieces_of_any_size() {
        let mut stream = headers(b"section");
        stream.extend(data_head(300));
        stream.extend([7; 300]);
        stream.extend(data_head(0));
        // Reserved, its numbers longer than they need to be.
        stream.extend([0x40, 0x21, 0x80, 0, 0, 1, 9]);
        for size in [1, 2, 3, 100, stream.len()] {
            let mut frames = Frames::default();
            let mut seen: Vec<(u64, u64, Vec<u8>)> = Vec::new();
            let mut ends = 0;
            for piece in stream.chunks(size) {
                let mut input = Bytes::copy_from_slice(piece);
                while let Some(piece) = frames.next(&mut input) {
                    match piece {
                        Piece::Begin(kind, length) => seen.push((kind, length, Vec::new())),
                        Piece::Payload(bytes) => {
                            seen.last_mut().unwrap().2.extend_from_slice(&bytes);
                        }
                        Piece::End => ends += 1,
                    }
                }
                assert!(input.is_empty());
            }
            assert!(!frames.is_within());
            assert_eq!(ends, 4);
            let expected = [
                (HEADERS, 7, b"section".to_vec()),
                (DATA, 300, vec![7; 300]),
                (DATA, 0, Vec::new()),
                (0x21, 1, vec![9]),
            ];
            assert_eq!(seen, expected, "{size}");
        }
    }
}

//! Reads the stream frames of each packet where it is encrypted, since noq does not report what it
//! has sent.

use noq::crypto::PacketKey;
use noq_proto::PathId;
use noq_proto::crypto::CryptoError;
use std::sync::Arc;

/// The long-header bit (RFC 9000, section 17.2), set in packets that carry no stream of a server.
const LONG_HEADER: u8 = 0x80;

/// The effect of a packet on a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SentFrame {
    /// Bytes of the stream up to this offset.
    Stream(u64, u64),
    /// A reset of the stream.
    Reset(u64),
}

/// A callback for the frames of each packet.
pub(super) type OnSent = Arc<dyn Fn(SentFrame) + Send + Sync>;

/// A key that reports the frames of the packets it encrypts.
pub(super) struct WatchedKey {
    pub inner: Box<dyn PacketKey>,
    pub on_sent: OnSent,
}

impl PacketKey for WatchedKey {
    fn encrypt(&self, path: PathId, packet: u64, buffer: &mut [u8], header_bytes: usize) {
        if buffer.first().is_some_and(|first| first & LONG_HEADER == 0) {
            let end = buffer.len().saturating_sub(self.inner.tag_len());
            let payload = buffer.get(header_bytes..end).unwrap_or_default();
            read_frames(payload, |frame| (self.on_sent)(frame));
        }
        self.inner.encrypt(path, packet, buffer, header_bytes);
    }

    fn decrypt(
        &self,
        path: PathId,
        packet: u64,
        header: &[u8],
        payload: &mut bytes::BytesMut,
    ) -> Result<(), CryptoError> {
        self.inner.decrypt(path, packet, header, payload)
    }

    fn tag_len(&self) -> usize {
        self.inner.tag_len()
    }

    fn confidentiality_limit(&self) -> u64 {
        self.inner.confidentiality_limit()
    }

    fn integrity_limit(&self) -> u64 {
        self.inner.integrity_limit()
    }
}

/// Reports every stream frame in a packet's payload. A frame of unknown type ends the scan, since
/// its length is unknown: noq is configured to send none, and writes its stream frames last.
fn read_frames(mut rest: &[u8], mut on_frame: impl FnMut(SentFrame)) {
    while read_frame(&mut rest, &mut on_frame).is_some() {}
}

/// Reads one frame (RFC 9000, section 19); `None` at the end or if it cannot be parsed.
fn read_frame(rest: &mut &[u8], on_frame: &mut impl FnMut(SentFrame)) -> Option<()> {
    let kind = read_varint(rest)?;
    match kind {
        // Padding, ping, handshake done.
        0x00 | 0x01 | 0x1e => {}
        0x02 | 0x03 => {
            skip_varints(rest, 2)?;
            let ranges = read_varint(rest)?;
            skip_varints(rest, 1 + 2 * ranges)?;
            skip_varints(rest, if kind == 0x03 { 3 } else { 0 })?;
        }
        0x04 => {
            let stream = read_varint(rest)?;
            skip_varints(rest, 2)?;
            on_frame(SentFrame::Reset(stream));
        }
        0x05 | 0x11 | 0x15 => skip_varints(rest, 2)?,
        0x06 => {
            read_varint(rest)?;
            let length = read_varint(rest)?;
            skip(rest, length)?;
        }
        0x07 => {
            let length = read_varint(rest)?;
            skip(rest, length)?;
        }
        0x08..=0x0f => {
            let stream = read_varint(rest)?;
            let offset = if kind & 0x04 != 0 {
                read_varint(rest)?
            } else {
                0
            };
            let length = if kind & 0x02 != 0 {
                read_varint(rest)?
            } else {
                rest.len() as u64
            };
            skip(rest, length)?;
            on_frame(SentFrame::Stream(stream, offset + length));
        }
        0x10 | 0x12 | 0x13 | 0x14 | 0x16 | 0x17 | 0x19 => skip_varints(rest, 1)?,
        0x18 => {
            skip_varints(rest, 2)?;
            let length = u64::from(*rest.first()?);
            skip(rest, 1 + length + 16)?;
        }
        0x1a | 0x1b => skip(rest, 8)?,
        _ => return None,
    }
    Some(())
}

/// Reads a variable-length integer (RFC 9000, section 16).
pub(super) fn read_varint(rest: &mut &[u8]) -> Option<u64> {
    let first = *rest.first()?;
    let length = 1usize << (first >> 6);
    let (bytes, after) = rest.split_at_checked(length)?;
    let value = bytes[1..]
        .iter()
        .fold(u64::from(first & 0x3f), |value, byte| {
            value << 8 | u64::from(*byte)
        });
    *rest = after;
    Some(value)
}

fn skip_varints(rest: &mut &[u8], count: u64) -> Option<()> {
    for _ in 0..count {
        read_varint(rest)?;
    }
    Some(())
}

fn skip(rest: &mut &[u8], bytes: u64) -> Option<()> {
    *rest = rest.get(usize::try_from(bytes).ok()?..)?;
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frames_of(payload: &[u8]) -> Vec<SentFrame> {
        let mut frames = Vec::new();
        read_frames(payload, |frame| frames.push(frame));
        frames
    }

    #[test]
    fn stream_frames_are_found_behind_others() {
        let mut payload = vec![0x1e];
        // An acknowledgement with ECN counts and two ranges, then window frames.
        payload.extend([0x03, 0x40, 0x50, 0x01, 0x01, 0x02, 0x03, 0x04, 1, 2, 3]);
        payload.extend([0x11, 0x04, 0x80, 0, 1, 0, 0x10, 0x05]);
        // A new connection identifier of four bytes.
        payload.extend([0x18, 1, 0, 4, 1, 2, 3, 4]);
        payload.extend([0; 16]);
        payload.extend([0x04, 0x08, 0x00, 0x0a]);
        // With offset and length, then to the packet's end.
        payload.extend([0x0e, 0x00, 0x41, 0x00, 0x03, 7, 7, 7]);
        payload.extend([0x09, 0x04, 9, 9, 9, 9, 9]);
        assert_eq!(
            frames_of(&payload),
            [
                SentFrame::Reset(8),
                SentFrame::Stream(0, 0x103),
                SentFrame::Stream(4, 5)
            ]
        );
    }

    #[test]
    fn an_unreadable_frame_ends_the_packet() {
        assert_eq!(frames_of(&[0x40, 0xaf, 1, 2, 3]), []);
        assert_eq!(frames_of(&[0x0e, 0x00, 0x00, 0x05, 1]), []);
        assert_eq!(frames_of(&[]), []);
    }
}

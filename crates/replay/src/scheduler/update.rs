//! Reads priority changes as browsers send them over HTTP/2 (RFC 9218, section 7.1): h2 drops these
//! frames silently, so they are parsed alongside it.

use super::Priority;

/// The size of the client's preface (RFC 9113, section 3.4).
const H2_PREFACE_BYTES: usize = 24;
const H2_HEADER_BYTES: usize = 9;
const H2_HEADERS: u8 = 0x01;
const H2_RST_STREAM: u8 = 0x03;
const H2_CONTINUATION: u8 = 0x09;
/// Flags of HEADERS, and the size of the priority before the field section (RFC 9113, section 6.2).
const END_HEADERS: u8 = 0x04;
const PADDED: u8 = 0x08;
const PRIORITY: u8 = 0x20;
const H2_PRIORITY_BYTES: u64 = 5;
/// The PRIORITY_UPDATE frame type (RFC 9218, section 7.1).
const H2_PRIORITY_UPDATE: u8 = 0x10;
/// The longest priority field that is read; one has a dozen bytes.
const UPDATE_BYTES_MAX: usize = 256;

/// An event on one side of an HTTP/2 connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum H2Event {
    /// A stream's first field section is complete: the stream and its coded bytes.
    Head(u64, u64),
    /// A stream was reset.
    Reset(u64),
    /// A stream's priority changed.
    Update(u64, Priority),
}

/// A parser of the frames of one direction of an HTTP/2 connection, fed as bytes pass.
#[derive(Debug)]
pub struct H2Frames {
    preface_left: usize,
    header: Vec<u8>,
    payload: Vec<u8>,
    payload_left: usize,
    is_client: bool,
    last_opened: u64,
    /// The coded bytes of the current field section, and whether it is a head's.
    section_bytes: u64,
    is_head: bool,
    /// Whether CONTINUATION must follow.
    is_section_open: bool,
}

impl H2Frames {
    /// Creates a parser of the client's frames, which begin with the preface.
    pub fn client() -> Self {
        Self {
            preface_left: H2_PREFACE_BYTES,
            is_client: true,
            ..Self::server()
        }
    }

    /// Creates a parser of the server's frames.
    pub fn server() -> Self {
        Self {
            preface_left: 0,
            header: Vec::with_capacity(H2_HEADER_BYTES),
            payload: Vec::new(),
            payload_left: 0,
            is_client: false,
            last_opened: 0,
            section_bytes: 0,
            is_head: false,
            is_section_open: false,
        }
    }

    /// Returns the bytes up to the next place at which another stream's frame may stand, as far as
    /// they are known yet; 0 at such a place.
    pub fn bytes_to_boundary(&self) -> usize {
        let header_left = H2_HEADER_BYTES - self.header.len();
        match (self.payload_left, header_left) {
            (0, H2_HEADER_BYTES) if !self.is_section_open => 0,
            (0, _) => header_left,
            _ => self.payload_left,
        }
    }

    /// Parses the next bytes and reports completed events to `report`.
    pub fn feed(&mut self, mut bytes: &[u8], mut report: impl FnMut(H2Event)) {
        let skipped = self.preface_left.min(bytes.len());
        self.preface_left -= skipped;
        bytes = &bytes[skipped..];
        while !bytes.is_empty() {
            if self.payload_left == 0 {
                let wanted = H2_HEADER_BYTES - self.header.len();
                let (taken, rest) = bytes.split_at(wanted.min(bytes.len()));
                self.header.extend_from_slice(taken);
                bytes = rest;
                if self.header.len() == H2_HEADER_BYTES {
                    let length = [0, self.header[0], self.header[1], self.header[2]];
                    self.payload_left = u32::from_be_bytes(length) as usize;
                    self.on_header(&mut report);
                }
            } else {
                let (taken, rest) = bytes.split_at(self.payload_left.min(bytes.len()));
                self.take_padding(taken[0]);
                if self.header[3] == H2_PRIORITY_UPDATE {
                    let room = UPDATE_BYTES_MAX - self.payload.len();
                    self.payload
                        .extend_from_slice(&taken[..taken.len().min(room)]);
                }
                self.payload_left -= taken.len();
                bytes = rest;
            }
            if self.header.len() == H2_HEADER_BYTES && self.payload_left == 0 {
                self.on_end(&mut report);
            }
        }
    }

    fn on_header(&mut self, report: &mut impl FnMut(H2Event)) {
        let (kind, flags) = (self.header[3], self.header[4]);
        let stream = stream_id(&self.header[5..]);
        match kind {
            H2_HEADERS => {
                // A client's later HEADERS of a stream are trailers; our servers send none.
                self.is_head = !self.is_client || stream > self.last_opened;
                self.last_opened = self.last_opened.max(stream);
                self.section_bytes = self.payload_left as u64;
                if flags & PRIORITY != 0 {
                    self.section_bytes = self.section_bytes.saturating_sub(H2_PRIORITY_BYTES);
                }
            }
            H2_CONTINUATION => self.section_bytes += self.payload_left as u64,
            H2_RST_STREAM => report(H2Event::Reset(stream)),
            _ => {}
        }
    }

    /// Reads the length of the padding from the first byte of padded HEADERS.
    fn take_padding(&mut self, first: u8) {
        let is_padded = self.header[3] == H2_HEADERS && self.header[4] & PADDED != 0;
        if is_padded {
            self.section_bytes = self.section_bytes.saturating_sub(1 + u64::from(first));
            // Once for each frame.
            self.header[4] &= !PADDED;
        }
    }

    fn on_end(&mut self, report: &mut impl FnMut(H2Event)) {
        if let Some((id, field)) = self.payload.split_at_checked(4)
            && self.header[3] == H2_PRIORITY_UPDATE
            && let Ok(field) = std::str::from_utf8(field)
        {
            report(H2Event::Update(stream_id(id), Priority::parse(field)));
        }
        let is_section = matches!(self.header[3], H2_HEADERS | H2_CONTINUATION);
        if is_section {
            self.is_section_open = self.header[4] & END_HEADERS == 0;
        }
        if is_section && self.is_head && self.header[4] & END_HEADERS != 0 {
            let stream = stream_id(&self.header[5..]);
            report(H2Event::Head(stream, self.section_bytes));
        }
        self.header.clear();
        self.payload.clear();
    }
}

/// Returns a stream identifier of 31 bits (RFC 9113, section 4.1).
fn stream_id(bytes: &[u8]) -> u64 {
    let id = [bytes[0] & 0x7f, bytes[1], bytes[2], bytes[3]];
    u32::from_be_bytes(id).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(kind: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
        frame_with_flags(
            kind,
            if kind == H2_HEADERS { END_HEADERS } else { 0 },
            stream,
            payload,
        )
    }

    fn frame_with_flags(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
        let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
        let head = [&length[1..], &[kind, flags], &stream.to_be_bytes()].concat();
        [&head, payload].concat()
    }

    fn feed_in_pieces(bytes: &[u8], size: usize, mut feed: impl FnMut(&[u8])) {
        bytes.chunks(size).for_each(&mut feed);
    }

    const URGENT: Priority = Priority {
        urgency: 0,
        incremental: true,
    };

    #[test]
    fn http2_frames_are_found_in_pieces_of_any_size() {
        let update = [&5u32.to_be_bytes()[..], b"u=0, i"].concat();
        let mut bytes = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec();
        for part in [
            frame(4, 0, &[0; 12]),
            frame(H2_HEADERS, 1, &[0x82; 40]),
            frame(H2_PRIORITY_UPDATE, 0, &update),
            frame(0, 1, &[7; 700]),
            frame(H2_HEADERS, 1, b"trailers"),
            frame(4, 0, &[]),
            frame(H2_RST_STREAM, 1, &[0; 4]),
            frame(H2_HEADERS, 5, &[]),
            // Ten bytes of padding and a priority; the section continues in a second frame.
            frame_with_flags(H2_HEADERS, PADDED | PRIORITY, 7, &[10; 100]),
            frame_with_flags(H2_CONTINUATION, END_HEADERS, 7, &[0x82; 20]),
        ] {
            bytes.extend(part);
        }
        for size in [1, 2, 7, 9, 100, bytes.len()] {
            let (mut frames, mut seen) = (H2Frames::client(), Vec::new());
            feed_in_pieces(&bytes, size, |piece| {
                frames.feed(piece, |each| seen.push(each))
            });
            let expected = [
                H2Event::Head(1, 40),
                H2Event::Update(5, URGENT),
                H2Event::Reset(1),
                H2Event::Head(5, 0),
                H2Event::Head(7, 100 - 1 - 10 - 5 + 20),
            ];
            assert_eq!(seen, expected, "{size}");
        }
    }

    #[test]
    fn frames_may_stand_between_others_and_not_within_a_field_section() {
        let parts = [
            frame(4, 0, &[0; 12]),
            frame(0, 1, &[7; 3]),
            frame_with_flags(H2_HEADERS, 0, 1, &[0x82; 4]),
            frame_with_flags(H2_CONTINUATION, END_HEADERS, 1, &[0x82; 2]),
            frame(4, 0, &[]),
        ];
        let bytes = parts.concat();
        let mut frames = H2Frames::server();
        let mut places = Vec::new();
        for (at, byte) in bytes.iter().enumerate() {
            let rest = frames.bytes_to_boundary();
            if rest == 0 {
                places.push(at);
            } else {
                // It leads to the next boundary or less far, never across one.
                let mut ahead = H2Frames::server();
                ahead.feed(&bytes[..at], |_| ());
                (0..rest - 1).for_each(|step| {
                    ahead.feed(&bytes[at + step..=at + step], |_| ());
                    assert_ne!(ahead.bytes_to_boundary(), 0, "{at} + {step}");
                });
            }
            frames.feed(&[*byte], |_| ());
        }
        assert_eq!(frames.bytes_to_boundary(), 0);
        let lengths: Vec<usize> = parts.iter().map(Vec::len).collect();
        let after_section = lengths[..4].iter().sum();
        assert_eq!(
            places,
            [0, lengths[0], lengths[0] + lengths[1], after_section]
        );
    }

    #[test]
    fn an_endless_update_is_not_kept() {
        let mut frames = H2Frames::server();
        let long = frame(H2_PRIORITY_UPDATE, 0, &[b' '; 100_000]);
        frames.feed(&long, |_| ());
        frames.feed(&long[..50_000], |_| ());
        assert!(frames.payload.len() <= UPDATE_BYTES_MAX);
    }
}

//! Changes of priority as browsers send them (RFC 9218, section 7): frames that h2 and h3 drop
//! without telling, read beside them.

use super::Priority;

/// RFC 9113, section 3.4.
const H2_PREFACE_BYTES: usize = 24;
const H2_HEADER_BYTES: usize = 9;
const H2_HEADERS: u8 = 0x01;
const H2_RST_STREAM: u8 = 0x03;
/// RFC 9218, section 7.1.
const H2_PRIORITY_UPDATE: u8 = 0x10;
/// RFC 9114, section 6.2.1.
const H3_CONTROL_STREAM: u64 = 0x00;
/// RFC 9218, section 7.2, for request streams.
const H3_PRIORITY_UPDATE: u64 = 0x000f_0700;
/// A priority field has a dozen bytes; what is longer is not read.
const UPDATE_BYTES_MAX: usize = 256;
/// RFC 9000, section 16.
const VARINT_BYTES_MAX: usize = 8;

/// What one side of an HTTP/2 connection said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum H2Seen {
    /// The first HEADERS of a stream.
    Opened(u64),
    /// A stream was reset.
    Reset(u64),
    /// A stream's priority changed.
    Update(u64, Priority),
}

/// The frames of one direction of an HTTP/2 connection, byte by byte as they pass.
#[derive(Debug)]
pub(crate) struct H2Frames {
    preface_left: usize,
    header: Vec<u8>,
    payload: Vec<u8>,
    payload_left: usize,
    last_opened: u64,
}

impl H2Frames {
    /// Of the client, which begins with the preface.
    pub fn of_client() -> Self {
        Self {
            preface_left: H2_PREFACE_BYTES,
            ..Self::of_server()
        }
    }

    /// Of the server.
    pub fn of_server() -> Self {
        Self {
            preface_left: 0,
            header: Vec::with_capacity(H2_HEADER_BYTES),
            payload: Vec::new(),
            payload_left: 0,
            last_opened: 0,
        }
    }

    /// The next bytes; what they complete is told.
    pub fn feed(&mut self, mut bytes: &[u8], mut tell: impl FnMut(H2Seen)) {
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
                    self.on_header(&mut tell);
                }
            } else {
                let (taken, rest) = bytes.split_at(self.payload_left.min(bytes.len()));
                if self.header[3] == H2_PRIORITY_UPDATE {
                    let room = UPDATE_BYTES_MAX - self.payload.len();
                    self.payload
                        .extend_from_slice(&taken[..taken.len().min(room)]);
                }
                self.payload_left -= taken.len();
                bytes = rest;
            }
            if self.header.len() == H2_HEADER_BYTES && self.payload_left == 0 {
                self.on_end(&mut tell);
            }
        }
    }

    fn on_header(&mut self, tell: &mut impl FnMut(H2Seen)) {
        let stream = stream_id(&self.header[5..]);
        match self.header[3] {
            // Later HEADERS of a stream are trailers.
            H2_HEADERS if stream > self.last_opened => {
                self.last_opened = stream;
                tell(H2Seen::Opened(stream));
            }
            H2_RST_STREAM => tell(H2Seen::Reset(stream)),
            _ => {}
        }
    }

    fn on_end(&mut self, tell: &mut impl FnMut(H2Seen)) {
        if let Some((id, field)) = self.payload.split_at_checked(4)
            && self.header[3] == H2_PRIORITY_UPDATE
            && let Ok(field) = std::str::from_utf8(field)
        {
            tell(H2Seen::Update(stream_id(id), Priority::parse(field)));
        }
        self.header.clear();
        self.payload.clear();
    }
}

/// RFC 9113, section 4.1: 31 bits.
fn stream_id(bytes: &[u8]) -> u64 {
    let id = [bytes[0] & 0x7f, bytes[1], bytes[2], bytes[3]];
    u32::from_be_bytes(id).into()
}

/// A client's unidirectional HTTP/3 stream, byte by byte as it is read.
#[derive(Debug, Default)]
pub(crate) struct H3Frames {
    number: Vec<u8>,
    state: H3State,
    payload: Vec<u8>,
}

#[derive(Clone, Copy, Debug, Default)]
enum H3State {
    #[default]
    StreamType,
    FrameType,
    FrameLength(u64),
    Payload(u64, u64),
    /// Not the control stream.
    Other,
}

impl H3Frames {
    /// The next bytes; changes of a request's priority that they complete are told with its stream.
    pub fn feed(&mut self, mut bytes: &[u8], mut tell: impl FnMut(u64, Priority)) {
        while !bytes.is_empty() {
            match self.state {
                H3State::Other => return,
                H3State::Payload(kind, left) => {
                    let length = usize::try_from(left).unwrap_or(usize::MAX);
                    let (taken, rest) = bytes.split_at(length.min(bytes.len()));
                    if kind == H3_PRIORITY_UPDATE {
                        let room = UPDATE_BYTES_MAX - self.payload.len();
                        self.payload
                            .extend_from_slice(&taken[..taken.len().min(room)]);
                    }
                    bytes = rest;
                    self.on_payload(kind, left - taken.len() as u64, &mut tell);
                }
                _ => {
                    self.number.push(bytes[0]);
                    bytes = &bytes[1..];
                    if let Some((value, _)) = varint(&self.number) {
                        self.number.clear();
                        self.on_number(value, &mut tell);
                    }
                }
            }
        }
    }

    fn on_number(&mut self, value: u64, tell: &mut impl FnMut(u64, Priority)) {
        match self.state {
            H3State::StreamType if value == H3_CONTROL_STREAM => self.state = H3State::FrameType,
            H3State::StreamType => self.state = H3State::Other,
            H3State::FrameType => self.state = H3State::FrameLength(value),
            H3State::FrameLength(kind) => self.on_payload(kind, value, tell),
            H3State::Payload(..) | H3State::Other => {}
        }
    }

    fn on_payload(&mut self, kind: u64, left: u64, tell: &mut impl FnMut(u64, Priority)) {
        if left > 0 {
            self.state = H3State::Payload(kind, left);
            return;
        }
        self.state = H3State::FrameType;
        if kind == H3_PRIORITY_UPDATE
            && let Some((stream, length)) = varint(&self.payload)
            && let Ok(field) = std::str::from_utf8(&self.payload[length..])
        {
            tell(stream, Priority::parse(field));
        }
        self.payload.clear();
    }
}

/// The number at the beginning and its length; none where it is not whole (RFC 9000, section 16).
fn varint(bytes: &[u8]) -> Option<(u64, usize)> {
    let length = 1 << (bytes.first()? >> 6);
    debug_assert!(length <= VARINT_BYTES_MAX);
    let (first, rest) = bytes.get(..length)?.split_first()?;
    let start = u64::from(first & 0x3f);
    let value = rest
        .iter()
        .fold(start, |sum, byte| sum << 8 | u64::from(*byte));
    Some((value, length))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(kind: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
        let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
        let head = [&length[1..], &[kind, 0], &stream.to_be_bytes()].concat();
        [&head, payload].concat()
    }

    fn in_pieces(bytes: &[u8], size: usize, mut feed: impl FnMut(&[u8])) {
        bytes.chunks(size).for_each(&mut feed);
    }

    const URGENT: Priority = Priority {
        urgency: 0,
        incremental: true,
    };

    #[test]
    fn http2_frames_are_found_however_the_bytes_come() {
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
        ] {
            bytes.extend(part);
        }
        for size in [1, 2, 7, 9, 100, bytes.len()] {
            let (mut frames, mut seen) = (H2Frames::of_client(), Vec::new());
            in_pieces(&bytes, size, |piece| {
                frames.feed(piece, |each| seen.push(each))
            });
            let expected = [
                H2Seen::Opened(1),
                H2Seen::Update(5, URGENT),
                H2Seen::Reset(1),
                H2Seen::Opened(5),
            ];
            assert_eq!(seen, expected, "{size}");
        }
    }

    #[test]
    fn http3_updates_are_found_on_the_control_stream_alone() {
        // PRIORITY_UPDATE in four bytes; stream 256 in two.
        let update = [&[0x80, 0x0f, 0x07, 0x00, 8, 0x41, 0x00][..], b"u=0, i"].concat();
        let body = [&[0x04, 2, 1, 1][..], &update, &[0x21, 0], &update].concat();
        let control = [&[0x00][..], &body].concat();
        for size in [1, 3, control.len()] {
            let (mut frames, mut seen) = (H3Frames::default(), Vec::new());
            in_pieces(&control, size, |piece| {
                frames.feed(piece, |stream, priority| seen.push((stream, priority)));
            });
            assert_eq!(seen, [(256, URGENT), (256, URGENT)], "{size}");
        }
        let encoder = [&[0x02][..], &body].concat();
        H3Frames::default().feed(&encoder, |_, _| panic!("of QPACK's stream"));
    }

    #[test]
    fn an_endless_update_is_not_kept() {
        let mut frames = H2Frames::of_server();
        let long = frame(H2_PRIORITY_UPDATE, 0, &[b' '; 100_000]);
        frames.feed(&long, |_| ());
        frames.feed(&long[..50_000], |_| ());
        assert!(frames.payload.len() <= UPDATE_BYTES_MAX);
    }
}

//! Finds the fault of an HTTP/2 response that h2 refuses without naming it, by reading its fields
//! and the length of its body alongside h2.

use eyelevel_http3::hpack::Decoder;
use eyelevel_http3::qpack::Field;

use crate::refused::{HEAD_BYTES_MAX, escape_excerpt};

/// The length of a frame header; its fields and codes are from RFC 9113, sections 4.1 and 6.
const HEADER_BYTES: usize = 9;
const DATA: u8 = 0x0;
const HEADERS: u8 = 0x1;
const PUSH_PROMISE: u8 = 0x5;
const CONTINUATION: u8 = 0x9;
const END_STREAM: u8 = 0x1;
const END_HEADERS: u8 = 0x4;
const PADDED: u8 = 0x8;
const PRIORITY: u8 = 0x20;
const PRIORITY_BYTES: usize = 5;
/// The default size of the dynamic table, which hyper's client keeps.
const TABLE_BYTES_MAX: u64 = 4_096;
/// Connection-specific fields, which are invalid in HTTP/2 (RFC 9113, section 8.2.2).
const CONNECTION_FIELDS: [&[u8]; 5] = [
    b"connection",
    b"keep-alive",
    b"proxy-connection",
    b"transfer-encoding",
    b"upgrade",
];

/// A part of a response.
#[derive(Debug, PartialEq, Eq)]
pub enum Part {
    /// A field section: a head or trailers.
    Fields(Vec<Field>),
    /// A number of bytes of the body.
    Body(u64),
    /// The end of the stream.
    End,
}

/// A parser for the frames that a server sends, fed byte by byte.
#[derive(Debug)]
pub struct Answers {
    header: Vec<u8>,
    /// The needed part of the current frame's payload.
    payload: Vec<u8>,
    payload_left: usize,
    section: Vec<u8>,
    ends_stream: bool,
    /// The field decoder; `None` after an error.
    decoder: Option<Decoder>,
}

impl Default for Answers {
    fn default() -> Self {
        Self {
            header: Vec::with_capacity(HEADER_BYTES),
            payload: Vec::new(),
            payload_left: 0,
            section: Vec::new(),
            ends_stream: false,
            decoder: Some(Decoder::new(TABLE_BYTES_MAX, HEAD_BYTES_MAX as u64)),
        }
    }
}

impl Answers {
    /// Reads the next bytes and reports each completed part with its stream.
    pub fn feed(&mut self, mut bytes: &[u8], mut report: impl FnMut(u64, Part)) {
        while !bytes.is_empty() && self.decoder.is_some() {
            if self.header.len() < HEADER_BYTES {
                let wanted = HEADER_BYTES - self.header.len();
                let (taken, rest) = bytes.split_at(wanted.min(bytes.len()));
                self.header.extend_from_slice(taken);
                bytes = rest;
                if self.header.len() < HEADER_BYTES {
                    return;
                }
                let length = [0, self.header[0], self.header[1], self.header[2]];
                self.payload_left = u32::from_be_bytes(length) as usize;
            }
            let (taken, rest) = bytes.split_at(self.payload_left.min(bytes.len()));
            // The first byte of a padded body frame is the padding's length.
            let room = match self.header[3] {
                HEADERS | CONTINUATION => HEAD_BYTES_MAX + 1,
                DATA => 1,
                _ => 0,
            };
            let room = room.saturating_sub(self.payload.len());
            self.payload
                .extend_from_slice(&taken[..taken.len().min(room)]);
            self.payload_left -= taken.len();
            bytes = rest;
            if self.payload_left == 0 {
                self.on_frame(&mut report);
                self.header.clear();
                self.payload.clear();
            }
        }
    }

    fn on_frame(&mut self, report: &mut impl FnMut(u64, Part)) {
        let header = &self.header;
        let length = u32::from_be_bytes([0, header[0], header[1], header[2]]);
        let stream = u32::from_be_bytes([header[5], header[6], header[7], header[8]]);
        let (kind, flags, stream) = (header[3], header[4], u64::from(stream & (u32::MAX >> 1)));
        let padding = match self.payload.first() {
            Some(&padding) if flags & PADDED != 0 => Some(usize::from(padding)),
            _ => None,
        };
        match kind {
            DATA => {
                let padding = padding.map_or(0, |padding| 1 + padding as u64);
                report(
                    stream,
                    Part::Body(u64::from(length).saturating_sub(padding)),
                );
                if flags & END_STREAM != 0 {
                    report(stream, Part::End);
                }
            }
            HEADERS => {
                let (start, end) = padding.map_or((0, 0), |padding| (1, padding));
                let start = start + usize::from(flags & PRIORITY != 0) * PRIORITY_BYTES;
                let end = self.payload.len().saturating_sub(end);
                let fields = self.payload.get(start..end).unwrap_or_default();
                self.section = fields.to_vec();
                self.ends_stream = flags & END_STREAM != 0;
            }
            CONTINUATION => self.section.extend_from_slice(&self.payload),
            // It has fields, and was not allowed.
            PUSH_PROMISE => self.decoder = None,
            _ => {}
        }
        if !matches!(kind, HEADERS | CONTINUATION) || flags & END_HEADERS == 0 {
            if self.section.len() > HEAD_BYTES_MAX {
                self.decoder = None;
            }
            return;
        }
        let section = std::mem::take(&mut self.section);
        let fields = self.decoder.as_mut().and_then(|it| it.section(&section));
        match fields {
            Some(fields) => report(stream, Part::Fields(fields)),
            None => self.decoder = None,
        }
        if self.ends_stream {
            report(stream, Part::End);
        }
    }
}

/// A response as far as it has arrived, with its first fault.
#[derive(Debug, Default)]
pub struct Checked {
    length: Option<u64>,
    came: u64,
    fault: Option<String>,
}

impl Checked {
    /// Checks the next part.
    pub fn on(&mut self, part: Part) {
        match part {
            Part::Fields(fields) => {
                for field in &fields {
                    if let Some(fault) = self.find_fault(field) {
                        let name = escape_excerpt(&field.name);
                        self.note(format!("its field `{name}` {fault}"));
                    }
                }
            }
            Part::Body(bytes) => {
                self.came += bytes;
                if self.length.is_some_and(|length| self.came > length) {
                    self.note_length("or more ");
                }
            }
            Part::End => {
                if self.length.is_some_and(|length| self.came != length) {
                    self.note_length("");
                }
            }
        }
    }

    /// Returns the first fault.
    pub fn fault(&self) -> Option<&str> {
        self.fault.as_deref()
    }

    fn note(&mut self, fault: String) {
        self.fault.get_or_insert(fault);
    }

    fn note_length(&mut self, or_more: &str) {
        let (length, came) = (self.length.unwrap_or_default(), self.came);
        self.note(format!(
            "its field `content-length` is {length}, and {came} bytes {or_more}came"
        ));
    }

    fn find_fault(&mut self, field: &Field) -> Option<&'static str> {
        let (name, value) = (&field.name[..], &field.value[..]);
        let is_of_name = |byte: &u8| byte.is_ascii_graphic() && !byte.is_ascii_uppercase();
        if name.is_empty() || !name.iter().all(is_of_name) {
            return Some("has a name that HTTP/2 does not allow");
        }
        if value
            .iter()
            .any(|&byte| byte != b'\t' && byte.is_ascii_control())
        {
            return Some("has a control character");
        }
        if CONNECTION_FIELDS.contains(&name) || name == b"te" && value != b"trailers" {
            return Some("is none of HTTP/2");
        }
        if name != b"content-length" {
            return None;
        }
        let length = std::str::from_utf8(value).ok();
        let length = length.filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
        let Some(length) = length.and_then(|text| text.parse().ok()) else {
            return Some("is not a number");
        };
        if self.length.is_some_and(|before| before != length) {
            return Some("comes twice, with another value");
        }
        self.length = Some(length);
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(kind: u8, flags: u8, payload: &[u8]) -> Vec<u8> {
        let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
        [&length[1..], &[kind, flags, 0, 0, 0, 1], payload].concat()
    }

    /// Encodes a field without Huffman coding and without the table.
    fn literal(name: &str, value: &str) -> Vec<u8> {
        let part = |text: &str| [&[text.len() as u8], text.as_bytes()].concat();
        [&[0][..], &part(name), &part(value)].concat()
    }

    fn fault(frames: &[u8], size: usize) -> Option<String> {
        let (mut answers, mut checked) = (Answers::default(), Checked::default());
        for piece in frames.chunks(size) {
            answers.feed(piece, |stream, part| {
                assert_eq!(stream, 1);
                checked.on(part);
            });
        }
        checked.fault().map(str::to_owned)
    }

    #[test]
    fn the_first_field_that_is_at_fault_is_named() {
        let body = frame(
            DATA,
            PADDED | END_STREAM,
            &[&[3][..], b"hello", &[0; 3]].concat(),
        );
        for (name, value, right) in [
            ("x-a", "1", None),
            ("te", "trailers", None),
            ("content-length", "5", None),
            (
                "proxy-connection",
                "x",
                Some("`proxy-connection` is none of HTTP/2"),
            ),
            ("te", "gzip", Some("`te` is none of HTTP/2")),
            (
                "X-A",
                "1",
                Some("`X-A` has a name that HTTP/2 does not allow"),
            ),
            ("x-a", "a\u{1}", Some("`x-a` has a control character")),
            (
                "content-length",
                "+5",
                Some("`content-length` is not a number"),
            ),
            (
                "content-length",
                "6",
                Some("`content-length` is 6, and 5 bytes came"),
            ),
            (
                "content-length",
                "4",
                Some("`content-length` is 4, and 5 bytes or more came"),
            ),
        ] {
            let section = [&[0x88][..], &literal(name, value)].concat();
            let (first, second) = section.split_at(3);
            let padded = [&[2, 0, 0, 0, 0, 0][..], first, &[0; 2]].concat();
            let head = [
                frame(HEADERS, PADDED | PRIORITY, &padded),
                frame(CONTINUATION, END_HEADERS, second),
                frame(4, 0, &[0; 6]),
            ];
            let frames = [head.concat(), body.clone()].concat();
            for size in [1, 4, frames.len()] {
                let right = right.map(|right| format!("its field {right}"));
                assert_eq!(fault(&frames, size), right);
            }
        }
        let twice = [
            literal("content-length", "5"),
            literal("content-length", "6"),
        ]
        .concat();
        let twice = [frame(HEADERS, END_HEADERS, &twice), body].concat();
        let right = "its field `content-length` comes twice, with another value";
        assert_eq!(fault(&twice, 7).as_deref(), Some(right));
    }

    #[test]
    fn undecodable_fields_have_no_fault() {
        let no_hpack = frame(HEADERS, END_HEADERS, &[0x80]);
        let later = frame(HEADERS, END_HEADERS, &literal("te", "x"));
        let pushed = frame(PUSH_PROMISE, END_HEADERS, &[0; 4]);
        for before in [no_hpack, pushed] {
            assert_eq!(fault(&[before, later.clone()].concat(), 5), None);
        }
        let endless = frame(HEADERS, 0, &[0; 16_000]);
        let more = frame(CONTINUATION, 0, &[0; 16_000]);
        let mut answers = Answers::default();
        answers.feed(&endless, |_, _| ());
        for _ in 0..1_000 {
            answers.feed(&more, |_, _| ());
        }
        assert!(answers.decoder.is_none() && answers.section.len() < 2 * HEAD_BYTES_MAX);
    }
}

//! Pure: parses the response on a request's stream as its bytes arrive.
//!
//! The head is parsed more leniently than in a browser: a prober reports what a server sends even
//! if one of its fields is not allowed.

use crate::Answer;
use crate::http::Head;
use bytes::Bytes;
use eyelevel_http3::qpack::{Decoded, Decoder, Field};
use eyelevel_http3::{Message, MessageEvent, Side};
use http::{HeaderMap, HeaderName, HeaderValue};

/// The longest head that is parsed.
const HEAD_BYTES_MAX: u64 = 64 * 1024;
/// The most bytes of unknown frames before the head (RFC 9114, section 9) that are skipped.
const BEFORE_HEAD_BYTES_MAX: usize = 128 * 1024;

/// A parser of one response.
#[derive(Debug)]
pub struct Response {
    message: Message,
    /// A decoder without a dynamic table, which is never offered: no section has to wait.
    decoder: Decoder,
    taken: usize,
    /// The head as the server sent it, and the bytes after it.
    answer: Answer,
    rest: Bytes,
}

impl Default for Response {
    fn default() -> Self {
        Self {
            message: message(),
            decoder: Decoder::new(0, 0),
            taken: 0,
            answer: Answer::default(),
            rest: Bytes::new(),
        }
    }
}

impl Response {
    /// Parses the next bytes of the stream; returns the head once it has arrived, after any interim
    /// ones.
    ///
    /// # Errors
    /// A description in a few words.
    pub fn take(&mut self, mut bytes: Bytes) -> Result<Option<Head>, &'static str> {
        self.taken += bytes.len();
        while let Some(event) = self
            .message
            .next(&mut bytes)
            .map_err(|error| error.reason)?
        {
            let section = match event {
                MessageEvent::Head(section) => section,
                MessageEvent::TooLong => return Err("a head of more than 64 kB"),
                MessageEvent::Data(_) | MessageEvent::Trailers(_) => continue,
            };
            let fields = match self.decoder.decode(0, &section, HEAD_BYTES_MAX) {
                Ok(Decoded::Fields(fields)) => fields,
                Ok(Decoded::Blocked) => return Err("a head that refers to a table that is not"),
                Ok(Decoded::TooLarge) => return Err("a head of more than 64 kB"),
                Err(error) => return Err(error.reason),
            };
            let head = head_of(&fields).ok_or("a head without a status")?;
            // Interim 1xx responses precede the final one (RFC 9110, section 15.2).
            if head.status >= 200 {
                self.answer = answer_of(head.status, &fields);
                self.rest = bytes;
                return Ok(Some(head));
            }
            self.message = message();
        }
        if self.taken > BEFORE_HEAD_BYTES_MAX {
            return Err("no head in 128 kB");
        }
        Ok(None)
    }

    /// Takes the head as an answer; to be called once.
    pub fn take_answer(&mut self) -> Answer {
        std::mem::take(&mut self.answer)
    }

    /// Parses the next bytes after the head and adds the body to the answer; returns false once no
    /// more are kept.
    ///
    /// # Errors
    /// A description in a few words.
    pub fn take_body(
        &mut self,
        mut bytes: Bytes,
        answer: &mut Answer,
    ) -> Result<bool, &'static str> {
        let mut behind_head = std::mem::take(&mut self.rest);
        for piece in [&mut behind_head, &mut bytes] {
            while let Some(event) = self.message.next(piece).map_err(|error| error.reason)? {
                if let MessageEvent::Data(part) = event
                    && !answer.add_body(&part)
                {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }
}

fn message() -> Message {
    Message::new(Side::Server, HEAD_BYTES_MAX)
}

fn head_of(fields: &[Field]) -> Option<Head> {
    let status = &fields
        .iter()
        .find(|field| &field.name[..] == b":status")?
        .value;
    let is_status = status.len() == 3 && status.iter().all(u8::is_ascii_digit);
    let status = std::str::from_utf8(status).ok().filter(|_| is_status)?;
    let mut headers = HeaderMap::new();
    for field in fields {
        let name = HeaderName::from_bytes(&field.name);
        if let (Ok(name), Ok(value)) = (name, HeaderValue::from_bytes(&field.value)) {
            headers.append(name, value);
        }
    }
    Some(Head::new(status.parse().ok()?, &headers))
}

fn answer_of(status: u16, fields: &[Field]) -> Answer {
    let mut answer = Answer::new("HTTP/3", status);
    for field in fields.iter().filter(|field| !field.name.starts_with(b":")) {
        answer.add_field(&field.name, &field.value);
    }
    answer
}

#[cfg(test)]
mod tests {
    use super::super::http3::RESPONSE_200;
    use super::*;

    fn head(section: &[u8]) -> Vec<u8> {
        let mut bytes = vec![1, section.len() as u8 + 2, 0, 0];
        bytes.extend_from_slice(section);
        bytes
    }

    fn status(stream: &[u8]) -> Result<Option<u16>, &'static str> {
        let head = Response::default().take(Bytes::copy_from_slice(stream))?;
        Ok(head.map(|head| head.status))
    }

    #[test]
    fn statuses_are_read_in_every_form() {
        for (section, expected) in [
            (&[0xc0 | 25][..], 200),
            (&[0xff, 0x00], 100), // static entry 63
            (&[0xff, 0x08], 500), // static entry 71
            (&[0x5f, 9, 3, b'3', b'0', b'1'], 301),
            (&[0x5f, 9, 0x82, 0b0110_0100, 0b0000_0000], 300),
            (
                &[
                    0x27, 0, b':', b's', b't', b'a', b't', b'u', b's', 3, b'4', b'1', b'0',
                ],
                410,
            ),
            (
                &[0x2d, 0xb8, 0x84, 0x8d, 0x36, 0xa3, 3, b'4', b'1', b'8'],
                418,
            ),
        ] {
            let expected = (expected >= 200).then_some(expected);
            assert_eq!(status(&head(section)), Ok(expected), "{section:x?}");
        }
        assert_eq!(status(&RESPONSE_200), Ok(Some(200)));
    }

    #[test]
    fn the_server_field_is_read_despite_an_invalid_field() {
        let mut section = vec![0xc0 | 25];
        for (name, value) in [
            ("Connection", "close"),
            ("server", "a"),
            ("server", "b"),
            ("alt-svc", "h3"),
        ] {
            match name.len() as u8 {
                length @ 0..7 => section.push(0x20 | length),
                length => section.extend([0x27, length - 7]),
            }
            section.extend(name.bytes());
            section.push(value.len() as u8);
            section.extend(value.bytes());
        }
        let found = Response::default().take(head(&section).into()).unwrap();
        let found = found.unwrap();
        assert_eq!(found.server.as_deref(), Some("a"));
        assert_eq!(found.alt_svc.as_deref(), Some("h3"));
    }

    #[test]
    fn fields_and_the_beginning_of_the_body_are_kept_wherever_the_stream_is_cut() {
        let mut section = vec![0xc0 | 25];
        section.extend([0x26, b's', b'e', b'r', b'v', b'e', b'r', 2, 0x1b, 0xff]);
        let mut stream = head(&section);
        stream.extend([0, 3, b'a', b'b', b'c', 0x21, 1, 9, 0, 1, b'd']);
        for end in 0..stream.len() {
            let (mut response, mut answer) = (Response::default(), None);
            for piece in [&stream[..end], &stream[end..]] {
                let mut bytes = Bytes::copy_from_slice(piece);
                if answer.is_none() && response.take(std::mem::take(&mut bytes)).unwrap().is_some()
                {
                    answer = Some(response.take_answer());
                }
                if let Some(answer) = &mut answer {
                    assert_eq!(response.take_body(bytes, answer), Ok(true), "cut at {end}");
                }
            }
            let answer = answer.unwrap();
            assert_eq!((answer.http, answer.status), ("HTTP/3", 200));
            assert_eq!(answer.fields, [("server".into(), "\u{1b}\u{fffd}".into())]);
            assert_eq!(answer.body, b"abcd", "cut at {end}");
        }
    }

    #[test]
    fn unknown_frames_and_interim_heads_are_passed_over() {
        let mut stream = vec![0x21, 2, 9, 9];
        stream.extend(head(&[0xff, 0x00]));
        stream.extend(head(&[0xc0 | 27]));
        assert_eq!(status(&stream), Ok(Some(404)));
        for end in 0..stream.len() {
            assert_eq!(status(&stream[..end]), Ok(None), "cut at {end}");
            let mut response = Response::default();
            let (first, rest) = stream.split_at(end);
            assert_eq!(response.take(first.to_vec().into()).map(|_| ()), Ok(()));
            let head = response.take(rest.to_vec().into()).unwrap();
            assert_eq!(head.map(|head| head.status), Some(404), "cut at {end}");
        }
        assert!(status(&[0, 1, 9]).is_err());
        assert!(status(&head(&[0x80])).is_err());
        let mut endless = vec![0x21, 0x80, 0x0f, 0xff, 0xff];
        endless.resize(BEFORE_HEAD_BYTES_MAX + 1, 0);
        assert!(status(&endless).is_err());
        for digits in [
            &[3, b'+', b'2', b'0'][..],
            &[5, b'6', b'5', b'5', b'3', b'5'],
            &[2, b'2', b'0'],
        ] {
            let section = [&[0x5f, 9], digits].concat();
            assert!(status(&head(&section)).is_err(), "{digits:x?}");
        }
    }
}

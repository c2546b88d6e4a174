//! A server's response, as far as it is kept; pure.

use serde::{Serialize, Serializer};

/// The limit of names and values together: as much as servers allow a request's head.
const HEAD_BYTES_MAX: usize = 8 * 1024;
/// The limit of the body: enough for the beginning of a page, or all of an error's.
const BODY_BYTES_MAX: usize = 4 * 1024;

/// The head of a response and the beginning of its body (`spec/probe.md`).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Answer {
    /// `HTTP/1.0`, `HTTP/1.1`, `HTTP/2` or `HTTP/3`.
    pub http: &'static str,
    /// The status.
    pub status: u16,
    /// The reason phrase in HTTP/1.1's first line; the other versions have none.
    pub reason: Option<String>,
    /// Names, in lower case, and values.
    pub fields: Vec<(String, String)>,
    /// Fields beyond the bound.
    pub fields_left_out: usize,
    /// The body's first bytes.
    #[serde(serialize_with = "as_text")]
    pub body: Vec<u8>,
    /// Whether these are all of its bytes.
    pub body_whole: bool,
    #[serde(skip)]
    head_bytes: usize,
}

impl Answer {
    /// Creates an answer without fields or body.
    pub fn new(http: &'static str, status: u16) -> Self {
        Self {
            http,
            status,
            ..Self::default()
        }
    }

    /// Adds the next field; invalid UTF-8 becomes U+FFFD.
    pub fn add_field(&mut self, name: &[u8], value: &[u8]) {
        self.head_bytes = self.head_bytes.saturating_add(name.len() + value.len());
        if self.head_bytes > HEAD_BYTES_MAX {
            self.fields_left_out += 1;
        } else {
            let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
            self.fields.push((text(name), text(value)));
        }
    }

    /// Adds the body's next bytes; returns false once no more are kept.
    pub fn add_body(&mut self, bytes: &[u8]) -> bool {
        let room = BODY_BYTES_MAX - self.body.len();
        self.body.extend_from_slice(&bytes[..bytes.len().min(room)]);
        bytes.len() <= room
    }
}

/// Serialises the body as text; a character that the limit cut in two is left out, and invalid
/// UTF-8 becomes U+FFFD.
fn as_text<S: Serializer>(body: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    let whole = match std::str::from_utf8(body) {
        Err(error) if error.error_len().is_none() => &body[..error.valid_up_to()],
        _ => body,
    };
    serializer.serialize_str(&String::from_utf8_lossy(whole))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_and_bodies_are_bounded_and_omissions_are_counted() {
        let mut answer = Answer::new("HTTP/2", 200);
        answer.add_field(b"long", &[b'x'; HEAD_BYTES_MAX - 4]);
        answer.add_field(b"a", b"");
        answer.add_field(b"", b"");
        assert_eq!((answer.fields.len(), answer.fields_left_out), (1, 2));
        assert!(answer.add_body(&[b'x'; BODY_BYTES_MAX - 1]));
        assert!(answer.add_body(b"y"));
        assert!(!answer.add_body(b"z"));
        assert_eq!(answer.body.len(), BODY_BYTES_MAX);
        assert_eq!(answer.body.last(), Some(&b'y'));
    }

    #[test]
    fn bytes_that_are_no_text_are_marked_and_a_cut_letter_is_none() {
        let mut answer = Answer::new("HTTP/1.1", 404);
        answer.add_field(b"server", b"\xff\x1b[2J");
        answer.add_body("\u{e4}\u{fc}".as_bytes());
        let line = serde_json::to_string(&answer).unwrap();
        assert!(
            line.contains("[\"server\",\"\u{fffd}\\u001b[2J\"]"),
            "{line}"
        );
        assert!(line.contains("\"body\":\"\u{e4}\u{fc}\""), "{line}");
        answer.body.pop();
        let cut = serde_json::to_string(&answer).unwrap();
        assert!(cut.contains("\"body\":\"\u{e4}\""), "{cut}");
    }
}

//! Header fields as recorded.

use bytes::Bytes;

/// A header field as it was on the wire.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// The name in its recorded case; not empty, but possibly not a valid token.
    pub name: String,
    /// The value without surrounding white space; any bytes except CR, LF and NUL.
    pub value: Bytes,
}

impl Header {
    /// Creates a field from its name and value.
    pub fn new(name: impl Into<String>, value: impl Into<Bytes>) -> Self {
        Header {
            name: name.into(),
            value: value.into(),
        }
    }

    /// Whether the field is called `name`, in any case.
    pub fn is(&self, name: &str) -> bool {
        self.name.eq_ignore_ascii_case(name)
    }

    /// Returns the value as text if it is UTF-8.
    pub fn text(&self) -> Option<&str> {
        std::str::from_utf8(&self.value).ok()
    }

    /// Whether HTTP/1.1, HTTP/2 and HTTP/3 can all carry the field (RFC 9110, sections 5.1, 5.5).
    pub fn is_valid(&self) -> bool {
        let is_token =
            |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
        let is_value = |byte: u8| byte == b'\t' || (byte >= b' ' && byte != 0x7f);
        !self.name.is_empty()
            && self.name.bytes().all(is_token)
            && self.value.iter().copied().all(is_value)
    }
}

/// Returns the first field called `name`, as text.
pub(crate) fn find<'a>(headers: &'a [Header], name: &str) -> Option<&'a str> {
    headers
        .iter()
        .find(|header| header.is(name))
        .and_then(Header::text)
}

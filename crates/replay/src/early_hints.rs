//! The 103 (Early Hints, RFC 8297) that is sent while the page's own response waits.

use crate::matcher::Request;
use eyelevel_archive::Url;
use eyelevel_http3::head;
use eyelevel_http3::qpack::Encoder;
use http::header::LINK;
use http::{HeaderMap, HeaderValue, StatusCode};

const HEADERS: u8 = 0x01;
const END_HEADERS: u8 = 0x04;
/// `:status` and `link` in HPACK's static table (RFC 7541, appendix A).
const STATUS_INDEX: u8 = 8;
const LINK_INDEX: usize = 45;

/// The Early Hints of a page.
#[derive(Clone, Debug)]
pub struct EarlyHints {
    /// The document before whose response they are sent.
    pub page: Url,
    /// The value of the field `Link`.
    pub link: HeaderValue,
}

impl EarlyHints {
    /// Returns the value of `Link` if it belongs before the response to this request.
    pub(crate) fn link_before(&self, request: &Request<'_>) -> Option<HeaderValue> {
        let page = &self.page;
        let is_page = request.method == "GET"
            && request.scheme == page.scheme
            && request.host == page.host
            && request.port == page.port
            && request.path_and_query == page.path_and_query;
        is_page.then(|| self.link.clone())
    }
}

/// Returns the HTTP/2 frame of a 103. Its fields are literals that no table takes in (RFC 7541,
/// section 6.2.2), so that the tables of the connection's own encoder stay as they are.
pub(crate) fn write_h2_frame(stream: u64, link: &HeaderValue) -> Vec<u8> {
    let mut section = vec![STATUS_INDEX];
    write_string(&mut section, b"103");
    write_integer(&mut section, 4, LINK_INDEX);
    write_string(&mut section, link.as_bytes());
    let length = u32::try_from(section.len()).unwrap_or(u32::MAX);
    let stream = u32::try_from(stream).unwrap_or_default();
    let mut frame = length.to_be_bytes()[1..].to_vec();
    frame.extend([HEADERS, END_HEADERS]);
    frame.extend(stream.to_be_bytes());
    frame.extend(section);
    frame
}

/// Returns the HTTP/3 field section of a 103, which refers to no dynamic table, as over HTTP/2.
pub(crate) fn write_h3_section(stream: u64, link: &HeaderValue) -> Vec<u8> {
    let fields = HeaderMap::from_iter([(LINK, link.clone())]);
    let lines = head::response_lines(&StatusCode::EARLY_HINTS, &fields);
    Encoder::new().encode(stream, lines, false)
}

/// Writes a string without Huffman's code (RFC 7541, section 5.2).
fn write_string(section: &mut Vec<u8>, text: &[u8]) {
    write_integer(section, 7, text.len());
    section.extend_from_slice(text);
}

/// Writes an integer with a prefix of that many bits after zeros (RFC 7541, section 5.1).
fn write_integer(section: &mut Vec<u8>, prefix_bits: u32, value: usize) {
    let largest = (1 << prefix_bits) - 1;
    if value < largest {
        section.push(value as u8);
        return;
    }
    section.push(largest as u8);
    let mut rest = value - largest;
    while rest >= 0x80 {
        section.push((rest & 0x7f) as u8 | 0x80);
        rest >>= 7;
    }
    section.push(rest as u8);
}

#[cfg(test)]
mod tests {
    use super::*;
    use eyelevel_http3::hpack::Decoder;

    #[test]
    fn a_103_over_http2_is_read_without_a_table() {
        for length in [1, 126, 127, 128, 255, 8000] {
            let link = HeaderValue::try_from("x".repeat(length)).unwrap();
            let frame = write_h2_frame(0x0102_0305, &link);
            let (begin, section) = frame.split_at(9);
            let bytes = [0, begin[0], begin[1], begin[2]];
            assert_eq!(u32::from_be_bytes(bytes) as usize, section.len());
            assert_eq!(begin[3..], [1, 4, 1, 2, 3, 5]);
            let fields = Decoder::new(0, 1 << 16).section(section).unwrap();
            let read: Vec<_> = fields
                .iter()
                .map(|field| (&field.name[..], &field.value[..]))
                .collect();
            let expected = [(&b":status"[..], &b"103"[..]), (b"link", link.as_bytes())];
            assert_eq!(read, expected, "{length}");
        }
    }
}

//! Pure: encodes one HTTP/3 request, and the response of lab servers (RFC 9114, RFC 9204).
//!
//! The dynamic table is never offered, so a field section consists of static references and
//! literals.

use crate::http::ProbeRequest;

/// A control stream with empty SETTINGS: type 0, frame 4 of length 0.
pub const CONTROL_STREAM: [u8; 3] = [0x00, 0x04, 0x00];

/// A response of status 200 without a body: HEADERS with one static entry.
pub const RESPONSE_200: [u8; 5] = [0x01, 0x03, 0x00, 0x00, 0xc0 | STATIC_200];

/// The index of `:status: 200` in RFC 9204, appendix A.
const STATIC_200: u8 = 25;
const FRAME_HEADERS: u64 = 1;

/// Returns the whole request stream: one HEADERS frame.
pub fn request_stream(request: &ProbeRequest) -> Vec<u8> {
    // Required insert count 0, base 0; `:method: GET` is 17, `:scheme: https` is 23.
    let mut section = vec![0, 0, 0xc0 | 17, 0xc0 | 23];
    write_literal(&mut section, 0, &request.authority);
    write_literal(&mut section, 1, &request.path);
    write_literal(&mut section, 29, "*/*");
    write_literal(&mut section, 95, &request.user_agent);
    let mut frame = vec![FRAME_HEADERS as u8];
    write_varint(&mut frame, section.len() as u64);
    frame.extend(section);
    frame
}

/// Appends a literal field line with a static name reference (RFC 9204, section 4.5.4), without
/// Huffman coding.
fn write_literal(section: &mut Vec<u8>, name: u64, value: &str) {
    write_prefixed(section, 0x50, 4, name);
    write_prefixed(section, 0x00, 7, value.len() as u64);
    section.extend_from_slice(value.as_bytes());
}

/// Appends an integer with a prefix (RFC 7541, section 5.1).
fn write_prefixed(output: &mut Vec<u8>, pattern: u8, bits: u32, value: u64) {
    let largest = (1 << bits) - 1;
    if value < largest {
        output.push(pattern | value as u8);
        return;
    }
    output.push(pattern | largest as u8);
    let mut rest = value - largest;
    while rest >= 128 {
        output.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    output.push(rest as u8);
}

/// Appends a variable-length integer (RFC 9000, section 16) below 2^30, which no command line
/// reaches.
fn write_varint(output: &mut Vec<u8>, value: u64) {
    match value {
        0..64 => output.push(value as u8),
        64..0x4000 => output.extend((value as u16 | 0x4000).to_be_bytes()),
        _ => output.extend((value as u32 | 0x8000_0000).to_be_bytes()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::packets::read_varint;
    use super::*;

    #[test]
    fn requests_are_one_headers_frame() {
        let request = ProbeRequest {
            authority: "a.example".into(),
            path: "/".into(),
            user_agent: "x".repeat(20_000),
        };
        let stream = request_stream(&request);
        let (kind, rest) = read_varint(&stream).unwrap();
        let (length, rest) = read_varint(rest).unwrap();
        assert_eq!((kind, length as usize), (1, rest.len()));
        assert_eq!(&rest[..4], [0, 0, 0xd1, 0xd7]);
        assert_eq!(&rest[4..6], [0x50, 9]);
    }
}

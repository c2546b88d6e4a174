//! Pure: the bytes of one HTTP/3 request, and the status of its response (RFC 9114, RFC 9204).
//!
//! The dynamic table is never offered, so a field section is static references and literals.

use super::packets::varint;
use crate::http::Asked;

/// A control stream with empty SETTINGS: type 0, frame 4 of length 0.
pub const CONTROL_STREAM: [u8; 3] = [0x00, 0x04, 0x00];

/// A response of status 200 without a body: HEADERS with one static entry.
pub const RESPONSE_200: [u8; 5] = [0x01, 0x03, 0x00, 0x00, 0xc0 | STATIC_200];

/// Index of `:status: 200` in RFC 9204, appendix A.
const STATIC_200: u8 = 25;
const FRAME_DATA: u64 = 0;
const FRAME_HEADERS: u64 = 1;
/// A response whose head is longer is none that is worth a status.
const HEAD_BYTES_MAX: usize = 64 * 1024;

/// The whole request stream: one HEADERS frame.
pub fn request_stream(asked: &Asked) -> Vec<u8> {
    // Required insert count 0, base 0; `:method: GET` is 17, `:scheme: https` is 23.
    let mut section = vec![0, 0, 0xc0 | 17, 0xc0 | 23];
    literal(&mut section, 0, &asked.authority);
    literal(&mut section, 1, &asked.path);
    literal(&mut section, 29, "*/*");
    literal(&mut section, 95, &asked.user_agent);
    let mut frame = vec![FRAME_HEADERS as u8];
    write_varint(&mut frame, section.len() as u64);
    frame.extend(section);
    frame
}

/// A literal field line with a static name reference (RFC 9204, section 4.5.4), not Huffman coded.
fn literal(section: &mut Vec<u8>, name: u64, value: &str) {
    prefixed(section, 0x50, 4, name);
    prefixed(section, 0x00, 7, value.len() as u64);
    section.extend_from_slice(value.as_bytes());
}

/// RFC 7541, section 5.1.
fn prefixed(output: &mut Vec<u8>, pattern: u8, bits: u32, value: u64) {
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

/// RFC 9000, section 16; below 2^30, which no command line reaches.
fn write_varint(output: &mut Vec<u8>, value: u64) {
    match value {
        0..64 => output.push(value as u8),
        64..0x4000 => output.extend((value as u16 | 0x4000).to_be_bytes()),
        _ => output.extend((value as u32 | 0x8000_0000).to_be_bytes()),
    }
}

/// The status of a response stream's beginning: `Ok(None)` while more bytes are needed.
///
/// # Errors
/// What is wrong, in a few words.
pub fn response_status(stream: &[u8]) -> Result<Option<u16>, &'static str> {
    let mut rest = stream;
    while let Some((kind, after)) = varint(rest) {
        let Some((length, after)) = varint(after) else {
            break;
        };
        let length = usize::try_from(length).map_err(|_| "a frame of absurd length")?;
        if kind == FRAME_DATA {
            return Err("a body before its head");
        }
        if length > HEAD_BYTES_MAX {
            return Err("a head of more than 64 kB");
        }
        let Some(payload) = after.get(..length) else {
            break;
        };
        if kind == FRAME_HEADERS {
            let status = status_of(payload).ok_or("a head without a status")?;
            // 1xx come before the response proper (RFC 9110, section 15.2).
            if status >= 200 {
                return Ok(Some(status));
            }
        }
        rest = &after[length..];
    }
    if stream.len() > 2 * HEAD_BYTES_MAX {
        return Err("no head in 128 kB");
    }
    Ok(None)
}

/// `:status` comes first (RFC 9114, section 4.3): the first field line is all that is read.
fn status_of(section: &[u8]) -> Option<u16> {
    let (_, rest) = integer(section, 8)?;
    let (_, rest) = integer(rest, 7)?;
    let first = *rest.first()?;
    if first & 0xc0 == 0xc0 {
        return static_status(integer(rest, 6)?.0);
    }
    if first & 0xf0 == 0x50 || first & 0xf0 == 0x70 {
        let (name, rest) = integer(rest, 4)?;
        static_status(name)?;
        return digits(rest);
    }
    if first & 0xe0 == 0x20 {
        // A literal name; it has to be `:status`, Huffman coded (bit 3) or not.
        let is_coded = first & 0x08 != 0;
        let (length, rest) = integer(rest, 3)?;
        let (name, rest) = rest.split_at_checked(usize::try_from(length).ok()?)?;
        let known: &[u8] = if is_coded {
            &[0xb8, 0x84, 0x8d, 0x36, 0xa3]
        } else {
            b":status"
        };
        return (name == known).then(|| digits(rest))?;
    }
    None
}

/// RFC 9204, appendix A: the statuses of the static table.
fn static_status(index: u64) -> Option<u16> {
    const FIRST: [u16; 5] = [103, 200, 304, 404, 503];
    const SECOND: [u16; 9] = [100, 204, 206, 302, 400, 403, 421, 425, 500];
    match index {
        24..=28 => Some(FIRST[index as usize - 24]),
        63..=71 => Some(SECOND[index as usize - 63]),
        _ => None,
    }
}

/// Three digits as a string literal (RFC 7541, section 5.2), Huffman coded or not.
fn digits(rest: &[u8]) -> Option<u16> {
    let is_coded = rest.first()? & 0x80 != 0;
    let (length, rest) = integer(rest, 7)?;
    let value = rest.get(..usize::try_from(length).ok()?)?;
    if !is_coded {
        let is_status = value.len() == 3 && value.iter().all(u8::is_ascii_digit);
        return is_status.then(|| std::str::from_utf8(value).ok()?.parse().ok())?;
    }
    // RFC 7541, appendix B: 0 to 2 are 5 bits, 3 to 9 are 6 bits from 25 on.
    let mut bits = value
        .iter()
        .flat_map(|byte| (0..8).rev().map(move |bit| u16::from(byte >> bit & 1)));
    let mut status = 0;
    for _ in 0..3 {
        let five = (0..5).try_fold(0, |code, _| Some(code << 1 | bits.next()?))?;
        let digit = if five <= 2 {
            five
        } else {
            (five << 1 | bits.next()?)
                .checked_sub(22)
                .filter(|digit| (3..=9).contains(digit))?
        };
        status = status * 10 + digit;
    }
    // What is left of the last byte is ones (RFC 7541, section 5.2).
    let padding: Vec<u16> = bits.collect();
    (padding.len() < 8 && !padding.contains(&0)).then_some(status)
}

/// RFC 7541, section 5.1.
fn integer(bytes: &[u8], bits: u32) -> Option<(u64, &[u8])> {
    let (first, mut rest) = bytes.split_first()?;
    let largest = (1_u64 << bits) - 1;
    let mut value = u64::from(*first) & largest;
    if value < largest {
        return Some((value, rest));
    }
    for shift in (0..28).step_by(7) {
        let (byte, after) = rest.split_first()?;
        rest = after;
        value += u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some((value, rest));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(section: &[u8]) -> Vec<u8> {
        let mut bytes = vec![1, section.len() as u8 + 2, 0, 0];
        bytes.extend_from_slice(section);
        bytes
    }

    #[test]
    fn statuses_are_read_in_every_form() {
        for (section, status) in [
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
            let found = response_status(&head(section));
            let expected = (status >= 200).then_some(status);
            assert_eq!(found, Ok(expected), "{section:x?}");
        }
    }

    #[test]
    fn unknown_frames_and_interim_heads_are_passed_over() {
        let mut stream = vec![0x21, 2, 9, 9];
        stream.extend(head(&[0xff, 0x00]));
        stream.extend(head(&[0xc0 | 27]));
        assert_eq!(response_status(&stream), Ok(Some(404)));
        for end in 0..stream.len() {
            assert_eq!(response_status(&stream[..end]), Ok(None), "cut at {end}");
        }
        assert!(response_status(&[0, 1, 9]).is_err());
        assert!(response_status(&head(&[0x80])).is_err());
        for digits in [
            &[3, b'+', b'2', b'0'][..],
            &[5, b'6', b'5', b'5', b'3', b'5'],
            &[2, b'2', b'0'],
            // `3000` and `300` with a byte too many, Huffman coded.
            &[0x83, 0b0110_0100, 0b0000_0000, 0b0000_0111],
            &[0x83, 0b0110_0100, 0b0000_0000, 0xff],
        ] {
            let section = [&[0x5f, 9], digits].concat();
            assert!(response_status(&head(&section)).is_err(), "{digits:x?}");
        }
    }

    #[test]
    fn requests_are_one_headers_frame() {
        let asked = Asked {
            authority: "a.example".into(),
            path: "/".into(),
            user_agent: "x".repeat(20_000),
        };
        let stream = request_stream(&asked);
        let (kind, rest) = varint(&stream).unwrap();
        let (length, rest) = varint(rest).unwrap();
        assert_eq!((kind, length as usize), (1, rest.len()));
        assert_eq!(&rest[..4], [0, 0, 0xd1, 0xd7]);
        assert_eq!(&rest[4..6], [0x50, 9]);
        assert_eq!(response_status(&RESPONSE_200), Ok(Some(200)));
    }
}

//! Rewrites response heads that Chromium accepts and hyper does not into ones that hyper accepts.

/// The bytes before `HTTP` that Chromium skips (`kStatusLineSlop`): the rest of a previous
/// response.
const SLOP_BYTES_MAX: usize = 4;
const NAME: &[u8] = b"HTTP";

/// What the first bytes of a response are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Beginning {
    /// Too few bytes to decide.
    Unclear,
    /// A head begins after this many bytes.
    Head(usize),
    /// Not a head of HTTP/1.
    Other,
}

/// Finds where the head of a response begins, as Chromium does.
pub fn find_head(bytes: &[u8]) -> Beginning {
    let at = |&start: &usize| {
        let name = bytes.get(start..start + NAME.len());
        name.is_some_and(|name| name.eq_ignore_ascii_case(NAME))
    };
    match (0..=SLOP_BYTES_MAX).find(at) {
        Some(start) => Beginning::Head(start),
        None if bytes.len() < SLOP_BYTES_MAX + NAME.len() => Beginning::Unclear,
        None => Beginning::Other,
    }
}

/// Finds the end of a head, after its empty line; lines may end without CR.
pub fn find_end_of_head(bytes: &[u8]) -> Option<usize> {
    let mut start = 0;
    while let Some(at) = bytes[start..].iter().position(|&byte| byte == b'\n') {
        start += at + 1;
        match bytes[start..] {
            [b'\n', ..] => return Some(start + 1),
            [b'\r', b'\n', ..] => return Some(start + 2),
            _ => {}
        }
    }
    None
}

/// Whether the head is an interim response's, so that another head follows.
pub fn is_interim(head: &[u8]) -> bool {
    let line = head.split(|&byte| byte == b'\n').next().unwrap_or(head);
    let line = status_line(line.trim_ascii_end());
    line.is_some_and(|line| line[9] == b'1' && !line[9..].starts_with(b"101"))
}

/// Rewrites a head: normalises its status line, gives each line that Chromium sees a line of its
/// own, and drops what Chromium ignores: a `Content-Length` that is not a number or belongs to a
/// chunked body, and a `Transfer-Encoding` in HTTP/1.0. What Chromium refuses stays, so that hyper
/// refuses it.
pub fn repair_head(head: &[u8]) -> Vec<u8> {
    let is_end = |&byte: &u8| byte == b'\r' || byte == b'\n';
    let mut lines = head.split(is_end).filter(|line| !line.is_empty());
    let first = lines.next().unwrap_or_default();
    let first = status_line(first).unwrap_or_else(|| first.to_vec());
    let is_1_0 = first.starts_with(b"HTTP/1.0");
    let lines: Vec<&[u8]> = lines.collect();
    let mut lengths = lines
        .iter()
        .filter_map(|line| value(line, "content-length"));
    let length = lengths.next().unwrap_or(b"0");
    // Chromium ignores several that differ.
    let is_numberless = !is_number(length) && lengths.all(|other| other == length);
    let mut codings = lines
        .iter()
        .filter_map(|line| value(line, "transfer-encoding"));
    let is_chunked = !is_1_0 && codings.any(has_chunks);
    let mut repaired = first;
    for line in lines {
        let is_passed_over = (is_numberless || is_chunked)
            && value(line, "content-length").is_some()
            || is_1_0 && value(line, "transfer-encoding").is_some();
        if !is_passed_over {
            repaired.extend_from_slice(b"\r\n");
            repaired.extend_from_slice(line);
        }
    }
    repaired.extend_from_slice(b"\r\n\r\n");
    repaired
}

/// Rewrites all complete heads in `read` and leaves the rest unchanged.
pub fn repair_heads(mut read: &[u8]) -> Vec<u8> {
    let mut repaired = Vec::new();
    if let Beginning::Head(start) = find_head(read) {
        read = &read[start..];
    }
    while let Some(end) = find_end_of_head(read) {
        repaired.extend(repair_head(&read[..end]));
        read = &read[end..];
    }
    repaired.extend_from_slice(read);
    repaired
}

/// Parses and normalises a status line like Chromium (`HttpResponseHeaders::ParseStatusLine`);
/// returns `None` for one without a valid status and for other versions of HTTP.
fn status_line(line: &[u8]) -> Option<Vec<u8>> {
    let (version, rest) = line.split_at(line.iter().position(|&byte| byte == b' ')?);
    let (name, number) = version.split_at_checked(NAME.len())?;
    if !name.eq_ignore_ascii_case(NAME) {
        return None;
    }
    let number = match number {
        [b'/', major, b'.', minor, ..] if major.is_ascii_digit() && minor.is_ascii_digit() => {
            (*major, *minor)
        }
        _ => (b'0', b'0'),
    };
    let version = match number {
        (b'2', b'0') => return None,
        (b'1', b'1'..) | (b'2'.., _) => "HTTP/1.1",
        _ => "HTTP/1.0",
    };
    let rest = rest.trim_ascii();
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (status, reason) = rest.split_at(digits);
    if digits != 3 || status[0] == b'0' {
        return None;
    }
    let reason = reason.trim_ascii();
    let space: &[u8] = if reason.is_empty() { b"" } else { b" " };
    Some([version.as_bytes(), b" ", status, space, reason].concat())
}

/// Returns the value of a line if it is a field of this name.
fn value<'a>(line: &'a [u8], name: &str) -> Option<&'a [u8]> {
    let colon = line.iter().position(|&byte| byte == b':')?;
    let is_it = line[..colon]
        .trim_ascii()
        .eq_ignore_ascii_case(name.as_bytes());
    is_it.then(|| line[colon + 1..].trim_ascii())
}

/// Whether a body is chunked, whatever its `Content-Length` is (RFC 9112, section 6.3).
fn has_chunks(codings: &[u8]) -> bool {
    let mut codings = codings.split(|&byte| byte == b',');
    codings.any(|coding| coding.trim_ascii().eq_ignore_ascii_case(b"chunked"))
}

/// Whether a length is a number; only the first value of a list counts.
fn is_number(length: &[u8]) -> bool {
    let first = length.split(|&byte| byte == b',').next().unwrap_or(length);
    let first = first.trim_ascii();
    !first.is_empty() && first.iter().all(u8::is_ascii_digit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(head: &str) -> String {
        String::from_utf8(repair_head(head.as_bytes())).unwrap()
    }

    #[test]
    fn status_lines_are_read_like_chromium() {
        for (line, right) in [
            ("HTTP/1.1 200 OK", "HTTP/1.1 200 OK"),
            ("HTTP/1.1  200  Fine by me ", "HTTP/1.1 200 Fine by me"),
            ("http/1.1 200 OK", "HTTP/1.1 200 OK"),
            ("Http/1.0 404", "HTTP/1.0 404"),
            ("HTTP/1.1 200OK", "HTTP/1.1 200 OK"),
            ("HTTP/1.2 200 OK", "HTTP/1.1 200 OK"),
            ("HTTP/0.9 200 OK", "HTTP/1.0 200 OK"),
            ("HTTP 200 OK", "HTTP/1.0 200 OK"),
            ("HTTP/1 200 OK", "HTTP/1.0 200 OK"),
            // Chromium assumes a status, or refuses the response; the expected value is hyper's.
            ("HTTP/1.1", "HTTP/1.1"),
            ("HTTP/1.1 2x0", "HTTP/1.1 2x0"),
            ("HTTP/1.1 0 OK", "HTTP/1.1 0 OK"),
            ("HTTP/1.1 2000 OK", "HTTP/1.1 2000 OK"),
            ("HTTP/2.0 200 OK", "HTTP/2.0 200 OK"),
            ("ICY 200 OK", "ICY 200 OK"),
        ] {
            let head = format!("{line}\r\nA: 1\r\n\r\n");
            assert_eq!(text(&head), format!("{right}\r\nA: 1\r\n\r\n"));
        }
    }

    #[test]
    fn fields_that_chromium_passes_over_are_left_out() {
        for (fields, right) in [
            ("A: 1\r\n B\r\nc:\r\n", "A: 1\r\n B\r\nc:\r\n"),
            ("A: 1\nB: 2\r\n", "A: 1\r\nB: 2\r\n"),
            ("A: 1\rB: 2\r\n", "A: 1\r\nB: 2\r\n"),
            ("Content-Length: 11\r\n", "Content-Length: 11\r\n"),
            ("Content-Length: 11, 11\r\n", "Content-Length: 11, 11\r\n"),
            ("Content-Length: +11\r\nA: 1\r\n", "A: 1\r\n"),
            ("content-length : x\r\nCONTENT-LENGTH:x\r\n", ""),
            ("Content-Length:\r\n", ""),
            ("Content-Length: -1\r\n", ""),
            (
                "Content-Length: +1\r\nContent-Length: 1\r\n",
                "Content-Length: +1\r\nContent-Length: 1\r\n",
            ),
            (
                "Transfer-Encoding: gzip, Chunked\r\nContent-Length: 3\r\n",
                "Transfer-Encoding: gzip, Chunked\r\n",
            ),
            (
                "Transfer-Encoding: chunked\r\n",
                "Transfer-Encoding: chunked\r\n",
            ),
        ] {
            let head = format!("HTTP/1.1 200 OK\r\n{fields}\r\n");
            assert_eq!(text(&head), format!("HTTP/1.1 200 OK\r\n{right}\r\n"));
        }
        let old = text("HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
        assert_eq!(old, "HTTP/1.0 200 OK\r\n\r\n");
    }

    #[test]
    fn a_head_is_found_after_the_rest_of_another_response() {
        assert_eq!(find_head(b"HTTP/1.1"), Beginning::Head(0));
        assert_eq!(find_head(b"\r\nhttp"), Beginning::Head(2));
        assert_eq!(find_head(b"1234HTTP"), Beginning::Head(4));
        assert_eq!(find_head(b"12345HTTP"), Beginning::Other);
        assert_eq!(find_head(b"HTT"), Beginning::Unclear);
        assert_eq!(find_head(b"SSH-2.0"), Beginning::Unclear);
        assert_eq!(find_head(b"SSH-2.0-"), Beginning::Other);
        assert_eq!(find_end_of_head(b"a\r\n\r\nb"), Some(5));
        assert_eq!(find_end_of_head(b"a\n\nb"), Some(3));
        assert_eq!(find_end_of_head(b"a\n\r\nb"), Some(4));
        assert_eq!(find_end_of_head(b"a\r\nb\r\n\r"), None);
        let two = b"\r\nhttp/1.1 103 Hints\r\n\r\nHTTP/1.1  200\r\n\r\nHTTP/1.1";
        let mended = b"HTTP/1.1 103 Hints\r\n\r\nHTTP/1.1 200\r\n\r\nHTTP/1.1";
        assert_eq!(repair_heads(two), mended);
        assert!(is_interim(&two[2..]) && !is_interim(&two[24..]));
        assert!(!is_interim(b"HTTP/1.1 101 Switching Protocols\r\n\r\n"));
    }
}

//! The normal form of a request: two requests with the same meaning have equal ones.

use std::borrow::Cow;

/// Returns the normal form of a path with its query: escapes as RFC 3986 (section 6.2.2) makes them
/// equal, without dot segments, and the query's parameters decoded as forms are (WHATWG URL,
/// section 5.1), except for separators. Borrows the target if it is in normal form already.
pub(super) fn normalise_target(target: &str) -> Cow<'_, str> {
    let (path, query) = match target.split_once('?') {
        Some((path, query)) => (path, Some(query)),
        None => (target, None),
    };
    let is_plain = |text: &str| {
        text.bytes()
            .all(|byte| is_plain_in_path(byte) || byte == b'?')
    };
    let is_plain_query = |query: &str| is_plain(query) && !query.contains('+');
    if is_plain(path) && !path.contains("/.") && query.is_none_or(is_plain_query) {
        return Cow::Borrowed(target);
    }
    let mut meaning = String::with_capacity(target.len() + target.len() / 4);
    for (byte, is_escaped) in unescape(path) {
        let stays = match is_escaped {
            true => is_unreserved(byte),
            false => is_plain_in_path(byte),
        };
        push(&mut meaning, byte, stays);
    }
    if meaning.contains("/.") {
        meaning = remove_dot_segments(&meaning);
    }
    if let Some(query) = query {
        meaning.push('?');
        push_form(&mut meaning, query);
    }
    Cow::Owned(meaning)
}

/// Returns the normal form of a request's body by its type: a form with decoded parameters, or a
/// multipart body without its boundary, which every load generates anew (RFC 2046, section 5.1.1).
pub(super) fn normalise_body<'a>(content_type: &str, body: &'a [u8]) -> Cow<'a, [u8]> {
    let kind = media_type(content_type);
    if is_form(content_type) {
        let Ok(text) = std::str::from_utf8(body) else {
            return Cow::Borrowed(body);
        };
        let mut meaning = String::with_capacity(body.len());
        push_form(&mut meaning, text);
        return Cow::Owned(meaning.into_bytes());
    }
    let is_multipart = kind
        .get(..10)
        .is_some_and(|kind| kind.eq_ignore_ascii_case("multipart/"));
    match boundary(body).filter(|_| is_multipart) {
        Some(boundary) => Cow::Owned(remove_boundary(body, boundary)),
        None => Cow::Borrowed(body),
    }
}

/// Returns whether a body of this type is a form with parameters as in a query.
pub(super) fn is_form(content_type: &str) -> bool {
    media_type(content_type).eq_ignore_ascii_case("application/x-www-form-urlencoded")
}

fn media_type(content_type: &str) -> &str {
    content_type.split(';').next().unwrap_or("").trim()
}

/// Appends a form's parameters, each decoded except for bytes that would move its end.
fn push_form(meaning: &mut String, form: &str) {
    for (count, parameter) in form.split('&').enumerate() {
        if count > 0 {
            meaning.push('&');
        }
        let (name, value) = match parameter.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (parameter, None),
        };
        push_parameter(meaning, name, false);
        if let Some(value) = value {
            meaning.push('=');
            push_parameter(meaning, value, true);
        }
    }
}

fn push_parameter(meaning: &mut String, text: &str, is_value: bool) {
    for (byte, is_escaped) in unescape(text) {
        let byte = if byte == b'+' && !is_escaped {
            b' '
        } else {
            byte
        };
        let parts = match byte {
            b'&' | b'+' => true,
            b'=' => !is_value,
            _ => false,
        };
        push(
            meaning,
            byte,
            !parts && (is_plain_in_path(byte) || byte == b'?'),
        );
    }
}

fn push(meaning: &mut String, byte: u8, stays: bool) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    if stays {
        return meaning.push(char::from(byte));
    }
    meaning.push('%');
    meaning.push(char::from(DIGITS[usize::from(byte >> 4)]));
    meaning.push(char::from(DIGITS[usize::from(byte & 15)]));
}

/// Returns the bytes of a text, and whether each was escaped. A percent sign that begins no escape
/// is literal.
fn unescape(text: &str) -> impl Iterator<Item = (u8, bool)> {
    let text = text.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        let byte = *text.get(at)?;
        at += 1;
        let digit = |at: usize| char::from(*text.get(at)?).to_digit(16);
        match (byte == b'%')
            .then(|| digit(at).zip(digit(at + 1)))
            .flatten()
        {
            Some((high, low)) => {
                at += 2;
                Some(((high << 4 | low) as u8, true))
            }
            None => Some((byte, false)),
        }
    })
}

fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~".contains(&byte)
}

/// Returns whether a path may hold the byte unescaped (RFC 3986, section 3.3); the percent sign is
/// excluded.
fn is_plain_in_path(byte: u8) -> bool {
    is_unreserved(byte) || b"!$&'()*+,;=:@/".contains(&byte)
}

/// Removes the dot segments of a path that begins with a slash (RFC 3986, section 5.2.4).
fn remove_dot_segments(path: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    let mut segments = path.split('/').skip(1).peekable();
    while let Some(segment) = segments.next() {
        let is_last = segments.peek().is_none();
        match segment {
            "." => {}
            ".." => {
                kept.pop();
            }
            _ => {
                kept.push(segment);
                continue;
            }
        }
        if is_last {
            kept.push("");
        }
    }
    format!("/{}", kept.join("/"))
}

/// Returns the boundary of a multipart body: its first line without the dashes.
fn boundary(body: &[u8]) -> Option<&[u8]> {
    let end = body.iter().position(|&byte| byte == b'\n')?;
    let line = body[..end].trim_ascii_end().strip_prefix(b"--")?;
    (!line.is_empty()).then_some(line)
}

/// Returns the body without its boundary lines.
fn remove_boundary(body: &[u8], boundary: &[u8]) -> Vec<u8> {
    let mut meaning = Vec::with_capacity(body.len());
    for line in body.split_inclusive(|&byte| byte == b'\n') {
        let rest = line
            .strip_prefix(b"--")
            .and_then(|line| line.strip_prefix(boundary));
        match rest {
            Some(rest) => meaning.extend([b"--", rest].concat()),
            None => meaning.extend_from_slice(line),
        }
    }
    meaning
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn spellings_of_one_request_are_equal() {
        for (left, right) in [
            ("/css?family=Lato%7CArvo", "/css?family=Lato|Arvo"),
            ("/css?a%5b%5d=1", "/css?a[]=1"),
            ("/%c3%bc", "/%C3%BC"),
            ("/ü", "/%C3%BC"),
            ("/%7Ea/%41", "/~a/A"),
            ("/a[1]", "/a%5B1%5d"),
            ("/a/./b/../c", "/a/c"),
            ("/a/%2E%2e/c/.", "/c/"),
            ("/?q=a+b", "/?q=a%20b"),
            ("/?q=%2c%3A", "/?q=,:"),
            ("/?q=a=b", "/?q=a%3Db"),
            ("/?q=%", "/?q=%25"),
        ] {
            assert_eq!(
                normalise_target(left),
                normalise_target(right),
                "{left} {right}"
            );
        }
        for (left, right) in [
            ("/a%2Fb", "/a/b"),
            ("/a%3Bb", "/a;b"),
            ("/a+b", "/a%20b"),
            ("/?a=1%26b=2", "/?a=1&b=2"),
            ("/?a%3Db=c", "/?a=b=c"),
            ("/?q=a%2Bb", "/?q=a+b"),
            ("/?q=%2541", "/?q=A"),
            ("/?a=1&b=2", "/?b=2&a=1"),
            ("/?a", "/?a="),
            ("/?", "/"),
            ("/A", "/a"),
        ] {
            assert_ne!(
                normalise_target(left),
                normalise_target(right),
                "{left} {right}"
            );
        }
        assert!(matches!(
            normalise_target("/a/b.c?d=e,f&g"),
            Cow::Borrowed(_)
        ));
    }

    #[test]
    fn bodies_are_equal_by_their_type() {
        let form = "application/x-www-form-urlencoded; charset=UTF-8";
        let of = |kind: &str, body: &str| normalise_body(kind, body.as_bytes()).into_owned();
        assert_eq!(of(form, "a=%7e+b"), of(form, "a=~%20b"));
        assert_ne!(of("text/plain", "a=%7e"), of("text/plain", "a=~"));
        let parts = |boundary: &str, value: &str| {
            format!("--{boundary}\r\nX: y\r\n\r\n{value}\r\n--{boundary}--\r\n")
        };
        let kind = "Multipart/form-data; boundary=x";
        assert_eq!(
            of(kind, &parts("AAA", "red")),
            of(kind, &parts("BBB", "red"))
        );
        assert_ne!(
            of(kind, &parts("AAA", "red")),
            of(kind, &parts("AAA", "blue"))
        );
        assert_eq!(of(kind, "no parts"), b"no parts");
    }

    /// Escapes the letters at which `escaped` is set, in either case.
    fn respell(text: &str, escaped: &[bool]) -> String {
        let letters = text.bytes().zip(escaped.iter().cycle());
        letters
            .map(|(byte, &is_escaped)| match (is_escaped, byte % 2 == 0) {
                (true, true) => format!("%{byte:02x}"),
                (true, false) => format!("%{byte:02X}"),
                (false, _) => char::from(byte).to_string(),
            })
            .collect()
    }

    proptest! {
        #[test]
        fn escapes_of_parameters_change_nothing(
            parameters in prop::collection::vec(("[a-z0-9~_.-]{1,6}", "[a-zA-Z0-9,:@!|{}\\[\\]-]{0,8}"), 1..5),
            escaped in prop::collection::vec(any::<bool>(), 1..9),
        ) {
            let target = |spell: &dyn Fn(&str) -> String| {
                let all = parameters.iter();
                let all: Vec<String> = all
                    .map(|(name, value)| format!("{}={}", spell(name), spell(value)))
                    .collect();
                format!("/{}?{}", spell("a.b~c"), all.join("&"))
            };
            let (plain, other) = (target(&str::to_owned), target(&|text| respell(text, &escaped)));
            prop_assert_eq!(normalise_target(&plain), normalise_target(&other));
        }

        #[test]
        fn a_meaning_means_itself(target in "/[ -~]{0,30}") {
            let meaning = normalise_target(&target).into_owned();
            prop_assert_eq!(normalise_target(&meaning), meaning.as_str());
        }
    }
}

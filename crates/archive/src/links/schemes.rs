//! The schemes that scripts compare their page's scheme with.

/// Scheme texts, each with its replacement on a page that became secure.
const SCHEMES: [(&[u8], &[u8]); 2] = [(b"http:", b"https:"), (b"https:", b"http:")];

/// The test of comScore's beacons, for `s` as the fifth letter of the page's URL, replaced so that
/// it fails.
const FIFTH_LETTER: (&[u8], &[u8]) = (b"s", b"S");

/// The texts that Adobe's beacons search for in the page's scheme, replaced so that the search
/// fails.
const SEARCHED_SCHEMES: [(&[u8], &[u8]); 2] = [(b"https", b"HTTPS"), (b"https:", b"HTTPS:")];

/// Quotes in scripts, and in texts in scripts (tag managers').
const QUOTES: [&[u8]; 8] = [
    b"\"", b"'", b"\\\"", b"\\'", b"\\x22", b"\\x27", b"\\u0022", b"\\u0027",
];

const EQUALS: [&[u8]; 3] = [b"=", b"\\x3d", b"\\u003d"];

/// Returns the text with `"https:"` and `"http:"` exchanged where a script compares with them, so
/// that on a page that became secure it still takes the recorded branch and requests the recorded
/// host: `"https:" == location.protocol ? "https://ssl" : "http://www"`. Returns `None` if there is
/// no such place.
pub(crate) fn exchange_compared(text: &[u8]) -> Option<Vec<u8>> {
    let mut changed = Vec::new();
    let mut copied = 0;
    let mut at = 0;
    while let Some(found) = text[at..].iter().position(|byte| b"\"'\\".contains(byte)) {
        let open = at + found;
        at = open + 1;
        let Some(quote) = QUOTES.iter().find(|quote| text[open..].starts_with(quote)) else {
            continue;
        };
        let inside = open + quote.len();
        let before = text[..open].trim_ascii_end();
        let is_whole = |word: &[u8]| {
            let rest = text[inside..].strip_prefix(word);
            rest.and_then(|rest| rest.strip_prefix(*quote))
        };
        let new = SCHEMES
            .iter()
            .find(|(old, _)| {
                is_whole(old)
                    .is_some_and(|after| ends_in_comparison(before) || begins_with_one(after))
            })
            .or_else(|| {
                let is_asked = is_whole(FIFTH_LETTER.0).is_some() && asks_for_fifth_letter(before);
                is_asked.then_some(&FIFTH_LETTER)
            })
            .or_else(|| {
                let searched = SEARCHED_SCHEMES
                    .iter()
                    .find(|(old, _)| is_whole(old).is_some());
                searched.filter(|_| searches_scheme(before))
            });
        if let Some((old, new)) = new {
            changed.extend_from_slice(&text[copied..inside]);
            changed.extend_from_slice(new);
            copied = inside + old.len();
            at = copied + quote.len();
        }
    }
    if copied == 0 {
        return None;
    }
    changed.extend_from_slice(&text[copied..]);
    Some(changed)
}

fn strip_equals(text: &[u8]) -> Option<&[u8]> {
    EQUALS.iter().find_map(|equals| text.strip_suffix(*equals))
}

fn ends_in_comparison(before: &[u8]) -> bool {
    strip_equals(before).is_some_and(|left| strip_equals(left).is_some() || left.ends_with(b"!"))
}

fn begins_with_one(after: &[u8]) -> bool {
    let after = after.trim_ascii_start();
    let without = |text: &[u8]| -> Option<usize> {
        let equals = EQUALS.iter().find(|equals| text.starts_with(equals));
        equals.map(|equals| equals.len())
    };
    let first = without(after).or_else(|| after.starts_with(b"!").then_some(1));
    first.is_some_and(|length| without(&after[length..]).is_some())
}

fn asks_for_fifth_letter(before: &[u8]) -> bool {
    before.ends_with(b".charAt(4)==") || before.ends_with(b".charAt(4)===")
}

fn searches_scheme(before: &[u8]) -> bool {
    let Some(call) = [&b".indexOf("[..], b".startsWith(", b".search("]
        .iter()
        .find_map(|call| before.strip_suffix(*call))
    else {
        return false;
    };
    let of = call.strip_suffix(b".toLowerCase()").unwrap_or(call);
    of.ends_with(b"protocol")
}

#[cfg(test)]
mod tests {
    use super::exchange_compared;

    #[test]
    fn schemes_are_exchanged_where_they_are_compared_and_only_there() {
        for (plain, secure) in [
            ("'https:'==l.protocol?1:0", Some("'http:'==l.protocol?1:0")),
            (
                "if (p === \"https:\") { s = 'http:' }",
                Some("if (p === \"http:\") { s = 'http:' }"),
            ),
            ("\"http:\" != p", Some("\"https:\" != p")),
            (
                "p != 'https:' && q == 'http:'",
                Some("p != 'http:' && q == 'https:'"),
            ),
            ("u = 'https:' + rest", None),
            ("p = \"https:\"", None),
            ("p == \"https://a.test\"", None),
            ("p == \"https:'", None),
            ("'", None),
            (
                "d.URL.charAt(4)==\"s\"?\"s://sb\":\"://b\"",
                Some("d.URL.charAt(4)==\"S\"?\"s://sb\":\"://b\""),
            ),
            ("x.charAt(3)==\"s\"", None),
            (
                r"(\x22https:\x22\x3d\x3dl.protocol?\x22https://ssl\x22:1)",
                Some(r"(\x22http:\x22\x3d\x3dl.protocol?\x22https://ssl\x22:1)"),
            ),
            (
                r#"l.protocol!\u003d=\"http:\""#,
                Some(r#"l.protocol!\u003d=\"https:\""#),
            ),
            (r"\x22https:\x22+x\x3d\x3d1", None),
            (r#"p == \x22https:""#, None),
            (
                "s=w.location.protocol.toLowerCase().indexOf('https')>=0",
                Some("s=w.location.protocol.toLowerCase().indexOf('HTTPS')>=0"),
            ),
            (
                "protocol.startsWith(\"https:\")",
                Some("protocol.startsWith(\"HTTPS:\")"),
            ),
            ("src.indexOf('https')", None),
            ("protocol.indexOf('http')", None),
        ] {
            let found = exchange_compared(plain.as_bytes());
            assert_eq!(found.as_deref(), secure.map(str::as_bytes), "{plain}");
        }
    }
}

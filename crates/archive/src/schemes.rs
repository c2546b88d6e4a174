//! The schemes that scripts compare their page's with.

const SCHEMES: [(&[u8], &[u8]); 2] = [(b"http:", b"https:"), (b"https:", b"http:")];

/// How comScore's beacons ask: for the fifth letter of the page's URL, which no longer is found.
const FIFTH_LETTER: (&[u8], &[u8]) = (b"s", b"S");

/// The text with `"https:"` and `"http:"` exchanged where either is compared with something, so that
/// a script of a page that became secure still takes the branch, and asks the host, that was recorded:
/// `"https:" == location.protocol ? "https://ssl" : "http://www"`. None where there is no such place.
pub(crate) fn exchanged(text: &[u8]) -> Option<Vec<u8>> {
    let mut changed = Vec::new();
    let mut copied = 0;
    let mut at = 0;
    while let Some(found) = text[at..].iter().position(|byte| b"\"'".contains(byte)) {
        let (open, inside) = (at + found, at + found + 1);
        at = inside;
        let is_whole = |scheme: &[u8]| {
            text[inside..].starts_with(scheme)
                && text.get(inside + scheme.len()) == Some(&text[open])
        };
        let all = SCHEMES.iter().chain([&FIFTH_LETTER]);
        let Some((old, new)) = all.into_iter().find(|(old, _)| is_whole(old)) else {
            continue;
        };
        let end = inside + old.len() + 1;
        let is_compared = if *old == FIFTH_LETTER.0 {
            asks_for_fifth_letter(&text[..open])
        } else {
            ends_in_comparison(&text[..open]) || begins_with_comparison(&text[end..])
        };
        if is_compared {
            changed.extend_from_slice(&text[copied..inside]);
            changed.extend_from_slice(new);
            copied = end - 1;
        }
        at = end;
    }
    if copied == 0 {
        return None;
    }
    changed.extend_from_slice(&text[copied..]);
    Some(changed)
}

fn ends_in_comparison(before: &[u8]) -> bool {
    let before = before.trim_ascii_end();
    before.ends_with(b"==") || before.ends_with(b"!=")
}

fn asks_for_fifth_letter(before: &[u8]) -> bool {
    let before = before.trim_ascii_end();
    before.ends_with(b".charAt(4)==") || before.ends_with(b".charAt(4)===")
}

fn begins_with_comparison(after: &[u8]) -> bool {
    let after = after.trim_ascii_start();
    after.starts_with(b"==") || after.starts_with(b"!=")
}

#[cfg(test)]
mod tests {
    use super::exchanged;

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
        ] {
            let found = exchanged(plain.as_bytes());
            assert_eq!(found.as_deref(), secure.map(str::as_bytes), "{plain}");
        }
    }
}

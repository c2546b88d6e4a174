//! Reads attributes as browsers do.

use eyelevel_archive::Url;
use lol_html::html_content::Element;

/// Attributes that name what an element loads, including those with lists of URLs.
const NAMING: [(&str, &str); 15] = [
    ("script", "src"),
    ("link", "href"),
    ("link", "imagesrcset"),
    ("img", "src"),
    ("img", "srcset"),
    ("source", "src"),
    ("source", "srcset"),
    ("iframe", "src"),
    ("frame", "src"),
    ("video", "src"),
    ("video", "poster"),
    ("audio", "src"),
    ("embed", "src"),
    ("object", "data"),
    ("input", "src"),
];

/// Returns the http and https URLs that an element names, resolved against `base`.
pub fn find_urls(element: &Element<'_, '_>, base: &Url) -> Vec<Url> {
    let tag = element.tag_name();
    let mut urls = Vec::new();
    for (_, attribute) in NAMING.iter().filter(|(of, _)| *of == tag) {
        let Some(value) = element.get_attribute(attribute) else {
            continue;
        };
        let value = unescape(&value);
        if attribute.ends_with("srcset") {
            urls.extend(candidates(&value).filter_map(|url| base.join(url).ok()));
        } else if !value.trim().is_empty() {
            urls.extend(base.join(value.trim()).ok());
        }
    }
    urls
}

/// Whether `word` is one of the words of an attribute.
pub fn has_word(element: &Element<'_, '_>, attribute: &str, word: &str) -> bool {
    let value = element.get_attribute(attribute).unwrap_or_default();
    value
        .split_ascii_whitespace()
        .any(|each| each.eq_ignore_ascii_case(word))
}

/// Whether an element is a classic script with a URL.
pub fn is_classic_script(element: &Element<'_, '_>) -> bool {
    element.tag_name() == "script"
        && element.has_attribute("src")
        && !has_word(element, "type", "module")
}

/// Returns the URLs of a list of image candidates (WHATWG HTML, "parse a srcset attribute").
fn candidates(list: &str) -> impl Iterator<Item = &str> {
    let mut rest = list;
    std::iter::from_fn(move || {
        rest = rest.trim_start_matches([' ', '\t', '\n', '\r', '\x0c', ',']);
        let end = rest
            .find([' ', '\t', '\n', '\r', '\x0c'])
            .unwrap_or(rest.len());
        let url = &rest[..end];
        if url.is_empty() {
            return None;
        }
        let alone = url.trim_end_matches(',');
        // A comma at its end closes the candidate; else a descriptor follows, up to a comma.
        rest = match alone.len() < url.len() {
            true => &rest[end..],
            false => rest[end..].split_once(',').map_or("", |(_, next)| next),
        };
        Some(alone)
    })
}

/// Decodes character references in an attribute, which the parser returns as written.
pub fn unescape(value: &str) -> String {
    let mut text = String::with_capacity(value.len());
    let mut rest = value;
    while let Some(at) = rest.find('&') {
        text.push_str(&rest[..at]);
        rest = &rest[at..];
        let (letter, length) = reference(rest).unwrap_or(('&', 1));
        text.push(letter);
        rest = &rest[length..];
    }
    text + rest
}

/// Escapes a text for double quotes.
pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('"', "&quot;")
        .replace('<', "&lt;")
}

/// Named references that occur in URLs and policies; others do not.
const NAMED: [(&str, char); 6] = [
    ("amp", '&'),
    ("quot", '"'),
    ("apos", '\''),
    ("lt", '<'),
    ("gt", '>'),
    ("sol", '/'),
];

/// Decodes the reference at the beginning of `text`; returns the character and the length.
fn reference(text: &str) -> Option<(char, usize)> {
    let end = text.find(';').filter(|end| *end <= 10)?;
    let name = &text[1..end];
    let letter = if let Some(digits) = name.strip_prefix("#x").or(name.strip_prefix("#X")) {
        char::from_u32(u32::from_str_radix(digits, 16).ok()?)?
    } else if let Some(digits) = name.strip_prefix('#') {
        char::from_u32(digits.parse().ok()?)?
    } else {
        NAMED.iter().find(|(known, _)| *known == name)?.1
    };
    Some((letter, end + 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn references_stand_for_characters() {
        for (written, meant) in [
            ("/a?b=1&amp;c=2", "/a?b=1&c=2"),
            ("/a?b=1&c=2", "/a?b=1&c=2"),
            ("&#x2F;a&#47;&#x1F600;", "/a/\u{1f600}"),
            ("&unknown;&", "&unknown;&"),
            ("&#xD800;", "&#xD800;"),
        ] {
            assert_eq!(unescape(written), meant);
        }
    }

    #[test]
    fn candidates_are_what_browsers_take() {
        for (list, urls) in [
            ("a.jpg 1x, b.jpg 2x", vec!["a.jpg", "b.jpg"]),
            ("a.jpg, b.jpg 100w", vec!["a.jpg", "b.jpg"]),
            ("  a,b.jpg 1x ,c", vec!["a,b.jpg", "c"]),
            ("data:x,y 1x", vec!["data:x,y"]),
            (" , ", vec![]),
        ] {
            assert_eq!(candidates(list).collect::<Vec<_>>(), urls, "{list}");
        }
    }

    proptest! {
        #[test]
        fn escaped_text_reads_back(text: String) {
            prop_assert_eq!(unescape(&escape(&text)), text);
        }

        #[test]
        fn lists_end(list in "[a, \t]{0,20}") {
            prop_assert!(candidates(&list).count() <= 20);
        }
    }
}

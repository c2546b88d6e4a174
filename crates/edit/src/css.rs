//! Style sheets: sets `font-display`, and adjusts relative URLs when a sheet is inlined.
//!
//! A scanner of comments, strings, URLs and blocks (CSS Syntax 3, section 4); what it does not
//! change stays as it is.

/// A token of a style sheet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Token {
    /// A comment or white space.
    Blank,
    /// A string with its quotes.
    Text,
    /// `url(` up to its closing parenthesis, with an unquoted argument.
    BareUrl,
    /// A name, with the character that begins it or ends it: `@font-face`, `url(`, `src`.
    Name,
    /// Any other character.
    Other,
}

/// Sets `font-display` of every font face to `value`; returns the text, the number of changed faces
/// and of those that already had the value.
pub fn set_font_display(css: &str, value: &str) -> (String, usize, usize) {
    let mut changed = String::with_capacity(css.len() + 64);
    let (mut at, mut set, mut had) = (0, 0, 0);
    while at < css.len() {
        let (token, end) = token_at(css, at);
        let is_face = token == Token::Name && css[at..end].eq_ignore_ascii_case("@font-face");
        changed.push_str(&css[at..end]);
        at = end;
        let Some(block) = is_face.then(|| block_after(css, at)).flatten() else {
            continue;
        };
        changed.push_str(&css[at..block.0]);
        let (face, is_new) = set_face_display(&css[block.0..block.1], value);
        changed.push_str(&face);
        at = block.1;
        set += usize::from(is_new);
        had += usize::from(!is_new);
    }
    (changed, set, had)
}

/// Replaces each relative URL by the result of `moved`; returns the text.
pub fn move_urls(css: &str, moved: impl Fn(&str) -> Option<String>) -> String {
    let mut changed = String::with_capacity(css.len() + 64);
    let (mut at, mut is_import, mut is_url) = (0, false, false);
    while at < css.len() {
        let (token, end) = token_at(css, at);
        let text = &css[at..end];
        let url = match token {
            Token::BareUrl => Some(text[4..].trim_end_matches(')').trim()),
            Token::Text if is_import || is_url => Some(text.trim_matches(['"', '\''])),
            _ => None,
        };
        match url.filter(|url| !url.contains('\\')).and_then(&moved) {
            Some(url) if token == Token::BareUrl => changed.push_str(&format!("url(\"{url}\")")),
            Some(url) => changed.push_str(&format!("\"{url}\"")),
            None => changed.push_str(text),
        }
        if token != Token::Blank {
            is_import = token == Token::Name && text.eq_ignore_ascii_case("@import");
            is_url = token == Token::Name && text.eq_ignore_ascii_case("url(");
        }
        at = end;
    }
    changed
}

/// Returns a font face's declarations with `font-display` set, and whether that changed them.
fn set_face_display(face: &str, value: &str) -> (String, bool) {
    let (mut at, mut depth, mut begins) = (0, 0_usize, true);
    while at < face.len() {
        let (token, end) = token_at(face, at);
        let text = &face[at..end];
        if begins && token == Token::Name && text.eq_ignore_ascii_case("font-display") {
            let stop = find_declaration_end(face, end);
            if face[end..stop].trim_start_matches([':', ' ', '\t']).trim() == value {
                return (face.to_owned(), false);
            }
            return (format!("{}:{value}{}", &face[..end], &face[stop..]), true);
        }
        match (token, text) {
            (Token::Name, _) if text.ends_with('(') => depth += 1,
            (Token::Other, "(" | "[" | "{") => depth += 1,
            (Token::Other, ")" | "]" | "}") => depth = depth.saturating_sub(1),
            _ => {}
        }
        if token != Token::Blank {
            begins = depth == 0 && text == ";";
        }
        at = end;
    }
    let is_open = !matches!(face.trim_end().chars().next_back(), None | Some(';'));
    let separator = if is_open { ";" } else { "" };
    (format!("{face}{separator}font-display:{value}"), true)
}

fn find_declaration_end(face: &str, mut at: usize) -> usize {
    while at < face.len() {
        let (token, end) = token_at(face, at);
        if token == Token::Other && &face[at..end] == ";" {
            break;
        }
        at = end;
    }
    at
}

/// Returns the range between the next braces; the closing one may be missing.
fn block_after(css: &str, mut at: usize) -> Option<(usize, usize)> {
    let (mut depth, mut begin) = (0_usize, 0);
    while at < css.len() {
        let (token, end) = token_at(css, at);
        match (token, &css[at..end]) {
            (Token::Other, "{") => {
                depth += 1;
                if depth == 1 {
                    begin = end;
                }
            }
            (Token::Other, "}") if depth == 1 => return Some((begin, at)),
            (Token::Other, "}") => depth = depth.checked_sub(1)?,
            (Token::Other, ";") if depth == 0 => return None,
            _ => {}
        }
        at = end;
    }
    (depth > 0).then_some((begin, css.len()))
}

/// Returns the token at `at` and its end.
fn token_at(css: &str, at: usize) -> (Token, usize) {
    let rest = &css[at..];
    let first = rest.chars().next().unwrap_or(' ');
    if let Some(comment) = rest.strip_prefix("/*") {
        let end = comment.find("*/").map_or(rest.len(), |end| end + 4);
        return (Token::Blank, at + end);
    }
    if first.is_ascii_whitespace() {
        let blanks = rest.find(|letter: char| !letter.is_ascii_whitespace());
        return (Token::Blank, at + blanks.unwrap_or(rest.len()));
    }
    if first == '"' || first == '\'' {
        return (Token::Text, at + string_bytes(rest, first));
    }
    let name = name_bytes(rest);
    if name == 0 {
        return (Token::Other, at + first.len_utf8());
    }
    if !rest[name..].starts_with('(') {
        return (Token::Name, at + name);
    }
    let argument = rest[name + 1..].trim_start();
    if rest[..name].eq_ignore_ascii_case("url") && !argument.starts_with(['"', '\'']) {
        let end = rest.find(')').map_or(rest.len(), |end| end + 1);
        return (Token::BareUrl, at + end);
    }
    (Token::Name, at + name + 1)
}

/// Returns the length of a string up to its quote or, if it is unterminated, up to the end of its
/// line.
fn string_bytes(rest: &str, quote: char) -> usize {
    let mut is_escaped = false;
    for (at, letter) in rest.char_indices().skip(1) {
        match letter {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '\n' => return at,
            _ if letter == quote => return at + 1,
            _ => {}
        }
    }
    rest.len()
}

fn name_bytes(rest: &str) -> usize {
    let is_of_name = |letter: char| {
        letter.is_ascii_alphanumeric()
            || matches!(letter, '-' | '_' | '@' | '\\')
            || !letter.is_ascii()
    };
    let mut end = 0;
    let mut is_escaped = false;
    for (at, letter) in rest.char_indices() {
        if !is_escaped && !is_of_name(letter) {
            break;
        }
        is_escaped = !is_escaped && letter == '\\';
        end = at + letter.len_utf8();
    }
    end
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn font_faces_get_a_display() {
        for (css, expected, counts) in [
            (
                "@font-face{font-family:a;src:url(a.woff2)}b{c:d}",
                "@font-face{font-family:a;src:url(a.woff2);font-display:swap}b{c:d}",
                (1, 0),
            ),
            (
                "@font-face { font-display: block; src: url(\"a;b\") }",
                "@font-face { font-display:swap; src: url(\"a;b\") }",
                (1, 0),
            ),
            (
                "@FONT-FACE{src:local(x);FONT-DISPLAY:block}",
                "@FONT-FACE{src:local(x);FONT-DISPLAY:swap}",
                (1, 0),
            ),
            (
                "@font-face{font-display:swap;}",
                "@font-face{font-display:swap;}",
                (0, 1),
            ),
            (
                "@font-face{src:x;",
                "@font-face{src:x;font-display:swap",
                (1, 0),
            ),
            (
                "/* @font-face{} */ a{b:'@font-face{}'}",
                "/* @font-face{} */ a{b:'@font-face{}'}",
                (0, 0),
            ),
            (
                "@media print{@font-face{}}@font-face{}",
                "@media print{@font-face{font-display:swap}}@font-face{font-display:swap}",
                (2, 0),
            ),
            ("a{--x:@font-face;}", "a{--x:@font-face;}", (0, 0)),
        ] {
            let (found, set, had) = set_font_display(css, "swap");
            assert_eq!((&*found, (set, had)), (expected, counts), "{css}");
        }
    }

    #[test]
    fn urls_move_with_their_text() {
        let moved = |url: &str| (!url.contains(':')).then(|| format!("/css/{url}"));
        for (css, expected) in [
            ("a{b:url(x.png)}", "a{b:url(\"/css/x.png\")}"),
            ("a{b:url( 'x.png' )}", "a{b:url( \"/css/x.png\" )}"),
            ("@import \"x.css\";", "@import \"/css/x.css\";"),
            (
                "@import url(x.css) print;",
                "@import url(\"/css/x.css\") print;",
            ),
            ("a{b:url(data:x)}", "a{b:url(data:x)}"),
            (
                "a{content:\"x.png\"}/*url(x)*/",
                "a{content:\"x.png\"}/*url(x)*/",
            ),
        ] {
            assert_eq!(move_urls(css, moved), expected, "{css}");
        }
    }

    proptest! {
        #[test]
        fn unchanged_text_stays(css in "[@a-z(){};:'\"/* \\\\\\n\u{e4}-]{0,40}") {
            prop_assert_eq!(&move_urls(&css, |_| None), &css);
            let (once, set, _) = set_font_display(&css, "swap");
            prop_assert!(set > 0 || once == css);
        }

        #[test]
        fn a_display_is_set_once(css in "(@font-face\\{(src:url\\(a\\);|font-display:block;|b:c)?\\}|a\\{\\}| ){0,6}") {
            let (once, set, had) = set_font_display(&css, "swap");
            prop_assert_eq!(set_font_display(&once, "swap"), (once.clone(), 0, set + had));
        }
    }
}

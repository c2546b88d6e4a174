//! Edits that change texts and style sheets.

use super::Found;
use crate::charset;
use crate::css;
use crate::error::Reason;
use crate::markup::styles;
use crate::nearest::hint;
use crate::workspace::{Object, Workspace};

const DISPLAYS: [&str; 5] = ["auto", "block", "swap", "fallback", "optional"];

/// Replaces a text.
pub fn replace(
    workspace: &mut Workspace,
    within: Option<&str>,
    text: &str,
    with: &str,
) -> Result<Found, Reason> {
    if text.is_empty() || text == with {
        return Err("it replaces nothing; write a text and another one in its place".to_owned());
    }
    let mut found = Found::default();
    let objects = match within {
        Some(pattern) => workspace.find_some(pattern, "text", Object::is_text)?,
        None => workspace.documents(None)?,
    };
    for index in &objects {
        let object = &mut workspace.objects[*index];
        let content = object.content()?;
        let encoding = object.charset(&content);
        let replaced = charset::replace(encoding, &content, text, with);
        let url = &object.exchange.url;
        let (content, count) = replaced.map_err(|reason| format!("{url}: {reason}"))?;
        if count > 0 {
            object.set_content(content);
        }
        found.add(*index, count);
    }
    if found.matches == 0 {
        let first = &workspace.objects[objects[0]].exchange.url;
        let others = objects.len() - 1;
        let and = if others > 0 {
            format!(" and {others} more")
        } else {
            String::new()
        };
        return Err(format!(
            "`{text:.60}` does not stand in {first}{and}; copy it from the recorded text, or name \
             another object with `in`"
        ));
    }
    Ok(found)
}

/// Sets `font-display` in style sheets and in the styles of documents.
pub fn set_font_display(
    workspace: &mut Workspace,
    within: Option<&str>,
    value: &str,
) -> Result<Found, Reason> {
    if !DISPLAYS.contains(&value) {
        return Err(format!(
            "`{value:.40}` is no font-display{}; write one of {}",
            hint(value, DISPLAYS),
            DISPLAYS.join(", ")
        ));
    }
    let is_meant = |object: &Object| object.is_document() || object.is_style_sheet();
    let objects = workspace.find_some(within.unwrap_or("*"), "style sheet", is_meant)?;
    let mut found = Found::default();
    let mut had_all = 0;
    for index in objects {
        let object = &mut workspace.objects[index];
        let content = object.content()?;
        // Most documents have no font face and are not parsed, so that they cannot fail.
        if !mentions_font_face(&content) {
            continue;
        }
        let (set, had) = match object.is_document() {
            true => {
                let mut page = object.document()?;
                let counts = styles::set_font_display(&mut page, value)
                    .map_err(|reason| format!("{}: {reason}", object.exchange.url))?;
                object.set_content(page.into_body()?);
                counts
            }
            false => {
                let encoding = object.charset(&content);
                let text = charset::decode(encoding, &content)
                    .map_err(|reason| format!("{}: {reason}", object.exchange.url))?;
                let (text, set, had) = css::set_font_display(&text, value);
                object.set_content(charset::encode(encoding, &text)?.into_owned());
                (set, had)
            }
        };
        had_all += had;
        found.add(index, set);
    }
    match (found.matches, had_all) {
        (0, 0) => Err("no style sheet has a font face; name another one with `in`".to_owned()),
        (0, had) => Err(format!(
            "all {had} font faces have it already; leave it out"
        )),
        _ => Ok(found),
    }
}

fn mentions_font_face(content: &[u8]) -> bool {
    const FACE: &[u8] = b"font-face";
    // In UTF-16 letters have other bytes between them.
    let is_wide = content.starts_with(b"\xff\xfe") || content.starts_with(b"\xfe\xff");
    is_wide
        || content
            .windows(FACE.len())
            .any(|part| part.eq_ignore_ascii_case(FACE))
}

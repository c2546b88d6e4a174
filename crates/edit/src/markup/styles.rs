//! Edits the styles in documents.

use std::borrow::Cow;
use std::cell::RefCell;

use lol_html::html_content::{ContentType, TextChunk};
use lol_html::{ElementContentHandlers, Selector};

use super::{Handlers, Page};
use crate::charset::decode;
use crate::css;
use crate::error::Reason;

/// Sets `font-display` in the styles of a document; returns the number of changed font faces and of
/// those that already had the value.
///
/// # Errors
///
/// Fails if the document's bytes are invalid in its charset, because texts are encoded again.
pub fn set_font_display(page: &mut Page, value: &str) -> Result<(usize, usize), Reason> {
    decode(page.parsed_encoding(), &page.markup)?;
    let selector: Selector = "style".parse().expect("a name is a selector");
    let state = RefCell::new((String::new(), 0, 0));
    let on_text = ElementContentHandlers::default().text(|chunk: &mut TextChunk<'_>| {
        let (text, set, had) = &mut *state.borrow_mut();
        text.push_str(chunk.as_str());
        if !chunk.last_in_text_node() {
            chunk.remove();
            return Ok(());
        }
        let (changed, more, had_more) = css::set_font_display(text, value);
        *set += more;
        *had += had_more;
        text.clear();
        chunk.replace(&changed, ContentType::Html);
        Ok(())
    });
    let handlers = Handlers {
        elements: vec![(Cow::Borrowed(&selector), on_text)],
    };
    let passed = page.pass(handlers)?;
    let (_, set, had) = state.into_inner();
    if set > 0 {
        page.markup = passed;
    }
    Ok((set, had))
}

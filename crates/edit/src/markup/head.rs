//! Finds the beginning of a document's head.

use std::cell::Cell;

use lol_html::html_content::{ContentType, Element};

use super::attributes::has_word;
use super::{Handlers, Page, any};
use crate::charset::PRESCAN_BYTES;
use crate::error::Reason;

/// The position where a head begins: before its first line, but after the declaration of the
/// charset, which browsers search only in the first bytes. Elements are numbered from 0 in the
/// order of their tags.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Anchor {
    /// After an element that cannot have content.
    After(usize),
    /// Inside an element, at its beginning.
    Inside(usize),
    /// Before an element, because the document has no head tag.
    Before(usize),
}

/// A search for the beginning of the head in a stream of elements.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct AnchorSearch {
    elements: usize,
    charset: Option<usize>,
    head: Option<usize>,
    html: Option<usize>,
    first: Option<usize>,
}

impl AnchorSearch {
    /// Processes an element.
    pub fn on_element(&mut self, element: &Element<'_, '_>) {
        let at = self.elements;
        self.elements += 1;
        let place = match element.tag_name().as_str() {
            "html" => &mut self.html,
            "head" => &mut self.head,
            "meta" if declares_charset(element) => {
                if self.first.is_none() {
                    self.first = Some(at);
                }
                &mut self.charset
            }
            _ => &mut self.first,
        };
        place.get_or_insert(at);
    }

    /// Returns where the head begins, or `None` for a document without elements.
    pub fn found(&self) -> Option<Anchor> {
        match (self.charset, self.head, self.first, self.html) {
            (Some(at), ..) => Some(Anchor::After(at)),
            (_, Some(at), ..) => Some(Anchor::Inside(at)),
            (_, _, Some(at), _) => Some(Anchor::Before(at)),
            (.., html) => html.map(Anchor::Inside),
        }
    }
}

/// Inserts markup where the head begins.
///
/// # Errors
///
/// Fails if the document's charset lacks a character of it.
pub fn insert(page: &mut Page, anchor: Anchor, markup: &str) -> Result<(), Reason> {
    page.check_holds(markup)?;
    let elements = Cell::new(0);
    let any = any();
    let handlers = Handlers::each(&any, |element| {
        let at = elements.replace(elements.get() + 1);
        match anchor {
            Anchor::After(place) if place == at => element.after(markup, ContentType::Html),
            Anchor::Inside(place) if place == at => element.prepend(markup, ContentType::Html),
            Anchor::Before(place) if place == at => element.before(markup, ContentType::Html),
            _ => {}
        }
        Ok(())
    });
    page.markup = page.pass(handlers)?;
    Ok(())
}

fn declares_charset(meta: &Element<'_, '_>) -> bool {
    let is_early = meta.source_location().bytes().end <= PRESCAN_BYTES;
    let is_type = has_word(meta, "http-equiv", "content-type");
    is_early && (meta.has_attribute("charset") || is_type)
}

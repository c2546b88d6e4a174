//! Finds the objects in a document's head that hold up its first paint.

use std::cell::RefCell;

use eyelevel_archive::Url;
use lol_html::Selector;
use lol_html::html_content::Element;

use super::attributes::{has_word, is_classic_script, unescape};
use super::{Handlers, Page, any};
use crate::error::Reason;

/// An object without which the browser paints nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockingObject {
    /// The URL.
    pub url: Url,
    /// The destination of a preload: `style` or `script`.
    pub destination: &'static str,
    /// The value of `crossorigin`, if present.
    pub crossorigin: Option<String>,
    /// The media query of a style sheet; empty if it holds on every screen.
    pub media: String,
}

/// Elements that may stand in a head (WHATWG HTML, "in head" insertion mode); any other begins the
/// body.
const OF_HEAD: [&str; 14] = [
    "html", "head", "base", "basefont", "bgsound", "link", "meta", "title", "noscript", "noframes",
    "style", "script", "template", "command",
];

/// Types of classic scripts (WHATWG MIME Sniffing, "JavaScript MIME type") that pages still write.
const SCRIPT_TYPES: [&str; 6] = [
    "",
    "text/javascript",
    "application/javascript",
    "application/x-javascript",
    "text/ecmascript",
    "application/ecmascript",
];

/// Returns the style sheets and synchronous scripts of a document's head, in order.
///
/// # Errors
///
/// Fails if the parser cannot decide what is a tag.
pub fn find_blocking(page: &Page) -> Result<Vec<BlockingObject>, Reason> {
    let search = RefCell::new(Search {
        base: page.url.clone(),
        has_base: false,
        is_inert: false,
        is_over: false,
        found: Vec::new(),
    });
    // Browsers with scripts ignore the first, and nothing in the second is loaded.
    let inert: Selector = "noscript *, template *"
        .parse()
        .expect("a list of selectors");
    let any = any();
    let mut handlers = Handlers::each(&inert, |_| {
        search.borrow_mut().is_inert = true;
        Ok(())
    });
    let on_each = Handlers::each(&any, |element| {
        search.borrow_mut().on_element(element);
        Ok(())
    });
    handlers.elements.extend({ on_each }.elements);
    page.pass(handlers)?;
    Ok(search.into_inner().found)
}

struct Search {
    base: Url,
    has_base: bool,
    /// Whether the current element is inside one whose content is not loaded.
    is_inert: bool,
    is_over: bool,
    found: Vec<BlockingObject>,
}

impl Search {
    fn on_element(&mut self, element: &Element<'_, '_>) {
        let is_inert = std::mem::take(&mut self.is_inert);
        if self.is_over || is_inert {
            return;
        }
        let tag = element.tag_name();
        match tag.as_str() {
            "base" => self.set_base(element),
            "link" if is_blocking_style_sheet(element) => self.add(element, "href", "style"),
            "script" if is_blocking_script(element) => self.add(element, "src", "script"),
            tag => self.is_over = !OF_HEAD.contains(&tag),
        }
    }

    /// Takes the base of relative URLs from the first element that has one.
    fn set_base(&mut self, element: &Element<'_, '_>) {
        let href = element.get_attribute("href");
        let base = href.and_then(|href| self.base.join(unescape(&href).trim()).ok());
        if let (Some(base), false) = (base, self.has_base) {
            self.base = base;
            self.has_base = true;
        }
    }

    fn add(&mut self, element: &Element<'_, '_>, name: &str, destination: &'static str) {
        let attribute = |name: &str| element.get_attribute(name).map(|value| unescape(&value));
        let named = attribute(name).unwrap_or_default();
        let media = attribute("media").unwrap_or_default();
        let media = media.trim().to_ascii_lowercase();
        let holds = destination == "script" || matches!(&*media, "all" | "screen");
        if let (false, Ok(url)) = (named.trim().is_empty(), self.base.join(named.trim())) {
            self.found.push(BlockingObject {
                url,
                destination,
                crossorigin: attribute("crossorigin"),
                media: if holds { String::new() } else { media },
            });
        }
    }
}

fn is_blocking_style_sheet(link: &Element<'_, '_>) -> bool {
    let is_other = has_word(link, "rel", "alternate")
        || link.has_attribute("disabled")
        || has_word(link, "media", "print");
    let kind = link.get_attribute("type").unwrap_or_default();
    let kind = kind.trim();
    has_word(link, "rel", "stylesheet")
        && !is_other
        && (kind.is_empty() || kind.eq_ignore_ascii_case("text/css"))
}

fn is_blocking_script(script: &Element<'_, '_>) -> bool {
    let kind = script.get_attribute("type").unwrap_or_default();
    let kind = kind.trim().to_ascii_lowercase();
    let waits = ["async", "defer", "nomodule"];
    is_classic_script(script)
        && SCRIPT_TYPES.contains(&&*kind)
        && !waits.iter().any(|name| script.has_attribute(name))
}

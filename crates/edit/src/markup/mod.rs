//! Reads and rewrites documents with a streaming parser.
//!
//! `scan` lists a document's references and content, `elements` changes elements, `head` inserts at
//! the head's beginning, `styles` changes styles, `inline` inlines objects, `attributes` reads URLs
//! as browsers do, `blocking` finds what holds up the first paint.

mod attributes;
pub mod blocking;
pub mod elements;
pub mod head;
pub mod inline;
pub mod scan;
pub mod styles;

pub use attributes::escape as escape_attribute;

use std::borrow::Cow;
use std::cell::Cell;

use encoding_rs::{Encoding, UTF_8, WINDOWS_1252};
use eyelevel_archive::Url;
use lol_html::errors::RewritingError;
use lol_html::html_content::Element;
use lol_html::{
    AsciiCompatibleEncoding, ElementContentHandlers, HtmlRewriter, MemorySettings, Selector,
    Settings,
};

use crate::charset::{ascii_compatible, decode, detect_charset, encode, label_in};
use crate::error::Reason;

/// The most memory that the parser may use for a document: tags, and the stack of open elements.
const PARSER_BYTES_MAX: usize = 64 << 20;

/// The length of a document's beginning that is searched for its charset, bytes: a head, because
/// browsers search beyond the standard's 1024 bytes there.
const DECLARATION_BYTES_MAX: usize = 16 << 10;

/// The message of a document in which the parser could mistake text for tags.
const AMBIGUOUS: &str = "its markup has a tag where only a whole parser knows whether text follows, \
                         such as a script inside `select` or `<script a=>`; correct it with a \
                         `replace` before this edit";

/// A document in its own charset.
#[derive(Debug, Clone)]
pub struct Page {
    /// The document's URL.
    pub url: Url,
    /// The document's charset.
    encoding: &'static Encoding,
    /// The markup; in UTF-8 if the parser does not support the charset.
    markup: Vec<u8>,
}

/// Returns a document's charset.
pub fn charset(content_type: Option<&str>, body: &[u8]) -> &'static Encoding {
    detect_charset(content_type, body, find_declared)
}

impl Page {
    /// Reads a document.
    ///
    /// # Errors
    ///
    /// Fails if the parser does not support its charset and its bytes are invalid in it.
    pub fn read(url: &Url, content_type: Option<&str>, body: &[u8]) -> Result<Self, Reason> {
        let encoding = charset(content_type, body);
        let markup = match encoding.is_ascii_compatible() {
            true => body.to_vec(),
            false => decode(encoding, body)?.into_owned().into_bytes(),
        };
        Ok(Page {
            url: url.clone(),
            encoding,
            markup,
        })
    }

    /// Returns the document's bytes.
    ///
    /// # Errors
    ///
    /// Fails if its charset lacks a character that an edit inserted.
    pub fn into_body(self) -> Result<Vec<u8>, Reason> {
        if self.encoding.is_ascii_compatible() {
            return Ok(self.markup);
        }
        let text = String::from_utf8(self.markup).map_err(|error| error.to_string())?;
        encode(self.encoding, &text).map(Cow::into_owned)
    }

    /// Fails if the document's charset cannot represent the text.
    pub fn check_holds(&self, text: &str) -> Result<(), Reason> {
        encode(self.encoding, text).map(drop)
    }

    /// Returns the charset of the markup for the parser.
    fn parsed_encoding(&self) -> &'static Encoding {
        if self.encoding.is_ascii_compatible() {
            self.encoding
        } else {
            UTF_8
        }
    }

    /// Passes the markup through handlers and returns the output.
    fn pass(&self, handlers: Handlers<'_>) -> Result<Vec<u8>, Reason> {
        parse(&self.markup, self.parsed_encoding(), handlers)
    }
}

/// The handlers of a parser run.
#[derive(Default)]
struct Handlers<'h> {
    elements: Vec<(Cow<'h, Selector>, ElementContentHandlers<'h>)>,
}

impl<'h> Handlers<'h> {
    /// Creates handlers that call `handler` for each element that the selector matches.
    fn each(
        selector: &'h Selector,
        mut handler: impl FnMut(&mut Element<'_, '_>) -> Result<(), Reason> + 'h,
    ) -> Self {
        let handlers = ElementContentHandlers::default()
            .element(move |element: &mut Element<'_, '_>| Ok(handler(element)?));
        Handlers {
            elements: vec![(Cow::Borrowed(selector), handlers)],
        }
    }
}

/// Returns the selector of every element.
fn any() -> Selector {
    "*".parse().expect("a star is a selector")
}

fn parse(
    markup: &[u8],
    encoding: &'static Encoding,
    handlers: Handlers<'_>,
) -> Result<Vec<u8>, Reason> {
    let encoding = AsciiCompatibleEncoding::new(encoding).ok_or_else(|| {
        format!(
            "documents in {} are not rewritten; name another one with `in`",
            encoding.name()
        )
    })?;
    let mut passed = Vec::with_capacity(markup.len() + 1024);
    let memory = MemorySettings::new().with_max_allowed_memory_usage(PARSER_BYTES_MAX);
    // Strict: fails where the parser could mistake text for tags.
    let mut settings = Settings::new()
        .with_encoding(encoding)
        .with_memory_settings(memory)
        .with_strict(true);
    for handler in handlers.elements {
        settings = settings.append_element_content_handler(handler);
    }
    let mut rewriter = HtmlRewriter::new(settings, |part: &[u8]| passed.extend_from_slice(part));
    let written = rewriter.write(markup);
    written
        .and_then(|()| rewriter.end())
        .map_err(|error| describe_error(&error))?;
    Ok(passed)
}

fn describe_error(error: &RewritingError) -> Reason {
    match error {
        // The library's own message is a paragraph.
        RewritingError::ParsingAmbiguity(_) => AMBIGUOUS.to_owned(),
        RewritingError::MemoryLimitExceeded(_) => {
            format!("a tag of it takes more than {PARSER_BYTES_MAX} bytes; leave it out with `in`")
        }
        other => other.to_string(),
    }
}

/// Returns the charset that a document's `meta` declares.
fn find_declared(body: &[u8]) -> Option<&'static Encoding> {
    let found: Cell<Option<&'static Encoding>> = Cell::new(None);
    let selector: Selector = "meta".parse().expect("a name is a selector");
    let handlers = Handlers::each(&selector, |element| {
        if found.get().is_none() {
            found.set(parse_declaration(element));
        }
        Ok(())
    });
    let begin = &body[..body.len().min(DECLARATION_BYTES_MAX)];
    // Parse errors are reported when the document is edited.
    let _ = parse(begin, WINDOWS_1252, handlers);
    found.get().and_then(ascii_compatible)
}

fn parse_declaration(meta: &Element<'_, '_>) -> Option<&'static Encoding> {
    if let Some(label) = meta.get_attribute("charset") {
        return Encoding::for_label(label.as_bytes());
    }
    let is_type = meta
        .get_attribute("http-equiv")
        .is_some_and(|name| name.trim().eq_ignore_ascii_case("content-type"));
    is_type
        .then(|| label_in(&meta.get_attribute("content")?))
        .flatten()
}

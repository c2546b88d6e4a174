//! Documents, read and rewritten by a streaming parser.
//!
//! `scan` reads what a document names and holds, `elements` changes elements, `head` inserts at the
//! head's beginning, `styles` changes styles, `inline` puts objects into the document, `attributes` reads URLs as browsers do.

mod attributes;
pub mod elements;
pub mod head;
pub mod inline;
pub mod scan;
pub mod styles;

pub use attributes::escaped as written;

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

use crate::charset::{ascii_compatible, charset_of, decode, encode, label_in};
use crate::error::Reason;

/// What the parser may hold of a document at once: tags, and the stack of open elements.
const PARSER_BYTES_MAX: usize = 64 << 20;

/// How far into a document its declared charset is sought: a head, in which browsers go on beyond
/// the 1024 bytes of the standard.
const DECLARATION_BYTES_MAX: usize = 16 << 10;

/// A document in the charset that it is in.
#[derive(Debug, Clone)]
pub struct Page {
    /// Where it is.
    pub url: Url,
    /// Its charset.
    encoding: &'static Encoding,
    /// Its markup; in UTF-8 where its charset is none that the parser reads.
    markup: Vec<u8>,
}

/// A document's charset.
pub fn charset(content_type: Option<&str>, body: &[u8]) -> &'static Encoding {
    charset_of(content_type, body, declared)
}

impl Page {
    /// Reads a document.
    ///
    /// # Errors
    /// Where its charset is none that the parser reads and its bytes are no text in it.
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

    /// The document's bytes.
    ///
    /// # Errors
    /// Where its charset lacks a character that an edit brought in.
    pub fn into_body(self) -> Result<Vec<u8>, Reason> {
        if self.encoding.is_ascii_compatible() {
            return Ok(self.markup);
        }
        let text = String::from_utf8(self.markup).map_err(|error| error.to_string())?;
        encode(self.encoding, &text).map(Cow::into_owned)
    }

    /// Refuses a text that the document's charset cannot hold as it is.
    pub fn check_holds(&self, text: &str) -> Result<(), Reason> {
        encode(self.encoding, text).map(drop)
    }

    /// The charset of the markup as it is parsed.
    fn parsed_encoding(&self) -> &'static Encoding {
        if self.encoding.is_ascii_compatible() {
            self.encoding
        } else {
            UTF_8
        }
    }

    /// Passes the markup through handlers and returns what comes out.
    fn pass(&self, handlers: Handlers<'_>) -> Result<Vec<u8>, Reason> {
        parse(&self.markup, self.parsed_encoding(), handlers)
    }
}

/// What is called while a document passes.
#[derive(Default)]
struct Handlers<'h> {
    elements: Vec<(Cow<'h, Selector>, ElementContentHandlers<'h>)>,
}

impl<'h> Handlers<'h> {
    /// Calls `handler` for each element that the selector matches.
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

/// The selector of every element.
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
    // Strict: where the parser could take text for tags, it refuses.
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
        .map_err(|error| reason_of(&error))?;
    Ok(passed)
}

fn reason_of(error: &RewritingError) -> Reason {
    match error {
        // Its own words are a paragraph.
        RewritingError::ParsingAmbiguity(_) => {
            "its markup has a tag where only a whole parser knows whether text follows, such as a \
             script inside `select`; correct it with a `replace` before this edit"
                .to_owned()
        }
        RewritingError::MemoryLimitExceeded(_) => {
            format!("a tag of it takes more than {PARSER_BYTES_MAX} bytes; leave it out with `in`")
        }
        other => other.to_string(),
    }
}

/// The charset that a document's `meta` declares.
fn declared(body: &[u8]) -> Option<&'static Encoding> {
    let found: Cell<Option<&'static Encoding>> = Cell::new(None);
    let selector: Selector = "meta".parse().expect("a name is a selector");
    let handlers = Handlers::each(&selector, |element| {
        if found.get().is_none() {
            found.set(declared_by(element));
        }
        Ok(())
    });
    let begin = &body[..body.len().min(DECLARATION_BYTES_MAX)];
    // What breaks the parser is told when the document is edited.
    let _ = parse(begin, WINDOWS_1252, handlers);
    found.get().and_then(ascii_compatible)
}

fn declared_by(meta: &Element<'_, '_>) -> Option<&'static Encoding> {
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

//! Scans a document for its references and content.

use std::cell::RefCell;

use eyelevel_archive::Url;
use lol_html::html_content::{Element, TextChunk};
use lol_html::{ElementContentHandlers, Selector};

use super::attributes::{find_urls, has_word, unescape};
use super::head::{Anchor, AnchorSearch};
use super::{AMBIGUOUS, Handlers, Page, any};
use crate::error::Reason;
use crate::policy::{Inline, Kind};
use std::borrow::Cow;

/// The references and content of a document.
#[derive(Debug)]
pub struct Scan {
    /// The base of relative URLs.
    pub base: Url,
    /// The references of its elements, in order.
    pub references: Vec<Reference>,
    /// The elements in selector form, `img.hero` or `div#menu`, without duplicates.
    pub elements: Vec<String>,
    /// The inline scripts and styles.
    pub inline: Vec<Inline>,
    /// The policies of `meta` elements.
    pub policies: Vec<String>,
    /// Where the head begins; `None` without elements.
    pub anchor: Option<Anchor>,
}

/// A URL that an element names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    /// The element's name.
    pub tag: String,
    /// The URL.
    pub url: Url,
    /// The value of `crossorigin`, if present.
    pub crossorigin: Option<String>,
    /// Whether the element is a module script.
    pub is_module: bool,
    /// The relations of a link, in lower case.
    pub relations: Vec<String>,
}

impl Reference {
    /// Whether a browser that parses the document requests the URL; false for the target of a link.
    pub fn is_loaded(&self) -> bool {
        const LOADED: [&str; 4] = ["stylesheet", "preload", "modulepreload", "icon"];
        self.tag != "link" || self.relations.iter().any(|each| LOADED.contains(&&**each))
    }
}

/// The most elements listed for messages; larger pages repeat the same kinds.
const ELEMENTS_MAX: usize = 2_000;

/// Scans a document.
///
/// # Errors
///
/// Fails if the parser cannot decide what is a tag.
pub fn scan(page: &Page) -> Result<Scan, Reason> {
    let state = RefCell::new(State {
        scan: Scan {
            base: page.url.clone(),
            references: Vec::new(),
            elements: Vec::new(),
            inline: Vec::new(),
            policies: Vec::new(),
            anchor: None,
        },
        has_base: false,
        is_inside: false,
        anchor: AnchorSearch::default(),
    });
    let any = any();
    let texts: Selector = "script, style"
        .parse()
        .expect("a list of names is a selector");
    let mut handlers = Handlers::each(&any, |element| {
        state.borrow_mut().on_element(element);
        Ok(())
    });
    let on_text = ElementContentHandlers::default().text(|chunk: &mut TextChunk<'_>| {
        state.borrow_mut().on_text(chunk);
        Ok(())
    });
    handlers.elements.push((Cow::Borrowed(&texts), on_text));
    page.pass(handlers)?;
    let State {
        mut scan, anchor, ..
    } = state.into_inner();
    if anchor != search_elements(page)? {
        return Err(AMBIGUOUS.to_owned());
    }
    scan.anchor = anchor.found();
    for inline in &mut scan.inline {
        inline.text = inline.text.replace("\r\n", "\n").replace('\r', "\n");
    }
    Ok(scan)
}

/// Searches the elements without reading texts. lol_html reads what follows a tag such as `<script a=>`
/// as markup if it reads texts, and as text if it does not.
fn search_elements(page: &Page) -> Result<AnchorSearch, Reason> {
    let search = RefCell::new(AnchorSearch::default());
    let any = any();
    page.pass(Handlers::each(&any, |element| {
        search.borrow_mut().on_element(element);
        Ok(())
    }))?;
    Ok(search.into_inner())
}

struct State {
    scan: Scan,
    has_base: bool,
    /// Whether the following text belongs to the last inline element.
    is_inside: bool,
    anchor: AnchorSearch,
}

impl State {
    fn on_element(&mut self, element: &Element<'_, '_>) {
        self.anchor.on_element(element);
        let tag = element.tag_name();
        let attribute = |name: &str| element.get_attribute(name).map(|value| unescape(&value));
        match tag.as_str() {
            "base" if !self.has_base => {
                if let Some(url) =
                    attribute("href").and_then(|href| self.scan.base.join(&href).ok())
                {
                    self.scan.base = url;
                    self.has_base = true;
                }
            }
            "meta" if has_word(element, "http-equiv", "content-security-policy") => {
                self.scan.policies.extend(attribute("content"));
            }
            "script" | "style" => {
                self.is_inside = tag == "style" || !element.has_attribute("src");
                if self.is_inside {
                    let kind = if tag == "style" {
                        Kind::Style
                    } else {
                        Kind::Script
                    };
                    self.scan.inline.push(Inline {
                        kind,
                        text: String::new(),
                        nonce: attribute("nonce"),
                    });
                }
            }
            _ => {}
        }
        self.list(element, &tag);
        let relations = attribute("rel").unwrap_or_default().to_ascii_lowercase();
        let relations: Vec<String> = relations
            .split_ascii_whitespace()
            .map(str::to_owned)
            .collect();
        for url in find_urls(element, &self.scan.base) {
            self.scan.references.push(Reference {
                tag: tag.clone(),
                url,
                crossorigin: attribute("crossorigin"),
                is_module: has_word(element, "type", "module"),
                relations: relations.clone(),
            });
        }
    }

    fn list(&mut self, element: &Element<'_, '_>, tag: &str) {
        if self.scan.elements.len() >= ELEMENTS_MAX {
            return;
        }
        let mut names = vec![tag.to_owned()];
        if let Some(id) = element.get_attribute("id") {
            names.push(format!("{tag}#{}", id.trim()));
        }
        if let Some(classes) = element.get_attribute("class") {
            names.extend(
                classes
                    .split_ascii_whitespace()
                    .map(|class| format!("{tag}.{class}")),
            );
        }
        for name in names {
            if !self.scan.elements.contains(&name) {
                self.scan.elements.push(name);
            }
        }
    }

    fn on_text(&mut self, chunk: &TextChunk<'_>) {
        if let (true, Some(inline)) = (self.is_inside, self.scan.inline.last_mut()) {
            inline.text.push_str(chunk.as_str());
        }
    }
}

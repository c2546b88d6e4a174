//! A recording during editing: bodies are decoded on demand and encoded again at the end.

use std::borrow::Cow;
use std::collections::BTreeMap;

use bytes::Bytes;
use encoding_rs::Encoding;
use eyelevel_archive::{Exchange, Header, Url};
use sha2::{Digest, Sha256};

use crate::charset::{declared_in_css, detect_charset};
use crate::error::{Error, Reason};
use crate::markup::{self, Page};
use crate::nearest::hint_url;
use crate::pattern::Pattern;
use crate::recode::Coding;
use crate::report::ChangedObject;

/// The largest decoded text that is edited; a page's texts are far smaller.
const CONTENT_BYTES_MAX: u64 = 64 << 20;

/// The most redirects from the recording's URL to its page, as in browsers (Fetch, section 4.4).
const REDIRECTS_MAX: usize = 20;

/// Fields with digests of a body, which are wrong once it changes (RFC 9530, RFC 1864).
const DIGEST_FIELDS: [&str; 4] = ["content-md5", "digest", "content-digest", "repr-digest"];

/// Media types of texts, by a part of their names.
const TEXTS: [&str; 7] = [
    "text/",
    "javascript",
    "ecmascript",
    "json",
    "xml",
    "mpegurl",
    "manifest",
];

/// Further media types that servers compress.
const COMPRESSED: [&str; 5] = [
    "wasm",
    "font/ttf",
    "font/otf",
    "x-icon",
    "vnd.microsoft.icon",
];

/// A recording during editing.
#[derive(Debug)]
pub struct Workspace {
    /// The URL that is loaded.
    pub start: Url,
    /// The document that redirects from there lead to.
    pub page: Url,
    /// The exchanges, including removed ones.
    pub objects: Vec<Object>,
    /// Markup for the heads of documents, by object.
    pub heads: BTreeMap<usize, String>,
    /// The URLs that the browser must not request, with `*` as a wildcard.
    pub blocked: Vec<String>,
}

/// An exchange during editing.
#[derive(Debug)]
pub struct Object {
    /// The recorded exchange, with edited fields.
    pub exchange: Exchange,
    /// The recorded body without content codings, decoded when first needed.
    recorded: Option<Bytes>,
    /// The new content, if an edit changed it.
    edited: Option<Bytes>,
    /// The coding that an edit sets.
    pub coding: Option<Coding>,
    /// Whether an edit changed the fields.
    pub has_other_fields: bool,
    /// Whether an edit removed the object.
    pub is_removed: bool,
}

impl Object {
    fn new(exchange: Exchange) -> Self {
        Object {
            exchange,
            recorded: None,
            edited: None,
            coding: None,
            has_other_fields: false,
            is_removed: false,
        }
    }

    /// Whether the object is a complete response with a body, which edits can change.
    pub fn is_whole(&self) -> bool {
        !self.is_removed && self.exchange.method != "HEAD" && self.exchange.status == 200
    }

    /// Whether the object is a document.
    pub fn is_document(&self) -> bool {
        self.is_whole() && self.exchange.is_html()
    }

    /// Whether the object is a style sheet.
    pub fn is_style_sheet(&self) -> bool {
        self.is_whole() && self.media_type().contains("text/css")
    }

    /// Whether the object is a text.
    pub fn is_text(&self) -> bool {
        let kind = self.media_type();
        self.is_whole() && TEXTS.iter().any(|text| kind.contains(text))
    }

    /// Whether servers compress this type.
    pub fn is_compressible(&self) -> bool {
        let kind = self.media_type();
        self.is_text() || (self.is_whole() && COMPRESSED.iter().any(|it| kind.contains(it)))
    }

    /// Returns the value of `Content-Type`, in lower case.
    pub fn media_type(&self) -> String {
        let kind = self.exchange.response_header("content-type");
        kind.unwrap_or_default().to_ascii_lowercase()
    }

    /// Whether the content differs from the recorded one.
    pub fn is_edited(&self) -> bool {
        self.edited.is_some()
    }

    /// Returns the recorded content, if it was decoded.
    pub fn recorded(&self) -> Option<&Bytes> {
        self.recorded.as_ref()
    }

    /// Returns the content: the body without its codings.
    ///
    /// # Errors
    ///
    /// Fails if a coding is not supported or the body is not in it.
    pub fn content(&mut self) -> Result<Bytes, Reason> {
        if let Some(edited) = &self.edited {
            return Ok(edited.clone());
        }
        if self.recorded.is_none() {
            let decoded = self.exchange.decoded_body(CONTENT_BYTES_MAX);
            self.recorded = Some(match decoded.ok_or_else(|| self.undecodable_reason())? {
                Cow::Borrowed(_) => self.exchange.body.clone(),
                Cow::Owned(content) => content.into(),
            });
        }
        Ok(self.recorded.clone().unwrap_or_default())
    }

    /// Sets the content; setting the recorded one is no change.
    pub fn set_content(&mut self, content: impl Into<Bytes>) {
        let content = content.into();
        self.edited = (self.recorded.as_ref() != Some(&content)).then_some(content);
    }

    /// Returns the charset of a text other than a document.
    pub fn charset(&self, content: &[u8]) -> &'static Encoding {
        let kind = self.exchange.response_header("content-type");
        match self.exchange.is_html() {
            true => markup::charset(kind, content),
            false => detect_charset(kind, content, declared_in_css),
        }
    }

    /// Parses the document.
    ///
    /// # Errors
    ///
    /// Fails like [`Object::content`] and [`Page::read`].
    pub fn document(&mut self) -> Result<Page, Reason> {
        let content = self.content()?;
        let kind = self.exchange.response_header("content-type");
        Page::read(&self.exchange.url, kind, &content)
    }

    /// Replaces all response fields called `name` by one.
    pub fn set_field(&mut self, name: &str, value: impl Into<Bytes>) {
        let value = value.into();
        let headers = &mut self.exchange.response_headers;
        let place = headers.iter().position(|header| header.is(name));
        let name = place.map_or(name.to_owned(), |place| headers[place].name.clone());
        headers.retain(|header| !header.is(&name));
        let place = place.unwrap_or(headers.len()).min(headers.len());
        headers.insert(place, Header::new(name, value));
    }

    /// Removes all response fields called `name`; returns their number.
    pub fn remove_field(&mut self, name: &str) -> usize {
        let headers = &mut self.exchange.response_headers;
        let before = headers.len();
        headers.retain(|header| !header.is(name));
        before - headers.len()
    }

    fn undecodable_reason(&self) -> Reason {
        let coding = self.exchange.response_header("content-encoding");
        format!(
            "{} cannot be decoded: its coding `{:.60}` is not known here, or its body is broken; \
             record it again or leave it out with `in`",
            self.exchange.url,
            coding.unwrap_or_default()
        )
    }

    /// Encodes an edited body again, and corrects the fields that describe it.
    pub fn finish(&mut self) -> Result<Option<ChangedObject>, Reason> {
        let before = self.exchange.body.len();
        let mut coding = None;
        if self.edited.is_some() || self.coding.is_some() {
            let content = self.content()?;
            let used = match self.coding {
                Some(asked) => asked,
                None => self.recorded_coding()?,
            };
            self.exchange.body = used.encode(&content).into();
            self.describe_body(used);
            coding = Some(used.to_string());
        } else if !self.has_other_fields {
            return Ok(None);
        }
        Ok(Some(ChangedObject {
            url: self.exchange.url.to_string(),
            body_bytes_before: before,
            body_bytes_after: self.exchange.body.len(),
            coding,
        }))
    }

    /// Returns the recorded body's coding, at the level that gives its size.
    fn recorded_coding(&mut self) -> Result<Coding, Reason> {
        let fields = self.exchange.response_headers.iter();
        let values = fields.filter(|header| header.is("content-encoding"));
        let names: Vec<&str> = values
            .filter_map(Header::text)
            .flat_map(|value| value.split(','))
            .map(str::trim)
            .filter(|name| !name.is_empty() && !name.eq_ignore_ascii_case("identity"))
            .collect();
        let [name] = names[..] else {
            return match names.len() {
                0 => Ok(Coding::Identity),
                _ => Err(format!(
                    "{} has several content codings; choose one with `encode`",
                    self.exchange.url
                )),
            };
        };
        if self.recorded.is_none() {
            let decoded = self.exchange.decoded_body(CONTENT_BYTES_MAX);
            let decoded = decoded.ok_or_else(|| self.undecodable_reason())?;
            self.recorded = Some(Bytes::from(decoded.into_owned()));
        }
        let recorded = self.recorded.clone().unwrap_or_default();
        let coding = Coding::detect(name, &recorded, self.exchange.body.len());
        coding.ok_or_else(|| self.undecodable_reason())
    }

    /// Updates the fields that describe the body.
    fn describe_body(&mut self, coding: Coding) {
        let had_coding = self.exchange.response_header("content-encoding").is_some();
        match coding.field() {
            Some(name) => {
                self.set_field("content-encoding", name);
                if !had_coding {
                    self.vary_by_coding();
                }
            }
            None => drop(self.remove_field("content-encoding")),
        }
        if self.exchange.response_header("content-length").is_some() {
            self.set_field("content-length", self.exchange.body.len().to_string());
        }
        for name in DIGEST_FIELDS {
            self.remove_field(name);
        }
        let recorded = self.exchange.response_header("etag").map(str::to_owned);
        if let Some(recorded) = recorded {
            let weak = if recorded.starts_with("W/") { "W/" } else { "" };
            let digest = Sha256::digest(&self.exchange.body);
            let digits: String = digest[..8]
                .iter()
                .map(|byte| format!("{byte:02x}"))
                .collect();
            self.set_field("etag", format!("{weak}\"{digits}\""));
        }
    }

    /// Adds `Vary`, so that a cache does not return the coded body to a client that accepts another
    /// coding (RFC 9110, section 12.5.5).
    fn vary_by_coding(&mut self) {
        let vary = self
            .exchange
            .response_header("vary")
            .unwrap_or_default()
            .to_owned();
        let names = || vary.split(',').map(str::trim);
        if !names().any(|name| name == "*" || name.eq_ignore_ascii_case("accept-encoding")) {
            let all: Vec<&str> = names().filter(|name| !name.is_empty()).collect();
            let all: Vec<&str> = all.into_iter().chain(["Accept-Encoding"]).collect();
            self.set_field("vary", all.join(", "));
        }
    }
}

impl Workspace {
    /// Creates a workspace from a recording whose start is `main_url`.
    pub fn new(exchanges: Vec<Exchange>, main_url: &Url) -> Self {
        let page = follow_redirects(&exchanges, main_url);
        Workspace {
            start: main_url.clone(),
            page,
            objects: exchanges.into_iter().map(Object::new).collect(),
            heads: BTreeMap::new(),
            blocked: Vec::new(),
        }
    }

    /// Returns the objects that match a pattern and satisfy `is_meant`.
    pub fn find(&self, pattern: &Pattern, is_meant: impl Fn(&Object) -> bool) -> Vec<usize> {
        let objects = self.objects.iter().enumerate();
        objects
            .filter(|(_, object)| !object.is_removed && pattern.matches(&object.exchange.url))
            .filter(|(_, object)| is_meant(object))
            .map(|(index, _)| index)
            .collect()
    }

    /// Like [`Workspace::find`], but fails if there are none, with the nearest name.
    pub fn find_some(
        &self,
        text: &str,
        kind: &str,
        is_meant: impl Fn(&Object) -> bool,
    ) -> Result<Vec<usize>, Reason> {
        let pattern = Pattern::read(text, &self.page);
        let found = self.find(&pattern, &is_meant);
        if !found.is_empty() {
            return Ok(found);
        }
        let others = self.find(&pattern, |_| true);
        if let Some(other) = others.first() {
            let exchange = &self.objects[*other].exchange;
            return Err(format!(
                "`{text}` names no {kind}: {} was answered with {} {}; name another object",
                exchange.url,
                exchange.status,
                exchange.response_header("content-type").unwrap_or("")
            ));
        }
        let urls = self.objects.iter().filter(|object| is_meant(object));
        let shown: Vec<String> = urls.map(|it| pattern.describe(&it.exchange.url)).collect();
        Err(format!(
            "the recording has no {kind} `{text}`{}; name a recorded one",
            hint_url(text, shown.iter().map(String::as_str))
        ))
    }

    /// Returns the documents that a markup edit applies to: the page, or those that match a
    /// pattern.
    pub fn documents(&self, within: Option<&str>) -> Result<Vec<usize>, Reason> {
        match within {
            Some(text) => self.find_some(text, "document", Object::is_document),
            None => {
                let page = self.page.to_string();
                self.find_some(&page, "document", Object::is_document)
                    .map_err(|_| format!("the page {page} is no document; name one with `in`"))
            }
        }
    }

    /// Whether a browser's request for a URL has a recorded response.
    pub fn is_recorded(&self, url: &Url) -> bool {
        let mut objects = self.objects.iter();
        objects.any(|object| !object.is_removed && object.exchange.url == *url)
    }

    /// Returns an error about one object.
    pub fn error(&self, index: usize, reason: Reason) -> Error {
        Error::Object {
            url: self.objects[index].exchange.url.to_string(),
            reason,
        }
    }
}

/// Returns the URL that redirects from `main_url` lead to.
fn follow_redirects(exchanges: &[Exchange], main_url: &Url) -> Url {
    let mut url = main_url.clone();
    for _ in 0..REDIRECTS_MAX {
        let answer = exchanges
            .iter()
            .find(|each| each.url == url && each.method == "GET");
        let target = answer
            .filter(|each| (300..400).contains(&each.status))
            .and_then(|each| url.join(each.response_header("location")?).ok());
        match target {
            Some(target) => url = target,
            None => break,
        }
    }
    url
}

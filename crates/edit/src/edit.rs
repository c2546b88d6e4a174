//! The types of an edit.

use std::path::PathBuf;

use serde::Deserialize;

/// One edit.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Edit {
    /// The edit as its author wrote it, for messages and reports.
    pub name: String,
    /// A pattern of the objects to change; by default, those that the action names.
    #[serde(rename = "in", default)]
    pub within: Option<String>,
    /// What the edit does.
    pub action: Action,
}

/// The action of an edit. An `object` is a pattern of URLs, a `target` such a pattern or a CSS
/// selector.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Action {
    /// Replaces a text.
    Replace {
        /// The text to replace.
        text: String,
        /// The replacement.
        with: String,
    },
    /// Inserts markup at the beginning of a document's head.
    InsertHead(String),
    /// Removes elements with their content.
    Remove(String),
    /// Defers classic scripts.
    Defer(String),
    /// Makes classic scripts asynchronous.
    Async(String),
    /// Preloads objects.
    Preload(String),
    /// Connects to an origin early.
    Preconnect(String),
    /// Preloads modules.
    Modulepreload(String),
    /// Sets the fetch priority of elements.
    Fetchpriority {
        /// The elements.
        target: String,
        /// `high`, `low` or `auto`.
        value: String,
    },
    /// Loads images and frames lazily.
    Lazy(String),
    /// Inlines a script or style sheet into the document in place of its element.
    Inline(String),
    /// Sets `font-display` of every font face.
    FontDisplay(String),
    /// Removes objects and blocks requests for them in the browser.
    Block(String),
    /// Sets a response field, `NAME: VALUE`; without a value, removes it.
    Header(String),
    /// Sets the content coding, `NAME:LEVEL`.
    Encode(String),
    /// Replaces the body by a file's content.
    Body(PathBuf),
}

//! What an edit is.

use std::path::PathBuf;

use serde::Deserialize;

/// One edit.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Edit {
    /// As its author wrote it, for messages and reports.
    pub name: String,
    /// Which objects it changes, a pattern; by default those that the action names.
    #[serde(rename = "in", default)]
    pub within: Option<String>,
    /// What it does.
    pub action: Action,
}

/// What an edit does. An `object` is a pattern of URLs, a `target` such a pattern or a CSS selector.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Action {
    /// Replaces a text by another one.
    Replace {
        /// The text as it stands.
        text: String,
        /// The text in its place.
        with: String,
    },
    /// Inserts markup at the beginning of a document's head.
    InsertHead(String),
    /// Removes elements with what is in them.
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
        /// Which elements.
        target: String,
        /// `high`, `low` or `auto`.
        value: String,
    },
    /// Loads images and frames when they are near the viewport.
    Lazy(String),
    /// Puts a script or style sheet into the document in place of its element.
    Inline(String),
    /// Sets `font-display` of every font face.
    FontDisplay(String),
    /// Takes objects away, and has the browser refuse to ask for them.
    Block(String),
    /// Sets a response field, `NAME: VALUE`; without a value it is removed.
    Header(String),
    /// Sets the content coding, `NAME:LEVEL`.
    Encode(String),
    /// Replaces the body by a file's.
    Body(PathBuf),
}

//! The report of applied edits.

use serde::Serialize;

/// The number of matches of one edit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Matches {
    /// The edit, as its author wrote it.
    pub edit: String,
    /// The number of matches: elements, texts, objects or fields; never 0.
    pub matches: usize,
    /// The objects that contain matches, without duplicates.
    pub objects: Vec<String>,
}

/// An object whose body or fields changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ChangedObject {
    /// Its URL.
    pub url: String,
    /// The size of its recorded body, with content coding.
    pub body_bytes_before: usize,
    /// The size of its new body, with content coding.
    pub body_bytes_after: usize,
    /// The coding of the new body, `NAME:LEVEL`; `None` if the body did not change.
    pub coding: Option<String>,
}

/// The effects of all edits.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Report {
    /// The matches of each edit, in the given order.
    pub edits: Vec<Matches>,
    /// The changed objects, in recorded order.
    pub changed: Vec<ChangedObject>,
    /// The URLs of removed objects.
    pub removed: Vec<String>,
    /// The number of recomputed integrity hashes.
    pub integrity_hashes: usize,
    /// The number of hashes of inline scripts and styles added to policies.
    pub policy_hashes: usize,
}

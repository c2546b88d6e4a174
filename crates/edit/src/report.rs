//! What edits did.

use serde::Serialize;

/// How often one edit matched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Matches {
    /// The edit, as its author wrote it.
    pub edit: String,
    /// How often it matched: elements, texts, objects or fields; never 0.
    pub matches: usize,
    /// The objects in which it matched, each once.
    pub objects: Vec<String>,
}

/// An object whose bytes or fields are others than the recorded ones.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ChangedObject {
    /// Its URL.
    pub url: String,
    /// Size of its body as recorded, coding included.
    pub body_bytes_before: usize,
    /// Size of its body now, coding included.
    pub body_bytes_after: usize,
    /// How it is encoded, `NAME:LEVEL`; none where its body did not change.
    pub coding: Option<String>,
}

/// What all edits did.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Report {
    /// Each edit, in the order in which they were given.
    pub edits: Vec<Matches>,
    /// The objects that changed, in recorded order.
    pub changed: Vec<ChangedObject>,
    /// The URLs of objects that are not in the recording any more.
    pub removed: Vec<String>,
    /// Integrity hashes that were computed again.
    pub integrity_hashes: usize,
    /// Hashes of inline scripts and styles that were added to policies.
    pub policy_hashes: usize,
}

//! The implementation of each kind of edit.
//!
//! `markup` changes elements of documents, `hints` inserts lines into their heads, `texts` changes
//! texts and style sheets, `objects` changes whole responses.

mod hints;
mod markup;
mod objects;
mod texts;

pub use hints::is_same_origin;

use crate::edit::{Action, Edit};
use crate::error::Reason;
use crate::workspace::Workspace;

/// The number of matches of an edit, and the objects that contain them.
#[derive(Debug, Default)]
pub struct Found {
    /// The number of elements, texts, objects or fields.
    pub matches: usize,
    /// The positions of the objects.
    pub objects: Vec<usize>,
}

impl Found {
    fn add(&mut self, object: usize, matches: usize) {
        if matches > 0 {
            self.matches += matches;
            self.objects.push(object);
        }
    }
}

/// Applies one edit.
///
/// # Errors
///
/// Fails if it matches nothing, with the nearest name, or cannot be applied without damage.
pub fn apply(workspace: &mut Workspace, edit: &Edit) -> Result<Found, Reason> {
    let within = edit.within.as_deref();
    match &edit.action {
        Action::Replace { text, with } => texts::replace(workspace, within, text, with),
        Action::FontDisplay(value) => texts::set_font_display(workspace, within, value),
        Action::InsertHead(markup) => hints::insert_head(workspace, within, markup),
        Action::Preload(object) => hints::preload(workspace, within, object),
        Action::Modulepreload(object) => hints::modulepreload(workspace, within, object),
        Action::Preconnect(origin) => hints::preconnect(workspace, within, origin),
        Action::Remove(target) => markup::remove(workspace, within, target),
        Action::Defer(target) => markup::defer(workspace, within, target),
        Action::Async(target) => markup::make_async(workspace, within, target),
        Action::Fetchpriority { target, value } => {
            markup::set_fetch_priority(workspace, within, target, value)
        }
        Action::Lazy(target) => markup::make_lazy(workspace, within, target),
        Action::Inline(object) => markup::inline_objects(workspace, within, object),
        Action::Block(object) => {
            refuse_within(within)?;
            objects::block(workspace, object)
        }
        Action::Header(field) => objects::set_field(workspace, within, field),
        Action::Encode(coding) => objects::encode(workspace, within, coding),
        Action::Body(file) => objects::replace_body(workspace, within, file),
    }
}

fn refuse_within(within: Option<&str>) -> Result<(), Reason> {
    match within {
        Some(_) => Err("`block` is for the whole recording; leave out `in`".to_owned()),
        None => Ok(()),
    }
}

//! Applies a list of edits.

use std::collections::BTreeSet;

use eyelevel_archive::{Exchange, Url};

use crate::actions;
use crate::edit::Edit;
use crate::error::Error;
use crate::finish;
use crate::report::{Matches, Report};
use crate::workspace::Workspace;

/// An edited recording.
#[derive(Debug)]
pub struct Edited {
    /// The exchanges, in recorded order.
    pub exchanges: Vec<Exchange>,
    /// The URLs that the browser must not request, in which `*` matches any characters.
    pub blocked: Vec<String>,
    /// How often each edit matched, and what changed.
    pub report: Report,
}

/// Applies edits, in order, to the exchanges of a recording whose start is `main_url`.
///
/// # Errors
///
/// Fails if an edit matches nothing, or cannot be applied without damage; names the first such
/// edit.
pub fn apply(exchanges: Vec<Exchange>, main_url: &Url, edits: &[Edit]) -> Result<Edited, Error> {
    let mut workspace = Workspace::new(exchanges, main_url);
    let mut report = Report::default();
    for edit in edits {
        let refused = |reason| Error::Refused {
            edit: edit.name.clone(),
            reason,
        };
        let found = actions::apply(&mut workspace, edit).map_err(refused)?;
        let objects: BTreeSet<usize> = found.objects.into_iter().collect();
        let url_of = |index: &usize| workspace.objects[*index].exchange.url.to_string();
        let mut urls: Vec<String> = objects.iter().map(url_of).collect();
        urls.dedup();
        report.edits.push(Matches {
            edit: edit.name.clone(),
            matches: found.matches,
            objects: urls,
        });
    }
    finish::finish(&mut workspace, &mut report)?;
    let (removed, kept): (Vec<_>, Vec<_>) = workspace
        .objects
        .into_iter()
        .partition(|object| object.is_removed);
    report.removed = removed
        .iter()
        .map(|object| object.exchange.url.to_string())
        .collect();
    let mut exchanges: Vec<Exchange> = kept.into_iter().map(|object| object.exchange).collect();
    for (index, exchange) in exchanges.iter_mut().enumerate() {
        exchange.index = index;
    }
    Ok(Edited {
        exchanges,
        blocked: workspace.blocked,
        report,
    })
}

//! Applies the consequences of edits: lines in heads, integrity hashes, policies, codings.

use std::collections::HashSet;

use bytes::Bytes;
use eyelevel_archive::Url;

use crate::error::{Error, Reason};
use crate::integrity::{Renamed, compute_hashes, find_hashes, rename};
use crate::markup::elements::{self, Outcome, Target};
use crate::markup::scan::scan;
use crate::markup::{Page, head};
use crate::nearest::hint;
use crate::policy::{Inline, permit};
use crate::report::Report;
use crate::workspace::{Object, Workspace};

/// The most levels of texts that contain hashes of other texts; real pages have two.
const ROUNDS_MAX: usize = 16;

const POLICY: &str = "content-security-policy";

/// Applies the consequences of edits and adds them to `report`.
pub fn finish(workspace: &mut Workspace, report: &mut Report) -> Result<(), Error> {
    for (index, markup) in std::mem::take(&mut workspace.heads) {
        let inserted = insert(workspace, index, &markup);
        inserted.map_err(|reason| workspace.error(index, reason))?;
    }
    report.integrity_hashes = update_integrity(workspace)?;
    for index in 0..workspace.objects.len() {
        if workspace.objects[index].is_document() && workspace.objects[index].is_edited() {
            let permitted = check_document(workspace, index);
            report.policy_hashes += permitted.map_err(|reason| workspace.error(index, reason))?;
        }
    }
    refuse_parts(workspace)?;
    for index in 0..workspace.objects.len() {
        let object = &mut workspace.objects[index];
        if object.is_removed {
            continue;
        }
        let changed = object.finish();
        let changed = changed.map_err(|reason| workspace.error(index, reason))?;
        report.changed.extend(changed);
    }
    Ok(())
}

fn insert(workspace: &mut Workspace, index: usize, markup: &str) -> Result<(), Reason> {
    let object = &mut workspace.objects[index];
    let mut page = object.document()?;
    let anchor = scan(&page)?.anchor;
    let anchor = anchor.ok_or("it has no element to insert before; name another one with `in`")?;
    head::insert(&mut page, anchor, markup)?;
    object.set_content(page.into_body()?);
    Ok(())
}

/// Recomputes the hashes of changed objects in the texts and fields that contain them; returns
/// their number.
fn update_integrity(workspace: &mut Workspace) -> Result<usize, Error> {
    if !workspace.objects.iter().any(|object| object.is_edited()) {
        return Ok(0);
    }
    let holders = find_hash_holders(workspace);
    if holders.is_empty() {
        return Ok(0);
    }
    let mut before = Renamed::new();
    for _ in 0..ROUNDS_MAX {
        let renamed = map_hashes(workspace, &holders)?;
        if renamed == before {
            return Ok(rename_in_fields(workspace, &renamed)
                + holders
                    .iter()
                    .map(|(_, text)| rename(text, &renamed).1)
                    .sum::<usize>());
        }
        for (index, text) in &holders {
            let (text, count) = rename(text, &renamed);
            if count > 0 {
                workspace.objects[*index].set_content(text);
            }
        }
        before = renamed;
    }
    let (index, _) = holders[0];
    let reason = "its integrity hashes depend on each other; leave one of the objects as it is";
    Err(workspace.error(index, reason.to_owned()))
}

/// Returns the texts that may contain hashes, as edits left them. Texts that cannot be decoded are
/// skipped.
fn find_hash_holders(workspace: &mut Workspace) -> Vec<(usize, Bytes)> {
    let mut holders = Vec::new();
    for (index, object) in workspace.objects.iter_mut().enumerate() {
        if !object.is_text() {
            continue;
        }
        if let Ok(text) = object.content()
            && !find_hashes(&text).is_empty()
        {
            holders.push((index, text));
        }
    }
    holders
}

/// Maps the recorded hashes of edited objects to their new ones.
fn map_hashes(workspace: &mut Workspace, holders: &[(usize, Bytes)]) -> Result<Renamed, Error> {
    let all = holders.iter().flat_map(|(_, text)| find_hashes(text));
    let named: HashSet<String> = all.map(|(hash, ..)| hash).collect();
    let mut renamed = Renamed::new();
    for object in &mut workspace.objects {
        let (true, Some(recorded)) = (object.is_edited(), object.recorded().cloned()) else {
            continue;
        };
        let Ok(content) = object.content() else {
            continue;
        };
        for (old, new) in compute_hashes(&recorded)
            .into_iter()
            .zip(compute_hashes(&content))
        {
            if named.contains(&old) {
                renamed.insert(old, new);
            }
        }
    }
    refuse_ambiguous(workspace, &renamed)?;
    Ok(renamed)
}

/// Fails if an unedited object has a hash that would be replaced.
fn refuse_ambiguous(workspace: &mut Workspace, renamed: &Renamed) -> Result<(), Error> {
    if renamed.is_empty() {
        return Ok(());
    }
    for index in 0..workspace.objects.len() {
        let object = &mut workspace.objects[index];
        if object.is_edited() || !object.is_whole() {
            continue;
        }
        let Ok(content) = object.content() else {
            continue;
        };
        if compute_hashes(&content)
            .iter()
            .any(|hash| renamed.contains_key(hash))
        {
            let reason = "it has the content of another object that changes, and a text names the \
                          hash of both; edit both, with `*` in the pattern";
            return Err(workspace.error(index, reason.to_owned()));
        }
    }
    Ok(())
}

fn rename_in_fields(workspace: &mut Workspace, renamed: &Renamed) -> usize {
    let mut count = 0;
    for object in &mut workspace.objects {
        if !object.is_document() {
            continue;
        }
        for header in &mut object.exchange.response_headers {
            if header.is(POLICY) || header.is("link") {
                let (value, found) = rename(&header.value, renamed);
                if found > 0 {
                    header.value = value.into();
                    object.has_other_fields = true;
                    count += found;
                }
            }
        }
    }
    count
}

/// Checks that URLs added to a document were recorded, and permits added inline texts in its
/// policies; returns the number of hashes added.
fn check_document(workspace: &mut Workspace, index: usize) -> Result<usize, Reason> {
    let object = &mut workspace.objects[index];
    let kind = object.exchange.response_header("content-type");
    let recorded = object.recorded().cloned().unwrap_or_default();
    let before = scan(&Page::read(&object.exchange.url, kind, &recorded)?)?;
    let mut page = object.document()?;
    let after = scan(&page)?;
    let had: Vec<&Url> = before.references.iter().map(|each| &each.url).collect();
    for reference in after.references.iter().filter(|each| each.is_loaded()) {
        if !had.contains(&&reference.url) && !workspace.is_recorded(&reference.url) {
            return Err(unanswered_reason(workspace, &reference.url));
        }
    }
    let added: Vec<&Inline> = after
        .inline
        .iter()
        .filter(|inline| !before.inline.contains(inline))
        .collect();
    if added.is_empty() {
        return Ok(0);
    }
    let object = &mut workspace.objects[index];
    let mut hashes = 0;
    for header in &mut object.exchange.response_headers {
        let policies = header.text().filter(|_| header.is(POLICY));
        if let Some((wider, count)) = policies.and_then(|text| permit(text, &added)) {
            header.value = wider.into();
            hashes += count;
            object.has_other_fields = true;
        }
    }
    let in_markup = permit_in_markup(&mut page, &after.policies, &added)?;
    if in_markup > 0 {
        object.set_content(page.into_body()?);
    }
    Ok(hashes + in_markup)
}

/// Permits inline texts in the policies of `meta` elements.
fn permit_in_markup(
    page: &mut Page,
    policies: &[String],
    added: &[&Inline],
) -> Result<usize, Reason> {
    let mut hashes = 0;
    let base = page.url.clone();
    let metas = Target::Selector("meta[http-equiv]".parse().expect("it is a selector"));
    if policies
        .iter()
        .all(|policy| permit(policy, added).is_none())
    {
        return Ok(0);
    }
    elements::change(page, &base, &metas, |element| {
        let Some((wider, count)) =
            elements::read_policy(element).and_then(|policy| permit(&policy, added))
        else {
            return Outcome::OfOtherKind;
        };
        hashes += count;
        elements::set_content(element, &wider)
    })?;
    Ok(hashes)
}

fn unanswered_reason(workspace: &Workspace, url: &Url) -> Reason {
    let urls: Vec<String> = workspace
        .objects
        .iter()
        .filter(|object| !object.is_removed)
        .map(|object| object.exchange.url.to_string())
        .collect();
    let text = url.to_string();
    format!(
        "it would ask for {text}, which was not recorded{}; name a recorded object",
        hint(&text, urls.iter().map(String::as_str))
    )
}

/// Fails if an edited object also has recorded range responses, which would no longer match it.
fn refuse_parts(workspace: &Workspace) -> Result<(), Error> {
    const PARTIAL_CONTENT: u16 = 206;
    for index in 0..workspace.objects.len() {
        let part = &workspace.objects[index].exchange;
        if part.status != PARTIAL_CONTENT || workspace.objects[index].is_removed {
            continue;
        }
        let of_part = |object: &Object| {
            object.exchange.url == part.url && (object.is_edited() || object.coding.is_some())
        };
        if workspace.objects.iter().any(of_part) {
            let reason = "parts of it were recorded, too (206), which would be of the old body; \
                          record it again without ranges";
            return Err(workspace.error(index, reason.to_owned()));
        }
    }
    Ok(())
}

//! Edits that change elements.

use std::collections::HashMap;

use eyelevel_archive::Url;
use lol_html::html_content::Element;

use super::Found;
use crate::charset::decode;
use crate::error::Reason;
use crate::markup::elements::{self, Counts, Outcome, Target};
use crate::markup::inline;
use crate::markup::scan::{Scan, scan};
use crate::nearest::hint;
use crate::pattern::Pattern;
use crate::workspace::{Object, Workspace};

const PRIORITIES: [&str; 3] = ["high", "low", "auto"];

/// Removes elements.
pub fn remove(
    workspace: &mut Workspace,
    within: Option<&str>,
    target: &str,
) -> Result<Found, Reason> {
    change(workspace, within, target, "elements", elements::remove)
}

/// Defers scripts.
pub fn defer(
    workspace: &mut Workspace,
    within: Option<&str>,
    target: &str,
) -> Result<Found, Reason> {
    change(
        workspace,
        within,
        target,
        "classic scripts with `src`",
        elements::defer,
    )
}

/// Makes scripts asynchronous.
pub fn make_async(
    workspace: &mut Workspace,
    within: Option<&str>,
    target: &str,
) -> Result<Found, Reason> {
    change(
        workspace,
        within,
        target,
        "scripts with `src`",
        elements::make_async,
    )
}

/// Sets the fetch priority of elements.
pub fn set_fetch_priority(
    workspace: &mut Workspace,
    within: Option<&str>,
    target: &str,
    value: &str,
) -> Result<Found, Reason> {
    if !PRIORITIES.contains(&value) {
        return Err(format!(
            "`{value:.40}` is no fetch priority; write high, low or auto"
        ));
    }
    let kinds = "images, scripts, links and frames";
    change(workspace, within, target, kinds, |element| {
        elements::set_fetch_priority(element, value)
    })
}

/// Loads images and frames lazily.
pub fn make_lazy(
    workspace: &mut Workspace,
    within: Option<&str>,
    target: &str,
) -> Result<Found, Reason> {
    change(
        workspace,
        within,
        target,
        "images and frames",
        elements::make_lazy,
    )
}

/// Inlines scripts and style sheets into documents.
pub fn inline_objects(
    workspace: &mut Workspace,
    within: Option<&str>,
    object: &str,
) -> Result<Found, Reason> {
    let pattern = Pattern::read(object, &workspace.page);
    let mut found = Found::default();
    let mut scans = Vec::new();
    for index in workspace.documents(within)? {
        let mut page = workspace.objects[index].document()?;
        let scan = scan(&page)?;
        let named: Vec<Url> = scan
            .references
            .iter()
            .filter(|each| pattern.matches(&each.url))
            .filter(|each| inline::is_inlinable(&each.tag, each.is_module, &each.relations))
            .map(|each| each.url.clone())
            .collect();
        let mut texts = HashMap::new();
        for url in named {
            let text = read_text(workspace, &url)?;
            texts.insert(url, text);
        }
        if !texts.is_empty() {
            let count = inline::inline_objects(&mut page, &scan.base, &texts)?;
            workspace.objects[index].set_content(page.into_body()?);
            found.add(index, count);
        }
        scans.push(scan);
    }
    if found.matches == 0 {
        let kinds = "style sheets and classic scripts";
        let target = Target::Object(pattern);
        return Err(unmatched_reason(
            object,
            &target,
            kinds,
            Counts::default(),
            &scans,
        ));
    }
    Ok(found)
}

/// Returns the text of the response for a URL.
fn read_text(workspace: &mut Workspace, url: &Url) -> Result<String, Reason> {
    let mut objects = workspace.objects.iter_mut();
    let object = objects.find(|each| each.is_whole() && each.exchange.url == *url);
    let object =
        object.ok_or_else(|| format!("{url} was not recorded with status 200; record it"))?;
    let content = object.content()?;
    let encoding = object.charset(&content);
    let text = decode(encoding, &content).map_err(|reason| format!("{url}: {reason}"))?;
    Ok(text.into_owned())
}

fn change(
    workspace: &mut Workspace,
    within: Option<&str>,
    text: &str,
    kinds: &str,
    mut change: impl FnMut(&mut Element<'_, '_>) -> Outcome,
) -> Result<Found, Reason> {
    let target = Target::read(text, &workspace.page)?;
    let mut found = Found::default();
    let mut all = Counts::default();
    let mut scans = Vec::new();
    for index in workspace.documents(within)? {
        let object: &mut Object = &mut workspace.objects[index];
        let mut page = object.document()?;
        let scan = scan(&page)?;
        let counts = elements::change(&mut page, &scan.base, &target, &mut change)?;
        if counts.changed > 0 {
            object.set_content(page.into_body()?);
        }
        found.add(index, counts.changed);
        all.already += counts.already;
        all.of_other_kind += counts.of_other_kind;
        scans.push(scan);
    }
    match found.matches {
        0 => Err(unmatched_reason(text, &target, kinds, all, &scans)),
        _ => Ok(found),
    }
}

/// Returns why an edit changed nothing.
fn unmatched_reason(
    text: &str,
    target: &Target,
    kinds: &str,
    counts: Counts,
    scans: &[Scan],
) -> Reason {
    if counts.already > 0 {
        return format!(
            "all {} elements that it matches are so already; leave it out",
            counts.already
        );
    }
    if counts.of_other_kind > 0 {
        return format!(
            "it matches {} elements, but none of these kinds: {kinds}; name one of them",
            counts.of_other_kind
        );
    }
    let documents = match scans.len() {
        1 => "the page".to_owned(),
        many => format!("{many} documents"),
    };
    match target {
        Target::Object(pattern) => {
            let urls = scans.iter().flat_map(|scan| &scan.references);
            let shown: Vec<String> = urls.map(|each| pattern.describe(&each.url)).collect();
            format!(
                "no element of {documents} names `{text}`{}; name one that stands in its markup",
                hint(text, shown.iter().map(String::as_str))
            )
        }
        Target::Selector(_) => {
            let names = scans.iter().flat_map(|scan| &scan.elements);
            let is_of_file = |letter: char| letter.is_alphanumeric() || "-_.".contains(letter);
            let otherwise = match text.contains('.') && text.chars().all(is_of_file) {
                true => format!("write an object with a slash, such as `/{text}`"),
                false => "name elements that it has".to_owned(),
            };
            format!(
                "no element of {documents} matches `{text}`{}; {otherwise}",
                hint(text, names.map(String::as_str))
            )
        }
    }
}

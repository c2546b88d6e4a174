//! Edits that change whole responses.

use std::path::Path;

use bytes::Bytes;
use eyelevel_archive::{Header, Url, map_file};

use super::Found;
use crate::error::Reason;
use crate::pattern::{Pattern, THIRD_PARTIES};
use crate::recode::Coding;
use crate::workspace::{Object, Workspace};

/// Fields that are derived from the body.
const OF_BODIES: [&str; 3] = ["content-length", "content-encoding", "transfer-encoding"];

/// Removes objects and blocks requests for them in the browser.
pub fn block(workspace: &mut Workspace, text: &str) -> Result<Found, Reason> {
    let pattern = Pattern::read(text, &workspace.page);
    let found = match workspace.find_some(text, "object", |_| true) {
        Ok(found) => found,
        Err(_) if text == THIRD_PARTIES => {
            let host = &workspace.page.host;
            return Err(format!(
                "all objects are of the site of {host}; name a host or an object"
            ));
        }
        Err(reason) => return Err(reason),
    };
    let urls: Vec<Url> = found
        .iter()
        .map(|index| workspace.objects[*index].exchange.url.clone())
        .collect();
    if let Some(page) = [&workspace.page, &workspace.start]
        .into_iter()
        .find(|it| urls.contains(it))
    {
        return Err(format!(
            "it would take away the page {page} itself; name what it loads"
        ));
    }
    for url in &urls {
        let is_by_host = match &pattern {
            Pattern::ThirdParties(_) => true,
            Pattern::Word(_) => pattern.matches(&root_url(url)),
            _ => false,
        };
        let names = match is_by_host {
            true => vec![format!("*://{}/*", url.host)],
            // The recorded URL, and the same with a query that scripts may add.
            false => {
                let path = format!("*://{}{}", url.authority(), url.path());
                vec![path.clone(), format!("{path}?*")]
            }
        };
        for name in names {
            if !workspace.blocked.contains(&name) {
                workspace.blocked.push(name);
            }
        }
    }
    let mut all = Found::default();
    for index in found {
        workspace.objects[index].is_removed = true;
        all.add(index, 1);
    }
    Ok(all)
}

fn root_url(url: &Url) -> Url {
    Url {
        path_and_query: "/".to_owned(),
        ..url.clone()
    }
}

/// Sets or removes a response field.
pub fn set_field(
    workspace: &mut Workspace,
    within: Option<&str>,
    field: &str,
) -> Result<Found, Reason> {
    let (name, value) = field
        .split_once(':')
        .ok_or_else(|| format!("`{field:.60}` is no field; write `NAME: VALUE`"))?;
    let header = Header::new(name.trim(), value.trim().to_owned());
    if !header.is_valid() {
        return Err(format!(
            "`{field:.60}` is no field that HTTP can carry; write `NAME: VALUE`"
        ));
    }
    if OF_BODIES.iter().any(|name| header.is(name)) {
        return Err(format!(
            "`{}` follows from the body; write `encode` or `body`",
            header.name
        ));
    }
    let objects = match within {
        Some(pattern) => workspace.find_some(pattern, "object", |_| true)?,
        None => workspace.documents(None)?,
    };
    let mut found = Found::default();
    let mut had = 0;
    for index in objects {
        let object = &mut workspace.objects[index];
        let values: Vec<&Header> = object
            .exchange
            .response_headers
            .iter()
            .filter(|each| each.is(&header.name))
            .collect();
        if let ([one], false) = (&values[..], header.value.is_empty())
            && one.value == header.value
        {
            had += 1;
            continue;
        }
        let count = match header.value.is_empty() {
            true => object.remove_field(&header.name),
            false => {
                object.set_field(&header.name, header.value.clone());
                1
            }
        };
        object.has_other_fields |= count > 0;
        found.add(index, count);
    }
    match (found.matches, had) {
        (0, 0) => Err(format!(
            "no object that it names has the field `{}`; name another one",
            header.name
        )),
        (0, had) => Err(format!(
            "all {had} objects have this field already; leave it out"
        )),
        _ => Ok(found),
    }
}

/// Sets the content coding; by default, of everything that servers compress.
pub fn encode(
    workspace: &mut Workspace,
    within: Option<&str>,
    coding: &str,
) -> Result<Found, Reason> {
    let coding = Coding::read(coding)?;
    let is_meant = |object: &Object| match within {
        Some(_) => object.is_whole(),
        None => object.is_compressible() && !object.exchange.body.is_empty(),
    };
    let mut found = Found::default();
    for index in workspace.find_some(within.unwrap_or("*"), "object", is_meant)? {
        let object = &mut workspace.objects[index];
        object.content()?;
        object.coding = Some(coding);
        found.add(index, 1);
    }
    Ok(found)
}

/// Replaces bodies by a file's content.
pub fn replace_body(
    workspace: &mut Workspace,
    within: Option<&str>,
    file: &Path,
) -> Result<Found, Reason> {
    let within = within.ok_or("it names no object; write which one with `in`")?;
    let content = map_file(file).map_err(|error| error.to_string())?;
    let mut found = Found::default();
    let mut had = 0;
    for index in workspace.find_some(within, "object", Object::is_whole)? {
        let object = &mut workspace.objects[index];
        if object.content()? == content {
            had += 1;
            continue;
        }
        // Copied, because the mapped file may change before the recording is written.
        object.set_content(Bytes::copy_from_slice(&content));
        found.add(index, 1);
    }
    match found.matches {
        0 => Err(format!(
            "all {had} objects that it names have this body already; leave it out"
        )),
        _ => Ok(found),
    }
}

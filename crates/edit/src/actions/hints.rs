//! Edits that insert into the heads of documents.

use std::fmt::Write;

use eyelevel_archive::{Exchange, Scheme, Url};

use super::Found;
use crate::error::Reason;
use crate::markup::escape_attribute;
use crate::markup::inline::relative_reference;
use crate::markup::scan::{Reference, Scan, scan};
use crate::nearest::hint;
use crate::pattern::Pattern;
use crate::workspace::{Object, Workspace};

/// The most objects that one pattern may preload: more at once take bandwidth from visible content.
const PRELOADED_MAX: usize = 20;

/// Inserts markup into the head.
pub fn insert_head(
    workspace: &mut Workspace,
    within: Option<&str>,
    markup: &str,
) -> Result<Found, Reason> {
    if markup.trim().is_empty() {
        return Err("there is no markup to insert; write it".to_owned());
    }
    let mut found = Found::default();
    for index in workspace.documents(within)? {
        workspace.heads.entry(index).or_default().push_str(markup);
        found.add(index, 1);
    }
    Ok(found)
}

/// Preloads objects with the type and credentials mode of the page's own requests.
pub fn preload(
    workspace: &mut Workspace,
    within: Option<&str>,
    text: &str,
) -> Result<Found, Reason> {
    let urls = find_objects(workspace, text, "object")?;
    link(workspace, within, "preload", |workspace, scan| {
        let mut links = Vec::new();
        for url in &urls {
            let uses = || scan.references.iter().filter(|each| each.url == *url);
            if uses().any(|each| each.tag == "script" && each.is_module) {
                return Err(format!("{url} is a module; write `modulepreload`"));
            }
            let object = workspace
                .objects
                .iter()
                .find(|each| each.exchange.url == *url);
            let (kind, is_anonymous) = destination(object, uses()).ok_or_else(|| {
                format!("{url} has no media type that can be preloaded; name another object")
            })?;
            let crossorigin = match uses().find(|each| each.tag != "link" || each.is_loaded()) {
                Some(reference) => reference.crossorigin.clone(),
                None => is_anonymous.then(String::new),
            };
            let mut attributes = format!("as=\"{kind}\"");
            if let Some(value) = crossorigin {
                let _ = write!(attributes, " crossorigin{}", format_value(&value));
            }
            links.push((url.clone(), attributes));
        }
        Ok(links)
    })
}

/// Preloads modules.
pub fn modulepreload(
    workspace: &mut Workspace,
    within: Option<&str>,
    text: &str,
) -> Result<Found, Reason> {
    let urls = find_objects(workspace, text, "script")?;
    link(workspace, within, "modulepreload", |_, scan| {
        let links = urls.iter().map(|url| {
            let mut uses = scan.references.iter().filter(|each| each.url == *url);
            let crossorigin = uses.find_map(|each| each.crossorigin.clone());
            let crossorigin =
                crossorigin.map(|value| format!("crossorigin{}", format_value(&value)));
            (url.clone(), crossorigin.unwrap_or_default())
        });
        Ok(links.collect())
    })
}

/// Connects to an origin early: once for requests with credentials and once for those without, if
/// the page makes both kinds.
pub fn preconnect(
    workspace: &mut Workspace,
    within: Option<&str>,
    text: &str,
) -> Result<Found, Reason> {
    let origins = find_origins(workspace, text)?;
    link(workspace, within, "preconnect", |workspace, _| {
        let mut links = Vec::new();
        for origin in &origins {
            let objects = workspace.objects.iter().filter(|each| !each.is_removed);
            let modes: Vec<bool> = objects
                .filter(|each| is_same_origin(&each.exchange.url, origin))
                .map(|each| is_anonymous(&each.exchange))
                .collect();
            for (is_anonymous, attribute) in [(false, ""), (true, "crossorigin")] {
                if modes.contains(&is_anonymous) {
                    links.push((origin.clone(), attribute.to_owned()));
                }
            }
        }
        Ok(links)
    })
}

/// Inserts the links that `make` returns, with their further attributes, into each document.
fn link(
    workspace: &mut Workspace,
    within: Option<&str>,
    relation: &str,
    make: impl Fn(&Workspace, &Scan) -> Result<Vec<(Url, String)>, Reason>,
) -> Result<Found, Reason> {
    let mut found = Found::default();
    for index in workspace.documents(within)? {
        let page = workspace.objects[index].document()?;
        let scan = scan(&page)?;
        let mut markup = String::new();
        let mut links = 0;
        for (url, attributes) in make(workspace, &scan)? {
            if has_link(&scan, relation, &url) {
                continue;
            }
            let href = match relation {
                "preconnect" => format!("{}://{}", url.scheme, url.authority()),
                _ => relative_reference(&scan.base, &url),
            };
            let blank = if attributes.is_empty() { "" } else { " " };
            let href = escape_attribute(&href);
            let _ = write!(
                markup,
                "<link rel=\"{relation}\" href=\"{href}\"{blank}{attributes}>"
            );
            links += 1;
        }
        if links == 0 {
            return Err(format!(
                "the page has such a `{relation}` already; leave it out"
            ));
        }
        workspace.heads.entry(index).or_default().push_str(&markup);
        found.add(index, links);
    }
    Ok(found)
}

fn has_link(scan: &Scan, relation: &str, url: &Url) -> bool {
    scan.references.iter().any(|each| {
        let is_same = match relation {
            "preconnect" => is_same_origin(&each.url, url),
            _ => each.url == *url,
        };
        is_same && each.tag == "link" && each.relations.iter().any(|name| name == relation)
    })
}

/// Returns the URLs of the objects that a pattern names, without duplicates.
fn find_objects(workspace: &Workspace, text: &str, kind: &str) -> Result<Vec<Url>, Reason> {
    let is_meant = |object: &Object| {
        object.is_whole() && (kind != "script" || object.media_type().contains("javascript"))
    };
    let mut urls: Vec<Url> = Vec::new();
    for index in workspace.find_some(text, kind, is_meant)? {
        let url = &workspace.objects[index].exchange.url;
        if !urls.contains(url) {
            urls.push(url.clone());
        }
    }
    match urls.len() {
        0..=PRELOADED_MAX => Ok(urls),
        many => Err(format!(
            "it names {many} objects, and more than {PRELOADED_MAX} would hold each other up; name \
             fewer"
        )),
    }
}

/// Returns the origins that a pattern or a URL names, except the page's own.
fn find_origins(workspace: &Workspace, text: &str) -> Result<Vec<Url>, Reason> {
    let pattern = Pattern::read(text, &workspace.page);
    let hinted: Option<Url> = text.parse().ok();
    let mut origins: Vec<Url> = Vec::new();
    let mut others: Vec<String> = Vec::new();
    for object in workspace.objects.iter().filter(|object| !object.is_removed) {
        let url = &object.exchange.url;
        if is_same_origin(url, &workspace.page) {
            continue;
        }
        let is_named = match &hinted {
            Some(hinted) => is_same_origin(url, hinted),
            None => pattern.matches(url),
        };
        if !is_named {
            others.push(match hinted {
                Some(_) => format!("{}://{}", url.scheme, url.authority()),
                None => url.authority(),
            });
        } else if !origins.iter().any(|origin| is_same_origin(url, origin)) {
            origins.push(Url {
                path_and_query: "/".to_owned(),
                ..url.clone()
            });
        }
    }
    match origins.is_empty() {
        true => Err(format!(
            "the recording has no other origin `{text}`{}; name a recorded one",
            hint(text, others.iter().map(String::as_str))
        )),
        false => Ok(origins),
    }
}

/// Whether two URLs have the same scheme, host and port.
pub fn is_same_origin(one: &Url, other: &Url) -> bool {
    let origin = |url: &Url| -> (Scheme, String) { (url.scheme, url.authority()) };
    origin(one) == origin(other)
}

/// Returns an object's preload destination, and whether it is requested without credentials.
fn destination<'a>(
    object: Option<&Object>,
    mut uses: impl Iterator<Item = &'a Reference>,
) -> Option<(&'static str, bool)> {
    const BY_NAME: [(&str, &str); 5] = [
        (".woff2", "font"),
        (".woff", "font"),
        (".ttf", "font"),
        (".otf", "font"),
        (".css", "style"),
    ];
    const BY_TYPE: [(&str, &str); 7] = [
        ("font", "font"),
        ("text/css", "style"),
        ("javascript", "script"),
        ("image/", "image"),
        ("text/vtt", "track"),
        ("json", "fetch"),
        ("wasm", "fetch"),
    ];
    let object = object?;
    let (kind, path) = (object.media_type(), object.exchange.url.path().to_owned());
    let by_type = BY_TYPE.iter().find(|(part, _)| kind.contains(part));
    let by_name = BY_NAME.iter().find(|(end, _)| path.ends_with(end));
    let found = by_type.or(by_name).map(|(_, name)| *name);
    let found = found.or_else(|| uses.any(|each| each.tag == "img").then_some("image"))?;
    let is_anonymous = found == "font" || found == "fetch" || is_anonymous(&object.exchange);
    Some((found, is_anonymous))
}

/// Whether the browser requested the object without credentials, by the recorded mode, or would:
/// fonts always are.
fn is_anonymous(exchange: &Exchange) -> bool {
    let kind = exchange.response_header("content-type").unwrap_or("");
    let is_font = kind.contains("font") || exchange.url.path().ends_with(".woff2");
    let mode = exchange.request_header("sec-fetch-mode");
    is_font
        || mode.map_or(exchange.request_header("origin").is_some(), |mode| {
            mode == "cors"
        })
}

fn format_value(value: &str) -> String {
    match value {
        "" | "anonymous" => String::new(),
        other => format!("=\"{}\"", escape_attribute(other)),
    }
}

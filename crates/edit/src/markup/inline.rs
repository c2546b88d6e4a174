//! Inlines scripts and style sheets in place of the elements that name them.

use std::collections::HashMap;

use eyelevel_archive::Url;
use lol_html::html_content::{ContentType, Element};

use super::attributes::{escape, find_urls, has_word, is_classic_script, unescape};
use super::{Handlers, Page, any};
use crate::css::move_urls;
use crate::error::Reason;

/// Attributes that apply only to an element with a request.
const OF_REQUESTS: [&str; 9] = [
    "src",
    "href",
    "rel",
    "integrity",
    "crossorigin",
    "fetchpriority",
    "referrerpolicy",
    "charset",
    "as",
];

/// Replaces elements by the texts that they name; returns their number.
///
/// # Errors
///
/// Fails if a script would run at another time, or if a text cannot be inlined in the document.
pub fn inline_objects(
    page: &mut Page,
    base: &Url,
    texts: &HashMap<Url, String>,
) -> Result<usize, Reason> {
    for text in texts.values() {
        page.check_holds(text)?;
    }
    let mut count = 0;
    let any = any();
    let handlers = Handlers::each(&any, |element| {
        let is_sheet = element.tag_name() == "link" && has_word(element, "rel", "stylesheet");
        if !is_sheet && !is_classic_script(element) {
            return Ok(());
        }
        let urls = find_urls(element, base);
        let Some((url, text)) = urls.iter().find_map(|url| texts.get_key_value(url)) else {
            return Ok(());
        };
        let markup = match is_sheet {
            true => sheet(element, url, text, base),
            false => script(element, url, text)?,
        };
        element.replace(&markup, ContentType::Html);
        count += 1;
        Ok(())
    });
    page.markup = page.pass(handlers)?;
    Ok(count)
}

/// Whether the element is of a kind that can be inlined.
pub fn is_inlinable(tag: &str, is_module: bool, relations: &[String]) -> bool {
    let is_sheet = tag == "link" && relations.iter().any(|each| each == "stylesheet");
    is_sheet || (tag == "script" && !is_module)
}

fn sheet(element: &Element<'_, '_>, url: &Url, css: &str, base: &Url) -> String {
    let moved = move_urls(css, |relative| {
        let relative = relative.trim();
        let stays = relative.is_empty() || relative.starts_with('#') || has_scheme(relative);
        let moved = (!stays).then(|| url.join(relative).ok()).flatten()?;
        Some(relative_reference(base, &moved))
    });
    let moved = moved.trim_start_matches('\u{feff}');
    // CSS reads the escaped slash as a slash, and HTML does not see an end tag.
    let css = replace_any_case(moved, "</style", "<\\/style");
    format!("<style{}>{css}</style>", copy_attributes(element))
}

fn script(element: &Element<'_, '_>, url: &Url, text: &str) -> Result<String, Reason> {
    for attribute in ["defer", "async"] {
        if element.has_attribute(attribute) {
            return Err(format!(
                "the script {url} has `{attribute}`, and inside the page it would run earlier; \
                 choose a script without, or a style sheet"
            ));
        }
    }
    let lower = text.to_ascii_lowercase();
    if lower.contains("<!--") && lower.contains("<script") {
        return Err(format!(
            "the script {url} has `<!--` and `<script` in it, which inside a page hide its end; \
             leave it outside"
        ));
    }
    let text = text.trim_start_matches('\u{feff}');
    let text = replace_any_case(text, "</script", "<\\/script");
    Ok(format!(
        "<script{}>{text}</script>",
        copy_attributes(element)
    ))
}

/// Returns the reference to a URL from a document at `base`.
pub fn relative_reference(base: &Url, url: &Url) -> String {
    let is_same_origin = base.scheme == url.scheme && base.authority() == url.authority();
    // Two leading slashes would begin a host.
    match is_same_origin && !url.path_and_query.starts_with("//") {
        true => url.path_and_query.clone(),
        false => url.to_string(),
    }
}

fn has_scheme(url: &str) -> bool {
    let scheme = url.split([':', '/', '?', '#']).next().unwrap_or("");
    url[scheme.len()..].starts_with(':')
}

fn copy_attributes(element: &Element<'_, '_>) -> String {
    let kept = element.attributes().iter();
    let kept = kept.filter(|attribute| !OF_REQUESTS.contains(&&*attribute.name()));
    kept.map(|attribute| {
        format!(
            " {}=\"{}\"",
            attribute.name(),
            escape(&unescape(&attribute.value()))
        )
    })
    .collect()
}

/// Replaces each `old`, in any case, by `new`; `old` is ASCII in lower case.
fn replace_any_case(text: &str, old: &str, new: &str) -> String {
    let lower = text.to_ascii_lowercase();
    let mut replaced = String::with_capacity(text.len());
    let mut copied = 0;
    for (at, _) in lower.match_indices(old) {
        replaced.push_str(&text[copied..at]);
        replaced.push_str(new);
        copied = at + old.len();
    }
    replaced + &text[copied..]
}

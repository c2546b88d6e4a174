//! Changes elements in place.

use eyelevel_archive::Url;
use lol_html::Selector;
use lol_html::html_content::Element;

use super::attributes::{escape, find_urls, has_word, is_classic_script, unescape};
use super::{Handlers, Page, any};
use crate::error::Reason;
use crate::pattern::Pattern;

/// The elements that an edit changes.
#[derive(Debug)]
pub enum Target {
    /// Elements that name an object.
    Object(Pattern),
    /// Elements that a CSS selector matches.
    Selector(Selector),
}

/// The result of an edit for one element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The element was changed.
    Changed,
    /// The element was already as wanted.
    Already,
    /// The element is of a kind that the edit does not apply to.
    OfOtherKind,
}

/// The number of elements that an edit matched, by outcome.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Counts {
    /// Changed elements.
    pub changed: usize,
    /// Elements that already were as wanted.
    pub already: usize,
    /// Elements of a kind that the edit does not apply to.
    pub of_other_kind: usize,
}

impl Target {
    /// Parses a target: an object if it has a slash or a star outside brackets and quotes, else a
    /// selector.
    ///
    /// # Errors
    ///
    /// Fails if the parser does not support the selector.
    pub fn read(text: &str, page: &Url) -> Result<Self, Reason> {
        if is_object(text) {
            return Ok(Target::Object(Pattern::read(text, page)));
        }
        let selector = text.parse::<Selector>().map_err(|error| {
            format!("`{text:.100}` is no selector that a streaming parser can match: {error}")
        })?;
        Ok(Target::Selector(selector))
    }
}

/// Calls `change` for each element of the target.
///
/// # Errors
///
/// Fails if the parser cannot decide what is a tag.
pub fn change(
    page: &mut Page,
    base: &Url,
    target: &Target,
    mut change: impl FnMut(&mut Element<'_, '_>) -> Outcome,
) -> Result<Counts, Reason> {
    let mut counts = Counts::default();
    let any = any();
    let (selector, pattern) = match target {
        Target::Object(pattern) => (&any, Some(pattern)),
        Target::Selector(selector) => (selector, None),
    };
    let handlers = Handlers::each(selector, |element| {
        let is_meant = pattern.is_none_or(|pattern| {
            find_urls(element, base)
                .iter()
                .any(|url| pattern.matches(url))
        });
        if is_meant {
            match change(element) {
                Outcome::Changed => counts.changed += 1,
                Outcome::Already => counts.already += 1,
                Outcome::OfOtherKind => counts.of_other_kind += 1,
            }
        }
        Ok(())
    });
    let passed = page.pass(handlers)?;
    if counts.changed > 0 {
        page.markup = passed;
    }
    Ok(counts)
}

/// Removes the element.
pub fn remove(element: &mut Element<'_, '_>) -> Outcome {
    element.remove();
    Outcome::Changed
}

/// Defers a classic script and removes `async`, which would take precedence.
pub fn defer(element: &mut Element<'_, '_>) -> Outcome {
    match is_classic_script(element) {
        false => Outcome::OfOtherKind,
        true if element.has_attribute("defer") && !element.has_attribute("async") => {
            Outcome::Already
        }
        true => {
            element.remove_attribute("async");
            set(element, "defer", "")
        }
    }
}

/// Makes a script asynchronous.
pub fn make_async(element: &mut Element<'_, '_>) -> Outcome {
    if element.tag_name() != "script" || !element.has_attribute("src") {
        return Outcome::OfOtherKind;
    }
    if element.has_attribute("async") {
        return Outcome::Already;
    }
    element.remove_attribute("defer");
    set(element, "async", "")
}

/// Sets the fetch priority.
pub fn set_fetch_priority(element: &mut Element<'_, '_>, value: &str) -> Outcome {
    let tag = element.tag_name();
    match ["img", "script", "link", "iframe"].contains(&&*tag) {
        true => set_word(element, "fetchpriority", value),
        false => Outcome::OfOtherKind,
    }
}

/// Makes an image or frame load lazily.
pub fn make_lazy(element: &mut Element<'_, '_>) -> Outcome {
    match ["img", "iframe"].contains(&&*element.tag_name()) {
        true => set_word(element, "loading", "lazy"),
        false => Outcome::OfOtherKind,
    }
}

/// Returns the policy of a `meta` element.
pub fn read_policy(element: &Element<'_, '_>) -> Option<String> {
    let is_policy = has_word(element, "http-equiv", "content-security-policy");
    is_policy
        .then(|| Some(unescape(&element.get_attribute("content")?)))
        .flatten()
}

/// Sets the policy of a `meta` element.
pub fn set_content(element: &mut Element<'_, '_>, value: &str) -> Outcome {
    set(element, "content", &escape(value))
}

fn set_word(element: &mut Element<'_, '_>, attribute: &str, value: &str) -> Outcome {
    match has_word(element, attribute, value) {
        true => Outcome::Already,
        false => set(element, attribute, value),
    }
}

fn set(element: &mut Element<'_, '_>, attribute: &str, value: &str) -> Outcome {
    let is_set = element.set_attribute(attribute, value);
    is_set.map_or(Outcome::OfOtherKind, |()| Outcome::Changed)
}

fn is_object(text: &str) -> bool {
    let mut depth = 0_usize;
    let mut quote = None;
    for letter in text.chars() {
        match (quote, letter) {
            (Some(open), _) if open == letter => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(letter),
            (None, '[' | '(') => depth += 1,
            (None, ']' | ')') => depth = depth.saturating_sub(1),
            (None, '/' | '*') if depth == 0 => return true,
            _ => {}
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_have_slashes_and_selectors_have_none_outside_of_brackets() {
        for text in [
            "/app.js",
            "https://a.test/x",
            "*.js",
            "//a.test/",
            "a.test/x",
        ] {
            assert!(is_object(text), "{text}");
        }
        for text in [
            "img",
            "img.hero",
            "script[src*='/ads/']",
            "a:not([href=\"/\"])",
            "#x > b",
        ] {
            assert!(!is_object(text), "{text}");
        }
    }
}

//! Each kind of edit on each shipped site: it matches, and the page's requests stay answered, or it
//! gives a reason.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use crate::support::edit_in;
use eyelevel_archive::{Exchange, Site, Url};
use eyelevel_edit::{Action, Edit, Edited, apply};
use lol_html::{RewriteStrSettings, element, rewrite_str};

const BODY_BYTES_MAX: u64 = 64 << 20;

fn sites() -> Vec<Site> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../python/eyelevel/sites/shipped");
    let files = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> = files
        .filter(|file| file.extension().is_some_and(|end| end == "wacz"))
        .collect();
    files.sort();
    files.iter().map(|file| Site::open(file).unwrap()).collect()
}

/// Returns edits that fit most pages, and the sites to which each does not apply.
fn edits() -> Vec<(Edit, &'static str)> {
    let text = |text: &str| text.to_owned();
    let body = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
    let replace = Action::Replace {
        text: text("</title>"),
        with: text("!</title>"),
    };
    let priority = Action::Fetchpriority {
        target: text("img, script, link, iframe"),
        value: text("low"),
    };
    let plain = |action: Action| Edit {
        name: format!("{action:?}"),
        within: None,
        action,
    };
    vec![
        (plain(replace), ""),
        (plain(Action::InsertHead(text("<!--x-->"))), ""),
        (plain(Action::Remove(text("title"))), ""),
        (
            plain(Action::Defer(text("script[src]"))),
            "article flags formulas gallery japanese modules plain",
        ),
        (
            plain(Action::Async(text("script[src]"))),
            "article flags gallery japanese plain",
        ),
        (plain(Action::Preload(text("*.css"))), "modules"),
        (
            plain(Action::Modulepreload(text("/*.js"))),
            "article flags formulas gallery japanese plain slides",
        ),
        (plain(Action::Preconnect(text("*"))), "plain"),
        (plain(priority), ""),
        (
            plain(Action::Lazy(text("img"))),
            "api article blog formulas japanese modules plain slides",
        ),
        (
            plain(Action::Inline(text("*"))),
            "api formulas modules slides",
        ),
        (
            plain(Action::FontDisplay(text("optional"))),
            "api flags gallery modules plain",
        ),
        (
            plain(Action::Block(text("third-parties"))),
            "formulas japanese plain slides",
        ),
        (plain(Action::Header(text("x-edited: yes"))), ""),
        (plain(Action::Encode(text("br:5"))), ""),
        (plain(Action::Encode(text("zstd:3"))), ""),
        (plain(Action::Encode(text("gzip:6"))), ""),
        (plain(Action::Encode(text("identity"))), ""),
        (edit_in("*.css", Action::Body(body)), "modules"),
    ]
}

/// Returns the URLs that the documents' markup makes the browser request.
fn find_references(exchanges: &[Exchange]) -> HashSet<Url> {
    let mut named = HashSet::new();
    for document in exchanges
        .iter()
        .filter(|each| each.is_html() && each.status == 200)
    {
        let body = document.decoded_body(BODY_BYTES_MAX).unwrap();
        let markup = String::from_utf8_lossy(&body).into_owned();
        let loaded = "script[src], img[src], link[rel=stylesheet], link[rel=preload]";
        let handler = element!(loaded, |found| {
            let value = found.get_attribute("src").or(found.get_attribute("href"));
            let value = value.unwrap_or_default().replace("&amp;", "&");
            named.extend(document.url.join(&value));
            Ok(())
        });
        let settings = RewriteStrSettings::new().append_element_content_handler(handler);
        rewrite_str(&markup, settings).unwrap();
    }
    named
}

fn check(site: &Site, edit: &Edit, done: &Edited) {
    let what = format!("{} on {}", edit.name, site.name());
    let urls = |exchanges: &[Exchange]| -> HashSet<Url> {
        exchanges.iter().map(|each| each.url.clone()).collect()
    };
    let (before, after) = (urls(site.exchanges()), urls(&done.exchanges));
    let removed: HashSet<&str> = done.report.removed.iter().map(String::as_str).collect();
    for url in find_references(&done.exchanges) {
        let is_kept = after.contains(&url) || !before.contains(&url);
        assert!(
            is_kept || removed.contains(&*url.to_string()),
            "{what}: {url}"
        );
    }
    let changed: HashSet<&str> = done.report.changed.iter().map(|each| &*each.url).collect();
    let kept = site
        .exchanges()
        .iter()
        .filter(|each| !removed.contains(&*each.url.to_string()));
    let mut pairs = 0;
    for (old, new) in kept.zip(&done.exchanges) {
        assert_eq!(old.url, new.url, "{what}");
        pairs += 1;
        if !changed.contains(&*old.url.to_string()) {
            assert_eq!(
                (&old.body, &old.response_headers),
                (&new.body, &new.response_headers)
            );
        } else if matches!(edit.action, Action::Encode(_)) {
            let contents = [old, new].map(|each| each.decoded_body(BODY_BYTES_MAX).unwrap());
            assert!(contents[0] == contents[1], "{what}: {}", old.url);
        }
    }
    assert_eq!(pairs, done.exchanges.len(), "{what}");
    assert!(done.report.edits[0].matches > 0, "{what}");
}

#[test]
fn each_edit_matches_or_gives_a_reason() {
    let sites = sites();
    assert_eq!(sites.len(), 15);
    for (edit, without) in edits() {
        let mut refused = Vec::new();
        for site in &sites {
            let edits = std::slice::from_ref(&edit);
            match apply(site.exchanges().to_vec(), site.main_url(), edits) {
                Ok(done) => check(site, &edit, &done),
                Err(error) => {
                    let said = error.to_string();
                    assert!(said.contains("; ") && !said.contains('\n'), "{said}");
                    refused.push(site.name());
                }
            }
        }
        assert_eq!(refused.join(" "), without, "{}", edit.name);
    }
}

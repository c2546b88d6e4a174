//! Edits of texts, style sheets and whole responses.

use crate::support::{answer, apply_edits, edit, edit_in, page, shop, with_field};
use eyelevel_archive::Exchange;
use eyelevel_edit::Action;

fn text(text: &str) -> String {
    text.to_owned()
}

fn field<'a>(exchange: &'a Exchange, name: &str) -> Option<&'a str> {
    exchange.response_header(name)
}

#[test]
fn texts_are_replaced_and_lengths_follow() {
    let mut exchanges = shop("<p>a</p>");
    exchanges[1] = with_field(exchanges[1].clone(), "ETag", "W/\"1\"");
    exchanges[1] = with_field(exchanges[1].clone(), "Content-MD5", "x");
    let replace = Action::Replace {
        text: text("go"),
        with: text("wait"),
    };
    let done = apply_edits(&exchanges, &[edit_in("/app.js", replace)]);
    let script = &done.exchanges[1];
    assert_eq!(script.body, "wait()");
    assert_eq!(field(script, "content-length"), Some("6"));
    assert_eq!(field(script, "content-md5"), None);
    let etag = field(script, "etag").unwrap();
    assert!(etag.starts_with("W/\"") && etag != "W/\"1\"", "{etag}");
    assert_eq!(done.exchanges[0], exchanges[0]);
    assert_eq!(done.report.changed.len(), 1);
}

#[test]
fn font_faces_get_their_display_everywhere() {
    let face = "@font-face{src:url(f.woff2)}";
    let mut exchanges = shop(format!("<style>{face}</style><p>{face}"));
    exchanges[2] = answer("https://shop.test/site.css", "text/css", face);
    let done = apply_edits(&exchanges, &[edit(Action::FontDisplay(text("swap")))]);
    let set = "@font-face{src:url(f.woff2);font-display:swap}";
    assert_eq!(
        done.exchanges[0].body,
        format!("<style>{set}</style><p>{face}")
    );
    assert_eq!(done.exchanges[2].body, set);
    assert_eq!(done.report.edits[0].matches, 2);
}

#[test]
fn blocked_objects_are_removed_and_not_requested() {
    let exchanges = shop("<p>");
    let done = apply_edits(&exchanges, &[edit(Action::Block(text("third-parties")))]);
    assert_eq!(done.report.removed, ["https://cdn.test/lib.js"]);
    assert_eq!(done.blocked, ["*://cdn.test/*"]);
    assert_eq!(done.exchanges.len(), exchanges.len() - 1);
    let done = apply_edits(&exchanges, &[edit(Action::Block(text("/app.js")))]);
    assert_eq!(
        done.blocked,
        ["*://shop.test/app.js", "*://shop.test/app.js?*"]
    );
    let indexes: Vec<usize> = done.exchanges.iter().map(|each| each.index).collect();
    assert_eq!(indexes, [0, 1, 2, 3, 4, 5]);
}

#[test]
fn fields_are_set_and_removed() {
    let exchanges = [with_field(with_field(page(""), "x-a", "1"), "X-A", "2")];
    let done = apply_edits(&exchanges, &[edit(Action::Header(text("X-a: 3")))]);
    let fields: Vec<&str> = done.exchanges[0]
        .response_headers
        .iter()
        .filter(|header| header.is("x-a"))
        .filter_map(eyelevel_archive::Header::text)
        .collect();
    assert_eq!(fields, ["3"]);
    let done = apply_edits(&exchanges, &[edit(Action::Header(text("x-a:")))]);
    assert_eq!(field(&done.exchanges[0], "x-a"), None);
    assert_eq!(done.report.edits[0].matches, 2);
    assert_eq!(done.exchanges[0].body, exchanges[0].body);
}

#[test]
fn every_coding_decodes_to_the_same_body() {
    let body = "the same words again and again, ".repeat(200);
    let exchanges = [page(&body)];
    for coding in ["br:11", "br:0", "zstd:19", "zstd:1", "gzip:9", "gzip:1"] {
        let done = apply_edits(&exchanges, &[edit(Action::Encode(text(coding)))]);
        let [coded] = &done.exchanges[..] else {
            panic!()
        };
        assert_eq!(
            field(coded, "content-encoding"),
            coding.split(':').next(),
            "{coding}"
        );
        assert_eq!(field(coded, "vary"), Some("Accept-Encoding"));
        assert_eq!(
            field(coded, "content-length"),
            Some(&*coded.body.len().to_string())
        );
        assert!(coded.body.len() < body.len());
        assert_eq!(&*coded.decoded_body(1 << 20).unwrap(), body.as_bytes());
        let back = apply_edits(&done.exchanges, &[edit(Action::Encode(text("identity")))]);
        assert_eq!(back.exchanges[0].body, body);
        assert_eq!(field(&back.exchanges[0], "content-encoding"), None);
    }
}

#[test]
fn an_edited_body_is_encoded_as_it_was() {
    let words = "<p>the same words again and again, and a number or two: 1 2 3 4 5 6 7</p>";
    let mut body = String::new();
    (0..300).for_each(|number| body += &format!("{words}{}", number * number));
    for coding in ["br:11", "br:5", "zstd:19", "zstd:3", "gzip:9", "gzip:6"] {
        let recorded = apply_edits(&[page(&body)], &[edit(Action::Encode(text(coding)))]).exchanges;
        let insert = edit(Action::InsertHead(text("<meta name=x>")));
        let done = apply_edits(&recorded, &[insert]);
        let (before, after) = (recorded[0].body.len(), done.exchanges[0].body.len());
        let name = coding.split(':').next();
        assert_eq!(field(&done.exchanges[0], "content-encoding"), name);
        // At the same level the size only changes by the insertion.
        assert!(after.abs_diff(before) < 60, "{coding}: {before} {after}");
        let decoded = done.exchanges[0].decoded_body(1 << 20).unwrap();
        assert_eq!(decoded.len(), body.len() + "<meta name=x>".len());
    }
}

#[test]
fn a_body_comes_from_a_file() {
    let file = std::env::temp_dir().join(format!("eyelevel-edit-{}", std::process::id()));
    std::fs::write(&file, "smaller").unwrap();
    let edit = edit_in("/hero.jpg", Action::Body(file.clone()));
    let done = apply_edits(&shop("<p>"), &[edit]);
    std::fs::remove_file(file).unwrap();
    assert_eq!(done.exchanges[3].body, "smaller");
    assert_eq!(field(&done.exchanges[3], "content-length"), Some("7"));
}

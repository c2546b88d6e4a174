//! Bytes outside an edit stay unchanged.

use crate::support::{PAGE, answer, apply_edits, edit, edit_in, page, try_edit};
use eyelevel_archive::Exchange;
use eyelevel_edit::Action;
use proptest::prelude::*;

/// Markup that is hard to parse: broken tags, comments, raw text, invalid bytes.
const PARTS: [&[u8]; 15] = [
    b"<head>",
    b"</head>",
    b"<p CLASS = 'a'  b=c d>",
    b"<script src=/app.js></script>",
    b"<script>if (a<b) '</p>'</script>",
    b"<style>a{b:'</p>'}</style>",
    b"<!-- <head> -->",
    b"<![CDATA[x]]>",
    b"<svg><path d='x'/></svg>",
    b"<a href=x",
    b"\xe4\xf6\xff",
    b"\0\r\n\t",
    b"text & &amp; <",
    b"</",
    b"<textarea><img src=x></textarea>",
];

fn markup() -> impl Strategy<Value = Vec<u8>> {
    let parts = proptest::collection::vec(proptest::sample::select(&PARTS[..]), 0..12);
    parts.prop_map(|parts| parts.concat())
}

fn body(exchanges: &[Exchange]) -> &[u8] {
    &exchanges[0].body
}

proptest! {
    #[test]
    fn a_comment_that_is_inserted_and_removed_leaves_nothing(markup in markup()) {
        const COMMENT: &str = "<!--eyelevel-->";
        for kind in ["text/html; charset=utf-8", "text/html; charset=windows-1252"] {
            let recorded = [answer(PAGE, kind, &markup)];
            let Ok(inserted) = try_edit(&recorded, &[edit(Action::InsertHead(COMMENT.into()))]) else {
                continue;
            };
            let found = body(&inserted.exchanges);
            prop_assert_eq!(found.len(), markup.len() + COMMENT.len());
            let at = found.windows(COMMENT.len()).position(|part| part == COMMENT.as_bytes());
            let at = at.expect("it was inserted");
            let rest = [&found[..at], &found[at + COMMENT.len()..]].concat();
            prop_assert_eq!(&rest, &markup);
            let remove = Action::Replace {
                text: COMMENT.into(),
                with: String::new(),
            };
            let removed = apply_edits(&inserted.exchanges, &[edit(remove)]);
            prop_assert_eq!(body(&removed.exchanges), &markup[..]);
        }
    }

    #[test]
    fn removing_what_was_inserted_gives_the_same_recording(markup in markup()) {
        let recorded = [page(&markup)];
        let mark = "<b id=eyelevel></b>";
        let Ok(inserted) = try_edit(&recorded, &[edit(Action::InsertHead(mark.into()))]) else {
            return Ok(());
        };
        // If the markup ends inside a tag or raw text, what follows is not an element.
        if let Ok(removed) = try_edit(&inserted.exchanges, &[edit(Action::Remove("#eyelevel".into()))]) {
            prop_assert_eq!(body(&removed.exchanges), &markup[..]);
        }
    }

    #[test]
    fn an_edit_changes_no_other_byte(
        before in markup(), after in markup()
    ) {
        let script = b"<script src=/only.js></script>";
        let recorded = [page([&before[..], script, &after].concat())];
        let Ok(done) = try_edit(&recorded, &[edit(Action::Defer("/only.js".into()))]) else {
            return Ok(());
        };
        let deferred = b"<script src=/only.js defer=\"\"></script>";
        let expected = [&before[..], deferred, &after].concat();
        prop_assert_eq!(body(&done.exchanges), &expected[..]);
    }

    #[test]
    fn bodies_are_encoded_so_that_they_decode(content: Vec<u8>, level in 0_usize..4) {
        let coding = ["br:5", "zstd:3", "gzip:6", "gzip:1"][level];
        let recorded = [answer(PAGE, "text/plain", &content)];
        let done = apply_edits(&recorded, &[edit_in("*", Action::Encode(coding.into()))]);
        let decoded = done.exchanges[0].decoded_body(1 << 20).expect("it was just encoded");
        prop_assert_eq!(&*decoded, &content[..]);
    }
}

#[test]
fn other_objects_and_fields_stay_as_they_are() {
    let other = answer("https://shop.test/x.css", "text/css", "a{}");
    let recorded = [page("<head>"), other];
    let done = apply_edits(&recorded, &[edit(Action::InsertHead("x".into()))]);
    assert_eq!(
        done.exchanges[1],
        Exchange {
            index: 1,
            ..recorded[1].clone()
        }
    );
    let fields = |exchange: &Exchange| -> Vec<String> {
        exchange
            .response_headers
            .iter()
            .map(|header| header.name.clone())
            .collect()
    };
    assert_eq!(fields(&done.exchanges[0]), fields(&recorded[0]));
}

#[test]
fn a_tag_whose_text_the_parser_reads_in_two_ways_is_refused() {
    let insert = edit(Action::InsertHead("<!--x-->".into()));
    for markup in [
        "<script a=><head>",
        "<p><script a=>if (b) '<head>'</script>",
        "<style a= ><p></style>",
    ] {
        let refused = try_edit(&[page(markup)], std::slice::from_ref(&insert)).unwrap_err();
        assert!(refused.to_string().contains("<script a=>"), "{refused}");
    }
    for markup in [
        "<script a=></script><p>",
        "<p a=><b>",
        "<script a=b><p></script>",
    ] {
        let done = apply_edits(&[page(markup)], std::slice::from_ref(&insert));
        assert_eq!(body(&done.exchanges).len(), markup.len() + 8, "{markup}");
    }
}

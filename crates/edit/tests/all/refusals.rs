//! An edit that matches nothing is refused in one line with the nearest name.

use crate::support::{edit, edit_in, expect_refusal, shop};
use eyelevel_edit::Action;

fn text(text: &str) -> String {
    text.to_owned()
}

#[test]
fn unmatched_edits_name_the_nearest() {
    let markup = "<head><script src=/app.js defer></script><img class=hero src=/hero.jpg>\
                  <script src=//cdn.test/lib.js></script>";
    for (action, said) in [
        (Action::Defer(text("/ap.js")), "the nearest is `/app.js`"),
        (Action::Defer(text("/app.js")), "so already"),
        (
            Action::Defer(text("/hero.jpg")),
            "none of these kinds: classic scripts",
        ),
        (Action::Lazy(text("img.hero2")), "the nearest is `img.hero`"),
        (
            Action::Lazy(text("hero.jpg")),
            "write an object with a slash, such as `/hero.jpg`",
        ),
        (Action::Lazy(text("img[")), "is no selector"),
        (
            Action::Remove(text("#none")),
            "no element of the page matches",
        ),
        (
            Action::Preload(text("/hero2.jpg")),
            "the nearest is `/hero.jpg`",
        ),
        (
            Action::Preload(text("/lob.js")),
            "the nearest is `https://cdn.test/lib.js`",
        ),
        (Action::Modulepreload(text("/hero.jpg")), "names no script"),
        (
            Action::Preconnect(text("https://cdn.tst")),
            "the nearest is `https://cdn.test`",
        ),
        (Action::Preconnect(text("shop.test")), "no other origin"),
        (
            Action::Inline(text("/site.css")),
            "no element of the page names",
        ),
        (Action::Block(text("cdn.tests")), "no object `cdn.tests`"),
        (
            Action::Block(text("shop.test")),
            "the page https://shop.test/ itself",
        ),
        (
            Action::Header(text("x-none:")),
            "no object that it names has the field `x-none`",
        ),
        (Action::Header(text("nonsense")), "write `NAME: VALUE`"),
        (
            Action::Header(text("content-length: 1")),
            "follows from the body",
        ),
        (Action::Encode(text("br:12")), "is no coding"),
        (Action::Encode(text("zip")), "is no coding"),
        (Action::FontDisplay(text("swop")), "the nearest is `swap`"),
        (
            Action::FontDisplay(text("swap")),
            "no style sheet has a font face",
        ),
        (Action::InsertHead(text(" ")), "no markup"),
        (Action::Body("none".into()), "names no object"),
        (
            Action::Fetchpriority {
                target: text("img"),
                value: text("urgent"),
            },
            "write high, low or auto",
        ),
        (
            Action::Replace {
                text: text("none"),
                with: text("x"),
            },
            "does not stand in https://shop.test/",
        ),
    ] {
        let refused = expect_refusal(&shop(markup), edit(action));
        assert!(refused.contains(said), "{refused}");
        assert!(!refused.contains('\n'), "{refused}");
    }
    let refused = expect_refusal(&shop(markup), edit_in("/x", Action::Block(text("/app.js"))));
    assert!(refused.contains("leave out `in`"), "{refused}");
}

#[test]
fn a_script_that_would_run_at_another_time_is_not_put_in() {
    let markup = "<script src=/app.js async></script>";
    let refused = expect_refusal(&shop(markup), edit(Action::Inline(text("/app.js"))));
    assert!(refused.contains("has `async`"), "{refused}");
    let markup = "<script src=/a.mjs type=module></script>";
    let refused = expect_refusal(&shop(markup), edit(Action::Preload(text("/a.mjs"))));
    assert!(refused.contains("write `modulepreload`"), "{refused}");
}

#[test]
fn where_text_could_be_taken_for_tags_the_page_is_refused() {
    let markup = "<select><xmp><script src=/app.js></script></xmp></select>";
    let refused = expect_refusal(&shop(markup), edit(Action::Defer(text("/app.js"))));
    assert!(!refused.contains('\n'), "{refused}");
}

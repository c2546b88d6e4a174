//! The effects of markup edits on a page.

use crate::support::{answer, apply_edits, apply_to_page, edit, edit_in, page, shop};
use eyelevel_edit::Action;

fn text(text: &str) -> String {
    text.to_owned()
}

#[test]
fn elements_are_changed_in_place() {
    let priority = |target: &str, value: &str| Action::Fetchpriority {
        target: text(target),
        value: text(value),
    };
    for (markup, action, expected, matches) in [
        (
            "<p><script src=/app.js></script>&amp;<script>x</script>",
            Action::Defer(text("/app.js")),
            "<p><script src=/app.js defer=\"\"></script>&amp;<script>x</script>",
            1,
        ),
        (
            "<script async src='app.js'></script>",
            Action::Defer(text("/app.js")),
            "<script src='app.js' defer=\"\"></script>",
            1,
        ),
        (
            "<script defer src=/app.js></script><script src=//cdn.test/lib.js></script>",
            Action::Async(text("script")),
            "<script src=/app.js async=\"\"></script><script src=//cdn.test/lib.js async=\"\"></script>",
            2,
        ),
        (
            "<img src=hero.jpg><img srcset='a.jpg 1x, /hero.jpg 2x'>",
            priority("/hero.jpg", "high"),
            "<img src=hero.jpg fetchpriority=\"high\"><img srcset='a.jpg 1x, /hero.jpg 2x' fetchpriority=\"high\">",
            2,
        ),
        (
            "<img class=below src=/hero.jpg><iframe src=x></iframe>",
            Action::Lazy(text("img.below, iframe")),
            "<img class=below src=/hero.jpg loading=\"lazy\"><iframe src=x loading=\"lazy\"></iframe>",
            2,
        ),
        (
            "a<div id=ad><b>x</b></div>c",
            Action::Remove(text("#ad")),
            "ac",
            1,
        ),
        (
            "<link rel=preload href=/hero.jpg as=image><img src=/hero.jpg>",
            Action::Remove(text("/hero.jpg")),
            "",
            2,
        ),
        (
            "<base href=/deep/><script src=../app.js?a=1&amp;b=2></script>",
            Action::Defer(text("/app.js?a=1&b=2")),
            "<base href=/deep/><script src=../app.js?a=1&amp;b=2 defer=\"\"></script>",
            1,
        ),
        (
            "<!-- <script src=/app.js></script> --><script src=/app.js></script>",
            Action::Remove(text("/app.js")),
            "<!-- <script src=/app.js></script> -->",
            1,
        ),
    ] {
        assert_eq!(
            apply_to_page(markup, action),
            (text(expected), matches),
            "{markup}"
        );
    }
}

#[test]
fn lines_are_inserted_where_the_head_begins() {
    let line = "<meta name=x>";
    for (markup, expected) in [
        (
            "<!doctype html><html><head><title>a</title>",
            "<!doctype html><html><head>+<title>a</title>",
        ),
        (
            "<head><meta charset=utf-8><title>a",
            "<head><meta charset=utf-8>+<title>a",
        ),
        (
            "<head><title>a</title><meta charset=utf-8><p>",
            "<head><title>a</title><meta charset=utf-8>+<p>",
        ),
        (
            "<!doctype html><title>a</title>",
            "<!doctype html>+<title>a</title>",
        ),
        (
            "<!doctype html><html lang=en><body>",
            "<!doctype html><html lang=en>+<body>",
        ),
        ("<html>", "<html>+"),
        ("<!-- <head> --><HEAD><p>", "<!-- <head> --><HEAD>+<p>"),
    ] {
        let expected = expected.replace('+', line);
        let found = apply_to_page(markup, Action::InsertHead(text(line)));
        assert_eq!(found, (expected, 1), "{markup}");
    }
}

#[test]
fn a_charset_beyond_the_bytes_where_browsers_look_for_it_is_no_anchor() {
    let comment = format!("<!--{}-->", "x".repeat(1100));
    let markup = format!("<head>{comment}<meta charset=utf-8>");
    let (found, _) = apply_to_page(&markup, Action::InsertHead(text("+")));
    assert_eq!(found, format!("<head>+{comment}<meta charset=utf-8>"));
}

#[test]
fn objects_are_preloaded_as_the_page_asks_for_them() {
    for (markup, object, link) in [
        (
            "<img src=/hero.jpg>",
            "/hero.jpg",
            "<link rel=\"preload\" href=\"/hero.jpg\" as=\"image\">",
        ),
        (
            "<img src=/hero.jpg crossorigin>",
            "/hero.jpg",
            "<link rel=\"preload\" href=\"/hero.jpg\" as=\"image\" crossorigin>",
        ),
        (
            "",
            "/f.woff2",
            "<link rel=\"preload\" href=\"/f.woff2\" as=\"font\" crossorigin>",
        ),
        (
            "<script src=/app.js></script>",
            "app.js",
            "<link rel=\"preload\" href=\"/app.js\" as=\"script\">",
        ),
        (
            "<script src=https://cdn.test/lib.js crossorigin=use-credentials></script>",
            "https://cdn.test/lib.js",
            "<link rel=\"preload\" href=\"https://cdn.test/lib.js\" as=\"script\" crossorigin=\"use-credentials\">",
        ),
        (
            "<base href=https://cdn.test/><img src=https://shop.test/hero.jpg>",
            "/hero.jpg",
            "<link rel=\"preload\" href=\"https://shop.test/hero.jpg\" as=\"image\">",
        ),
    ] {
        let markup = format!("<head>{markup}");
        let (found, matches) = apply_to_page(&markup, Action::Preload(text(object)));
        assert_eq!(
            found,
            markup.replacen("<head>", &format!("<head>{link}"), 1)
        );
        assert_eq!(matches, 1);
    }
    let markup = "<head><script type=module src=/a.mjs></script>";
    let (found, _) = apply_to_page(markup, Action::Modulepreload(text("/a.mjs")));
    assert!(
        found.contains("<link rel=\"modulepreload\" href=\"/a.mjs\">"),
        "{found}"
    );
}

#[test]
fn connections_are_made_as_the_page_needs_them() {
    let mut exchanges = shop("<head>");
    exchanges.push(answer("https://cdn.test/f.woff2", "font/woff2", "x"));
    let done = apply_edits(&exchanges, &[edit(Action::Preconnect(text("cdn.test")))]);
    let link = "<link rel=\"preconnect\" href=\"https://cdn.test\"";
    assert_eq!(
        done.exchanges[0].body,
        format!("<head>{link}>{link} crossorigin>")
    );
    assert_eq!(done.report.edits[0].matches, 2);
}

#[test]
fn several_lines_stand_in_their_order() {
    let edits = [
        edit(Action::InsertHead(text("<meta name=a>"))),
        edit(Action::Preload(text("/hero.jpg"))),
        edit(Action::InsertHead(text("<meta name=b>"))),
    ];
    let done = apply_edits(&shop("<head><title>"), &edits);
    let link = "<link rel=\"preload\" href=\"/hero.jpg\" as=\"image\">";
    let expected = format!("<head><meta name=a>{link}<meta name=b><title>");
    assert_eq!(done.exchanges[0].body, expected);
}

#[test]
fn objects_are_put_into_the_page() {
    let (found, matches) = apply_to_page(
        "<link rel=stylesheet media=print href=/site.css><script src=/app.js integrity=x id=a></script>",
        Action::Inline(text("/site.css")),
    );
    let rest = "<script src=/app.js integrity=x id=a></script>";
    assert_eq!(
        found,
        format!("<style media=\"print\">a{{b:url(\"/x.png\")}}</style>{rest}")
    );
    assert_eq!(matches, 1);
    let (found, _) = apply_to_page(rest, Action::Inline(text("/app.js")));
    assert_eq!(found, "<script id=\"a\">go()</script>");
    let mut exchanges = shop(rest);
    exchanges[1] = answer(
        "https://shop.test/app.js",
        "text/javascript",
        "a='</script>'",
    );
    let done = apply_edits(&exchanges, &[edit(Action::Inline(text("/app.js")))]);
    assert_eq!(
        done.exchanges[0].body,
        "<script id=\"a\">a='<\\/script>'</script>"
    );
}

#[test]
fn the_page_is_where_redirects_lead() {
    let mut start = page("");
    start.status = 301;
    start
        .response_headers
        .push(eyelevel_archive::Header::new("location", "/home"));
    let home = answer("https://shop.test/home", "text/html", "<head>");
    let done = apply_edits(&[start, home], &[edit(Action::InsertHead(text("+")))]);
    assert_eq!(done.exchanges[1].body, "<head>+");
    assert_eq!(done.report.edits[0].objects, ["https://shop.test/home"]);
}

#[test]
fn other_documents_are_named() {
    let mut exchanges = shop("<head>");
    exchanges.push(answer(
        "https://shop.test/frame.html",
        "text/html",
        "<script src=app.js></script>",
    ));
    let done = apply_edits(
        &exchanges,
        &[edit_in("/frame.html", Action::Defer(text("/app.js")))],
    );
    assert_eq!(done.exchanges[0].body, "<head>");
    assert_eq!(
        done.exchanges[7].body,
        "<script src=app.js defer=\"\"></script>"
    );
}

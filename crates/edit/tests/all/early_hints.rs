//! The objects that Early Hints name are those that hold up the first paint.

use crate::support::{PAGE, answer, page, shop, with_field};
use eyelevel_archive::{Exchange, Header, Url};
use eyelevel_edit::{EarlyHints, find_early_hints};

/// Creates the shop of `shop`, whose objects stay fresh for an hour.
fn fresh_shop(markup: impl AsRef<[u8]>) -> Vec<Exchange> {
    let fresh = |each| with_field(each, "Cache-Control", "max-age=3600");
    shop(markup).into_iter().map(fresh).collect()
}

fn find(exchanges: &[Exchange]) -> EarlyHints {
    find_early_hints(exchanges, &PAGE.parse().unwrap()).unwrap_or_else(|error| panic!("{error}"))
}

fn refusal(exchanges: &[Exchange]) -> String {
    find_early_hints(exchanges, &PAGE.parse().unwrap())
        .expect_err("a refusal")
        .to_string()
}

fn left_out(hints: &EarlyHints) -> Vec<(String, &str)> {
    let each = hints.left_out.iter();
    each.map(|each| (each.url.to_string(), each.reason))
        .collect()
}

#[test]
fn style_sheets_and_synchronous_scripts_of_the_head_are_named_in_order() {
    let hints = find(&fresh_shop(
        "<!doctype html><html><head><title>x</title><meta charset=utf-8>\
         <script src=app.js crossorigin></script>\
         <link rel='preload stylesheet' href='/site.css#x'><link rel=stylesheet href=site.css>\
         </head><body><script src=/late.js></script>",
    ));
    assert_eq!(
        hints.link,
        "</app.js>; rel=preload; as=script; crossorigin, </site.css>; rel=preload; as=style"
    );
    let urls: Vec<String> = hints.hinted.iter().map(Url::to_string).collect();
    assert_eq!(
        urls,
        ["https://shop.test/app.js", "https://shop.test/site.css"]
    );
    assert_eq!(left_out(&hints), []);
    assert_eq!(hints.page.to_string(), PAGE);
}

#[test]
fn what_holds_up_no_paint_is_not_named() {
    for other in [
        "<script async src=app.js></script>",
        "<script defer src=app.js></script>",
        "<script type=module src=app.js></script>",
        "<script nomodule src=app.js></script>",
        "<script type=text/template src=app.js></script>",
        "<script>app.js</script>",
        "<link rel='alternate stylesheet' href=app.js>",
        "<link rel=stylesheet disabled href=app.js>",
        "<link rel=stylesheet media=print href=app.js>",
        "<link rel=stylesheet type=text/less href=app.js>",
        "<link rel=icon href=app.js>",
        "<noscript><link rel=stylesheet href=app.js></noscript>",
        "<template><link rel=stylesheet href=app.js></template>",
    ] {
        let hints = find(&fresh_shop(format!(
            "{other}<link rel=stylesheet href=site.css>"
        )));
        assert_eq!(hints.link, "</site.css>; rel=preload; as=style", "{other}");
        assert_eq!(left_out(&hints), [], "{other}");
    }
    for body in ["<body>", "<p>", "</head><div>"] {
        let markup =
            format!("<link rel=stylesheet href=site.css>{body}<script src=app.js></script>");
        assert_eq!(find(&fresh_shop(markup)).hinted.len(), 1, "{body}");
    }
}

#[test]
fn what_cannot_be_named_is_left_out_with_its_reason() {
    let mut exchanges = fresh_shop(
        "<link rel=stylesheet href=site.css><script src=app.js></script>\
         <script src=//cdn.test/lib.js></script><script src=lost.js></script>\
         <link rel=stylesheet href=wide.css media='(min-width: 60em)'>",
    );
    exchanges[1] = with_field(exchanges[1].clone(), "Cache-Control", "private, No-Store");
    let hints = find(&exchanges);
    assert_eq!(hints.link, "</site.css>; rel=preload; as=style");
    let expected = [
        ("app.js", "is `no-store`: the browser would fetch it twice"),
        ("lost.js", "was not recorded"),
        (
            "wide.css",
            "has a media query, which no server can evaluate",
        ),
    ];
    let mut expected = expected
        .map(|(name, why)| (format!("{PAGE}{name}"), why))
        .to_vec();
    expected.insert(
        1,
        ("https://cdn.test/lib.js".into(), "is of another origin"),
    );
    assert_eq!(left_out(&hints), expected);
}

#[test]
fn what_the_cache_cannot_keep_for_the_page_is_left_out() {
    const DATE: &str = "Thu, 01 Jan 2026 12:00:00 GMT";
    const LATER: &str = "Thu, 01 Jan 2026 12:00:01 GMT";
    let stale = Some("is stale at once and has no validator: the browser would fetch it twice");
    let never = Some("is `no-store`: the browser would fetch it twice");
    for (fields, reason) in [
        (&[][..], stale),
        (&[("Cache-Control", "max-age=1")], None),
        (&[("Cache-Control", "public, MAX-AGE=\"60\"")], None),
        (&[("Cache-Control", "max-age=0")], stale),
        (&[("Cache-Control", "max-age=x"), ("Expires", LATER)], stale),
        (
            &[
                ("Cache-Control", "max-age=60"),
                ("Cache-Control", "no-cache"),
            ],
            stale,
        ),
        (&[("Cache-Control", "no-cache"), ("ETag", "\"1\"")], None),
        (&[("Cache-Control", "no-store"), ("ETag", "\"1\"")], never),
        (&[("Last-Modified", DATE)], None),
        (&[("Expires", LATER), ("Date", DATE)], None),
        (&[("Expires", DATE), ("Date", DATE)], stale),
        (&[("Expires", "0"), ("Date", DATE)], stale),
    ] {
        let mut exchanges = shop("<link rel=stylesheet href=site.css><script src=app.js></script>");
        exchanges[1] = with_field(exchanges[1].clone(), "Cache-Control", "max-age=60");
        for (name, value) in fields {
            exchanges[2] = with_field(exchanges[2].clone(), name, value);
        }
        let hints = find(&exchanges);
        let found = hints.left_out.first().map(|each| each.reason);
        assert_eq!(found, reason, "{fields:?}");
    }
}

#[test]
fn a_field_has_at_most_eight_kibibytes() {
    let name = |number: usize| format!("{}-{number:02}.css", "x".repeat(800));
    let link = |number| format!("<link rel=stylesheet href={}>", name(number));
    let mut exchanges = vec![page((0..12).map(link).collect::<String>())];
    for number in 0..12 {
        exchanges.push(with_field(
            answer(&format!("{PAGE}{}", name(number)), "text/css", ""),
            "ETag",
            "1",
        ));
    }
    let hints = find(&exchanges);
    assert_eq!((hints.hinted.len(), hints.left_out.len()), (9, 3));
    assert!(hints.link.len() <= 8192);
}

#[test]
fn redirects_lead_to_the_page_and_its_base_to_the_objects() {
    let mut exchanges = fresh_shop("");
    exchanges[0].status = 302;
    exchanges[0]
        .response_headers
        .push(Header::new("Location", "/home/".to_owned()));
    let markup = "<base href=/><base href=/other/><link rel=stylesheet href=site.css>";
    exchanges.push(answer("https://shop.test/home/", "text/html", markup));
    let hints = find(&exchanges);
    assert_eq!(hints.page.to_string(), "https://shop.test/home/");
    assert_eq!(hints.link, "</site.css>; rel=preload; as=style");
}

#[test]
fn a_page_without_any_is_refused_with_the_reason() {
    assert_eq!(
        refusal(&fresh_shop("<p>a</p>")),
        "cannot send Early Hints for https://shop.test/: no style sheet or synchronous script is in \
         its head; leave `early_hints` out"
    );
    let far = refusal(&fresh_shop("<script src=//cdn.test/lib.js></script>"));
    assert!(
        far.contains("https://cdn.test/lib.js is of another origin, and no other"),
        "{far}"
    );
    let text = refusal(&[answer(PAGE, "text/plain", "a")]);
    assert!(text.contains("no HTML document"), "{text}");
}

//! Integrity hashes and policies stay valid for browsers.

use crate::support::{
    PAGE, answer, apply_edits, edit, edit_in, expect_refusal, page, shop, with_field,
};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use eyelevel_archive::Exchange;
use eyelevel_edit::Action;
use sha2::{Digest, Sha256, Sha384};

fn sha384(text: &str) -> String {
    format!("sha384-{}", STANDARD.encode(Sha384::digest(text)))
}

fn replace(within: &str, text: &str, with: &str) -> eyelevel_edit::Edit {
    let action = Action::Replace {
        text: text.to_owned(),
        with: with.to_owned(),
    };
    edit_in(within, action)
}

fn body(exchange: &Exchange) -> &str {
    std::str::from_utf8(&exchange.body).unwrap()
}

#[test]
fn integrity_hashes_are_recomputed_transitively() {
    let loader = format!("load('lib.js','{}')", sha384("lib()"));
    let markup = format!(
        "<script src=/app.js integrity=\"{}\"></script>",
        sha384(&loader)
    );
    let mut exchanges = shop(markup);
    exchanges[1] = answer("https://shop.test/app.js", "text/javascript", &loader);
    let done = apply_edits(
        &exchanges,
        &[replace("https://cdn.test/lib.js", "lib()", "other()")],
    );
    let loader = format!("load('lib.js','{}')", sha384("other()"));
    assert_eq!(body(&done.exchanges[1]), loader);
    let expected = format!(
        "<script src=/app.js integrity=\"{}\"></script>",
        sha384(&loader)
    );
    assert_eq!(body(&done.exchanges[0]), expected);
    assert_eq!(done.report.integrity_hashes, 2);
}

#[test]
fn a_hash_of_two_objects_is_not_guessed() {
    let markup = format!("<script src=/app.js integrity={}></script>", sha384("go()"));
    let mut exchanges = shop(markup);
    exchanges.push(answer(
        "https://cdn.test/copy.js",
        "text/javascript",
        "go()",
    ));
    let said = expect_refusal(&exchanges, replace("/app.js", "go", "run"));
    assert!(said.contains("https://cdn.test/copy.js"), "{said}");
    let done = apply_edits(&exchanges, &[replace("*.js", "go", "run")]);
    assert!(body(&done.exchanges[0]).contains(&sha384("run()")));
}

#[test]
fn inline_texts_are_permitted_by_the_policies_that_would_refuse_them() {
    let hash = format!("'sha256-{}'", STANDARD.encode(Sha256::digest("go()")));
    let markup = "<meta http-equiv=Content-Security-Policy content=\"script-src 'self'\">\
                  <script src=/app.js></script>";
    let mut exchanges = shop(markup);
    exchanges[0] = with_field(
        exchanges[0].clone(),
        "content-security-policy",
        "default-src 'self'",
    );
    exchanges[0] = with_field(
        exchanges[0].clone(),
        "content-security-policy-report-only",
        "default-src 'self'",
    );
    let done = apply_edits(&exchanges, &[edit(Action::Inline("/app.js".to_owned()))]);
    let expected = format!(
        "<meta http-equiv=Content-Security-Policy content=\"script-src 'self' {hash}\">\
         <script>go()</script>"
    );
    assert_eq!(body(&done.exchanges[0]), expected);
    let field = |name: &str| done.exchanges[0].response_header(name).unwrap().to_owned();
    assert_eq!(
        field("content-security-policy"),
        format!("default-src 'self' {hash}")
    );
    assert_eq!(
        field("content-security-policy-report-only"),
        "default-src 'self'"
    );
    assert_eq!(done.report.policy_hashes, 2);
}

#[test]
fn a_nonce_is_kept_and_needs_no_hash() {
    let mut exchanges = shop("<script nonce=abc src=/app.js></script>");
    let policy = "script-src 'nonce-abc'";
    exchanges[0] = with_field(exchanges[0].clone(), "Content-Security-Policy", policy);
    let done = apply_edits(&exchanges, &[edit(Action::Inline("/app.js".to_owned()))]);
    assert_eq!(
        body(&done.exchanges[0]),
        "<script nonce=\"abc\">go()</script>"
    );
    let found = done.exchanges[0].response_header("content-security-policy");
    assert_eq!(found, Some(policy));
}

#[test]
fn unrecorded_objects_are_not_requested() {
    let insert = Action::InsertHead("<script src=/ap.js></script>".to_owned());
    let said = expect_refusal(&shop("<head>"), edit(insert));
    assert!(
        said.contains("https://shop.test/ap.js, which was not recorded"),
        "{said}"
    );
    assert!(said.contains("`https://shop.test/app.js`"), "{said}");
}

#[test]
fn objects_with_range_responses_are_not_edited() {
    let mut part = answer(PAGE, "text/html", "<p");
    part.status = 206;
    let said = expect_refusal(
        &[page("<p>x"), part],
        edit(Action::InsertHead("x".to_owned())),
    );
    assert!(said.contains("206"), "{said}");
}

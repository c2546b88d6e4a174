//! What browsers compare stays true: integrity hashes and policies.

use crate::support::{PAGE, answer, edit, edit_in, edited, page, refusal, shop, with_field};
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
fn integrity_hashes_are_computed_again_through_what_names_what() {
    let loader = format!("load('lib.js','{}')", sha384("lib()"));
    let markup = format!(
        "<script src=/app.js integrity=\"{}\"></script>",
        sha384(&loader)
    );
    let mut exchanges = shop(markup);
    exchanges[1] = answer("https://shop.test/app.js", "text/javascript", &loader);
    let done = edited(
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
    let said = refusal(&exchanges, replace("/app.js", "go", "run"));
    assert!(said.contains("https://cdn.test/copy.js"), "{said}");
    let done = edited(&exchanges, &[replace("*.js", "go", "run")]);
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
    let done = edited(&exchanges, &[edit(Action::Inline("/app.js".to_owned()))]);
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
    let done = edited(&exchanges, &[edit(Action::Inline("/app.js".to_owned()))]);
    assert_eq!(
        body(&done.exchanges[0]),
        "<script nonce=\"abc\">go()</script>"
    );
    let found = done.exchanges[0].response_header("content-security-policy");
    assert_eq!(found, Some(policy));
}

#[test]
fn what_was_not_recorded_is_not_asked_for() {
    let insert = Action::InsertHead("<script src=/ap.js></script>".to_owned());
    let said = refusal(&shop("<head>"), edit(insert));
    assert!(
        said.contains("https://shop.test/ap.js, which was not recorded"),
        "{said}"
    );
    assert!(said.contains("`https://shop.test/app.js`"), "{said}");
}

#[test]
fn parts_of_what_changes_are_not_left_as_they_were() {
    let mut part = answer(PAGE, "text/html", "<p");
    part.status = 206;
    let said = refusal(
        &[page("<p>x"), part],
        edit(Action::InsertHead("x".to_owned())),
    );
    assert!(said.contains("206"), "{said}");
}

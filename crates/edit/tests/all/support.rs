//! Hand-made recordings.

use bytes::Bytes;
use eyelevel_archive::{Exchange, Header, Url};
use eyelevel_edit::{Action, Edit, Edited, Error, apply};

/// The page of every recording here.
pub const PAGE: &str = "https://shop.test/";

/// Creates a response with status 200.
pub fn answer(url: &str, media_type: &str, body: impl AsRef<[u8]>) -> Exchange {
    let body = Bytes::copy_from_slice(body.as_ref());
    Exchange {
        index: 0,
        method: "GET".into(),
        url: url.parse().unwrap(),
        request_headers: Vec::new(),
        request_body: Bytes::new(),
        status: 200,
        reason: "OK".into(),
        response_headers: vec![
            Header::new("Content-Type", media_type.to_owned()),
            Header::new("Content-Length", body.len().to_string()),
        ],
        body,
        address: None,
        protocol: "http/1.1".into(),
        recorded_at_unix_ms: None,
        time_to_first_byte_ms: None,
        initiator: None,
    }
}

/// Creates the page with this markup.
pub fn page(markup: impl AsRef<[u8]>) -> Exchange {
    answer(PAGE, "text/html; charset=utf-8", markup)
}

/// Creates a page, and objects that it may name.
pub fn shop(markup: impl AsRef<[u8]>) -> Vec<Exchange> {
    vec![
        page(markup),
        answer("https://shop.test/app.js", "text/javascript", "go()"),
        answer("https://shop.test/site.css", "text/css", "a{b:url(x.png)}"),
        answer(
            "https://shop.test/hero.jpg",
            "image/jpeg",
            [0xff, 0xd8, 0xff],
        ),
        answer("https://shop.test/a.mjs", "text/javascript", "export{}"),
        answer("https://shop.test/f.woff2", "font/woff2", "wOF2"),
        answer("https://cdn.test/lib.js", "text/javascript", "lib()"),
    ]
}

/// Adds a response field.
pub fn with_field(mut exchange: Exchange, name: &str, value: &str) -> Exchange {
    exchange
        .response_headers
        .push(Header::new(name, value.to_owned()));
    exchange
}

/// Creates an edit, named after its action.
pub fn edit(action: Action) -> Edit {
    Edit {
        name: format!("{action:?}"),
        within: None,
        action,
    }
}

/// Creates an edit of the objects that match a pattern.
pub fn edit_in(within: &str, action: Action) -> Edit {
    Edit {
        within: Some(within.to_owned()),
        ..edit(action)
    }
}

/// Applies edits to a recording.
pub fn apply_edits(exchanges: &[Exchange], edits: &[Edit]) -> Edited {
    try_edit(exchanges, edits).unwrap_or_else(|error| panic!("{error}"))
}

/// Applies edits to a recording, or returns the error.
pub fn try_edit(exchanges: &[Exchange], edits: &[Edit]) -> Result<Edited, Error> {
    let main_url: Url = PAGE.parse().unwrap();
    apply(exchanges.to_vec(), &main_url, edits)
}

/// Returns the page's markup after one edit, and the number of matches.
pub fn apply_to_page(markup: &str, action: Action) -> (String, usize) {
    let done = apply_edits(&shop(markup), &[edit(action)]);
    let body = String::from_utf8(done.exchanges[0].body.to_vec()).unwrap();
    (body, done.report.edits[0].matches)
}

/// Returns why an edit is refused.
pub fn expect_refusal(exchanges: &[Exchange], edit: Edit) -> String {
    try_edit(exchanges, &[edit])
        .expect_err("a refusal")
        .to_string()
}

use bytes::Bytes;
use eyelevel_archive::{Exchange, Header};
use eyelevel_edit::{Action, Edit, apply};

use crate::targets::check_message;

const PAGE: &str = "https://a.test/";
const COMMENT: &str = "<!--x-->";
const BODY_BYTES_MAX: u64 = 4 << 20;

/// Edits a document; the first line is its content type. Inserting a comment changes nothing else,
/// and each other edit of its markup is applied or refused in one line.
pub(crate) fn run(input: &[u8]) {
    let end = input.iter().position(|byte| *byte == b'\n');
    let (kind, body) = input.split_at(end.unwrap_or(input.len()));
    let body = body.get(1..).unwrap_or(&[]);
    let kind = [b"text/html;charset=", kind].concat();
    let recorded = [
        create_response(PAGE, kind, body),
        create_response("https://a.test/x", "text/css", "a{}"),
    ];
    let comment = Action::InsertHead(COMMENT.into());
    if let Ok(document) = apply_edit(&recorded, comment) {
        let wide = document.len() - body.len();
        assert!(
            wide == COMMENT.len() || wide == 2 * COMMENT.len(),
            "{wide} bytes more"
        );
        let same = document
            .iter()
            .zip(body)
            .take_while(|(one, other)| one == other)
            .count();
        assert_eq!(
            document[same + wide..],
            body[same..],
            "what follows has changed"
        );
    }
    for action in [
        Action::Defer("script".into()),
        Action::Remove("p, /x".into()),
        Action::Preload("/x".into()),
        Action::Inline("/x".into()),
        Action::Lazy("*".into()),
        Action::FontDisplay("swap".into()),
        Action::Replace {
            text: "a".into(),
            with: "bc".into(),
        },
    ] {
        if let Err(error) = apply_edit(&recorded, action) {
            check_message(&error);
        }
    }
}

fn create_response(url: &str, kind: impl AsRef<[u8]>, body: impl AsRef<[u8]>) -> Exchange {
    Exchange {
        index: 0,
        method: "GET".into(),
        url: url.parse().expect("it is a URL"),
        request_headers: Vec::new(),
        request_body: Bytes::new(),
        status: 200,
        reason: String::new(),
        response_headers: vec![Header::new(
            "content-type",
            Bytes::copy_from_slice(kind.as_ref()),
        )],
        body: Bytes::copy_from_slice(body.as_ref()),
        address: None,
        protocol: "http/1.1".into(),
        recorded_at_unix_ms: None,
        time_to_first_byte_ms: None,
        initiator: None,
    }
}

/// Applies one edit and returns the document.
fn apply_edit(recorded: &[Exchange], action: Action) -> Result<Vec<u8>, eyelevel_edit::Error> {
    let main_url = PAGE.parse().expect("it is a URL");
    let edit = Edit {
        name: "an edit".into(),
        within: None,
        action,
    };
    let done = apply(recorded.to_vec(), &main_url, &[edit])?;
    let body = done.exchanges[0].decoded_body(BODY_BYTES_MAX);
    Ok(body.expect("it has no coding").into_owned())
}

use crate::targets::check_message;
use bytes::Bytes;
use eyelevel_archive::{Format, import_content, response_headers_to_send, secure};

/// Checks the import of another tool's file: it is refused in one line, or its exchanges can be
/// replayed, also after conversion to https.
pub(super) fn check(format: Format, input: Bytes) {
    let mut imported = match import_content(format, input) {
        Ok(imported) => imported,
        Err(error) => return check_message(&error),
    };
    for sentence in &imported.provenance.left_out {
        check_message(sentence);
    }
    let before = imported.exchanges.len();
    secure(&mut imported);
    assert!(imported.exchanges.len() <= before);
    for exchange in &imported.exchanges {
        assert_eq!(exchange.url.scheme.to_string(), "https");
        for header in response_headers_to_send(exchange) {
            assert!(header.is_valid(), "{header:?}");
        }
    }
}

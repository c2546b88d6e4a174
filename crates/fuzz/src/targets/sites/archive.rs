use crate::targets::check_message;
use bytes::Bytes;
use eyelevel_archive::{Site, response_headers_to_send};

/// Opens a recorded site: WARC, plain or gzip, or WACZ. A site that opens can be described,
/// verified and replayed.
pub(crate) fn run(input: &[u8]) {
    let site = match Site::from_bytes("a.warc", Bytes::copy_from_slice(input)) {
        Ok(site) => site,
        Err(error) => {
            check_message(&error);
            return assert!(error.to_string().contains("a.warc"), "{error}");
        }
    };
    let info = site.info();
    assert_eq!(info.objects, site.exchanges().len());
    assert!(info.dependency_depth <= info.objects.max(1));
    for note in site.notes() {
        check_message(&note.message);
    }
    for exchange in site.exchanges() {
        assert!(
            site.origins()
                .iter()
                .any(|origin| origin.host == exchange.url.host)
        );
        for header in response_headers_to_send(exchange) {
            assert!(header.is_valid(), "{header:?}");
        }
    }
    if let Err(error) = site.verify() {
        check_message(&error);
    }
}

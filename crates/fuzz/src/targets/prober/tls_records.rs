use crate::targets::check_message;
use eyelevel_probe::wire::feed_client;
use eyelevel_probe::{Protocol, Trust};
use std::sync::LazyLock;

/// The trusted roots, read once.
static TRUST: LazyLock<Trust> = LazyLock::new(|| Trust::new(None).expect("this machine's roots"));

/// Parses a server's TCP bytes to the prober, from the first one on. The first byte of the input
/// selects what the prober offers; a handshake without the keys does not succeed.
pub(crate) fn run(input: &[u8]) {
    let Some((choice, bytes)) = input.split_first() else {
        return;
    };
    let protocol = [Protocol::Tls12, Protocol::Tls13, Protocol::TlsAny][usize::from(*choice) % 3];
    for piece_bytes in [bytes.len().max(1), 5] {
        match feed_client(&TRUST, protocol, bytes.chunks(piece_bytes)) {
            Ok((is_over, _)) => assert!(!is_over),
            Err(failure) => check_message(&failure.detail),
        }
    }
}

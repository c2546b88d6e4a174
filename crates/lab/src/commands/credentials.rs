//! `eyelevel-lab credentials`: the key by which the processes of one run authenticate each other.
//! It goes to standard output only, so that no file need ever hold the key.

use crate::Error;
use crate::emit::emit;
use eyelevel_replay::tls::self_signed_pem;
use serde_json::json;

const NAME: &str = "eyelevel cluster";

/// Prints a new key and its certificate, as PEM in one JSON object.
///
/// # Errors
///
/// Fails like [`self_signed_pem`].
pub fn run() -> Result<i32, Error> {
    let (key, certificate) = self_signed_pem(NAME)?;
    emit(&json!({"key": key, "certificate": certificate}));
    Ok(0)
}

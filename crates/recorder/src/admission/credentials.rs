//! Credentials for a proxy that any process of the machine can connect to.

use std::fmt::Write as _;

use aws_lc_rs::constant_time::verify_slices_are_equal;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::{HeaderMap, header};

use crate::RecordError;

const USER: &str = "eyelevel";
const PASSWORD_BYTES: usize = 16;
const SCHEME: &str = "basic ";
/// The challenge for a client without credentials (RFC 7617).
pub const CHALLENGE: &str = "Basic realm=\"eyelevel record\", charset=\"UTF-8\"";

/// A user name and a password that are unique to a run.
pub struct Credentials {
    password: String,
    /// The value that clients send after the scheme.
    encoded: String,
}

impl Credentials {
    /// Creates credentials with a random password.
    ///
    /// # Errors
    ///
    /// Fails if the system has no random numbers.
    pub fn new() -> Result<Self, RecordError> {
        let mut bytes = [0; PASSWORD_BYTES];
        aws_lc_rs::rand::fill(&mut bytes).map_err(|error| RecordError::Setup {
            attempt: "make a password".to_owned(),
            reason: error.to_string(),
            remedy: "let this machine give random numbers (getrandom)",
        })?;
        let mut password = String::new();
        for byte in bytes {
            let _ = write!(password, "{byte:02x}"); // to a String
        }
        let encoded = STANDARD.encode(format!("{USER}:{password}"));
        Ok(Self { password, encoded })
    }

    /// Returns `name:password`, as in a proxy's URL.
    pub fn to_user_info(&self) -> String {
        format!("{USER}:{}", self.password)
    }

    /// Whether a request has these credentials, compared in constant time.
    pub(crate) fn match_request(&self, headers: &HeaderMap) -> bool {
        let given = headers.get(header::PROXY_AUTHORIZATION);
        let given = given.map_or(&[][..], |value| value.as_bytes());
        let (scheme, rest) = given.split_at(SCHEME.len().min(given.len()));
        let is_basic = scheme.eq_ignore_ascii_case(SCHEME.as_bytes());
        is_basic && verify_slices_are_equal(rest, self.encoded.as_bytes()).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_runs_own_credentials_are_right() {
        let (credentials, others) = (Credentials::new().unwrap(), Credentials::new().unwrap());
        assert_ne!(credentials.to_user_info(), others.to_user_info());
        assert_eq!(credentials.password.len(), 2 * PASSWORD_BYTES);
        let are_right = |value: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::PROXY_AUTHORIZATION, value.parse().unwrap());
            credentials.match_request(&headers)
        };
        let encoded = &credentials.encoded;
        assert!(are_right(&format!("Basic {encoded}")) && are_right(&format!("bASIC {encoded}")));
        for wrong in [
            "",
            "Basic",
            "Basic ",
            encoded,
            &format!("Bearer {encoded}"),
            &format!("Basic {}", others.encoded),
            &format!("Basic {encoded}="),
            &format!("Basic {}", &encoded[..encoded.len() - 1]),
        ] {
            assert!(!are_right(wrong), "{wrong}");
        }
        assert!(!credentials.match_request(&HeaderMap::new()));
        assert_eq!(
            STANDARD.decode(encoded).unwrap(),
            credentials.to_user_info().as_bytes()
        );
    }
}

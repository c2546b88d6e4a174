//! Who may use a proxy that any process of the machine can connect to.

use std::fmt::Write as _;

use aws_lc_rs::constant_time::verify_slices_are_equal;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::{HeaderMap, header};

use crate::RecordError;

const USER: &str = "eyelevel";
const PASSWORD_BYTES: usize = 16;
const SCHEME: &str = "basic ";
/// What a client without them is told to send (RFC 7617).
pub const CHALLENGE: &str = "Basic realm=\"eyelevel record\", charset=\"UTF-8\"";

/// A name and a password of one run's own.
pub struct Credentials {
    password: String,
    /// What clients send, after the scheme.
    encoded: String,
}

impl Credentials {
    /// With a password that nobody has had.
    ///
    /// # Errors
    /// Where the system has no random numbers.
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

    /// `name:password`, as they stand in a proxy's URL.
    pub fn told(&self) -> String {
        format!("{USER}:{}", self.password)
    }

    /// Whether a request has them; how long that takes says nothing of how much of them is right.
    pub(crate) fn are_in(&self, headers: &HeaderMap) -> bool {
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
        assert_ne!(credentials.told(), others.told());
        assert_eq!(credentials.password.len(), 2 * PASSWORD_BYTES);
        let are_right = |value: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::PROXY_AUTHORIZATION, value.parse().unwrap());
            credentials.are_in(&headers)
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
        assert!(!credentials.are_in(&HeaderMap::new()));
        assert_eq!(
            STANDARD.decode(encoded).unwrap(),
            credentials.told().as_bytes()
        );
    }
}

use super::certificate::base_params;
use crate::ReplayError;
use rcgen::{KeyPair, PKCS_ECDSA_P256_SHA256};

/// Creates a key and a certificate that it signs itself, and returns both as PEM, in this order.
///
/// Processes that share both can authenticate each other: each presents the certificate and accepts
/// no other one.
///
/// # Errors
/// [`ReplayError::Certificate`] when the library refuses.
pub fn self_signed_pem(name: &str) -> Result<(String, String), ReplayError> {
    let failed = |error: rcgen::Error| ReplayError::certificate(name, error);
    let key = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256).map_err(failed)?;
    let certificate = base_params(name, Vec::new())
        .and_then(|params| params.self_signed(&key))
        .map_err(failed)?;
    Ok((key.serialize_pem(), certificate.pem()))
}

#[cfg(test)]
mod tests {
    use super::self_signed_pem;

    #[test]
    fn each_pair_is_new() {
        let (key, certificate) = self_signed_pem("eyelevel cluster").unwrap();
        let (other_key, other_certificate) = self_signed_pem("eyelevel cluster").unwrap();
        assert!(key.starts_with("-----BEGIN PRIVATE KEY-----\n"));
        assert!(certificate.starts_with("-----BEGIN CERTIFICATE-----"));
        assert!(!certificate.contains("PRIVATE"));
        assert_ne!(key, other_key);
        assert_ne!(certificate, other_certificate);
    }
}

use crate::ProbeError;
use aws_lc_rs::rand;
use rcgen::{
    BasicConstraints, CertificateParams, CustomExtension, DnType, ExtendedKeyUsagePurpose, IsCa,
    Issuer, KeyPair, KeyUsagePurpose, PKCS_ECDSA_P256_SHA256, date_time_ymd,
};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};

/// The identifier of an extension that no client recognises or needs to (the arc for examples,
/// ISO/IEC 9834-1).
const PADDING_OID: [u64; 4] = [2, 999, 1, 1];

/// A certificate, its key and its authority.
#[derive(Debug)]
pub struct Certificate {
    /// The leaf; it is sent alone.
    pub leaf: CertificateDer<'static>,
    /// Its key: ECDSA over P-256.
    pub key: PrivateKeyDer<'static>,
    /// The authority to trust, as PEM.
    pub authority_pem: String,
}

impl Certificate {
    /// Creates a certificate for `names`, padded to `bytes` of DER if that is more than it needs.
    ///
    /// # Errors
    /// [`ProbeError::Configuration`] with the library's message.
    pub fn new(names: &[String], bytes: Option<usize>) -> Result<Self, ProbeError> {
        let failed = |error: rcgen::Error| ProbeError::Configuration(error.to_string());
        let key = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256).map_err(failed)?;
        let mut params = parameters("eyelevel probe authority", Vec::new()).map_err(failed)?;
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
        let authority_pem = params.self_signed(&key).map_err(failed)?.pem();
        let issuer = Issuer::new(params, key);
        let leaf_key = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256).map_err(failed)?;
        let signed = |padding: usize| {
            let mut params = parameters("eyelevel probe target", names.to_vec())?;
            params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
            params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
            if padding > 0 {
                let mut noise = vec![0; padding];
                rand::fill(&mut noise).map_err(|_| rcgen::Error::RingUnspecified)?;
                let extension = CustomExtension::from_oid_content(&PADDING_OID, noise);
                params.custom_extensions.push(extension);
            }
            params.signed_by(&leaf_key, &issuer)
        };
        let mut leaf = signed(0).map_err(failed)?;
        if let Some(missing) = bytes.and_then(|bytes| bytes.checked_sub(leaf.der().len())) {
            // The extension's own framing takes some bytes; a second try accounts for them.
            let first = signed(missing.max(1)).map_err(failed)?;
            let frame = first.der().len() - leaf.der().len() - missing.max(1);
            leaf = signed(missing.saturating_sub(frame).max(1)).map_err(failed)?;
        }
        Ok(Self {
            leaf: leaf.der().clone(),
            key: PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(leaf_key.serialize_der())),
            authority_pem,
        })
    }
}

fn parameters(name: &str, names: Vec<String>) -> Result<CertificateParams, rcgen::Error> {
    let mut params = CertificateParams::new(names)?;
    params.distinguished_name = rcgen::DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, name);
    params.not_before = date_time_ymd(2000, 1, 1);
    params.not_after = date_time_ymd(2049, 12, 31);
    Ok(params)
}

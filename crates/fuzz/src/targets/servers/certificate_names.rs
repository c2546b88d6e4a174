use crate::targets::check_message;
use eyelevel_recorder::wire::Certificate;
use eyelevel_replay::CertificateKey;
use eyelevel_replay::tls::{Authority, Chains};
use rustls::pki_types::CertificateDer;

/// Parses the input twice: as a recorded leaf certificate in DER, and as the names of a recorded
/// certificate, one per line. Each set of names is issued as a certificate, or refused in one line.
pub(crate) fn run(input: &[u8]) {
    let chain = [CertificateDer::from(input.to_vec()), vec![0; 7].into()];
    if let Some(certificate) = Certificate::from_chain(&chain) {
        assert_eq!(certificate.chain_bytes, input.len() as u64 + 7);
        sign(certificate.names);
    }
    if let Ok(text) = std::str::from_utf8(input) {
        sign(text.lines().take(20).map(str::to_owned).collect());
    }
}

fn sign(names: Vec<String>) {
    let Some(host) = names.first().cloned() else {
        return;
    };
    let chains = Chains::All(5000);
    let authority = Authority::new(vec![names.clone()], &host, CertificateKey::Ecdsa, chains);
    let authority = match authority {
        Ok(authority) => authority,
        Err(error) => return check_message(&error),
    };
    // The check of a lab, for every name: each accepted one has a leaf.
    let checked = authority.check_chains(names.iter().map(String::as_str));
    if let Err(error) = &checked {
        check_message(error);
    }
    match authority.leaf(&host) {
        Err(error) => check_message(&error),
        Ok(leaf) => {
            // The last name is on the same certificate.
            let other = names.last().expect("there is one");
            assert!(checked.is_err() || authority.leaf(other).is_ok());
            let again = Certificate::from_chain(&leaf.cert).expect("our own leaf is read");
            assert!(again.names.len() <= names.len());
        }
    }
}

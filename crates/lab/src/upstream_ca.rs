//! `--upstream-ca`: certificates to trust besides the platform's.

use std::path::PathBuf;

use clap::Args;
use eyelevel_recorder::RecordError;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;

use crate::Error;

/// The argument of commands that connect to servers.
#[derive(Debug, Args)]
pub struct UpstreamCa {
    /// Certificates (PEM) to trust besides the platform's, such as a lab's authority
    #[arg(long)]
    upstream_ca: Option<PathBuf>,
}

impl UpstreamCa {
    /// Converts each certificate of the file with `take`; returns an empty list without a file.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be read, holds no certificate, or one that `take` rejects.
    pub fn read<T>(
        &self,
        take: impl Fn(CertificateDer<'static>) -> Option<T>,
    ) -> Result<Vec<T>, Error> {
        let Some(path) = &self.upstream_ca else {
            return Ok(Vec::new());
        };
        let failed = |reason: String| {
            Error::Record(RecordError::Setup {
                attempt: format!("read certificates from {}", path.display()),
                reason,
                remedy: "name a PEM file of certificates",
            })
        };
        let read = CertificateDer::pem_file_iter(path).and_then(Iterator::collect);
        let read: Vec<CertificateDer<'static>> = read.map_err(|error| failed(error.to_string()))?;
        let taken: Option<Vec<T>> = read.into_iter().map(take).collect();
        taken
            .filter(|taken| !taken.is_empty())
            .ok_or_else(|| failed("it holds none that can be read".to_owned()))
    }
}

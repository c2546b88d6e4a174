//! The full check of a recorded site against every digest in its file.

use serde::Serialize;

use crate::budget::ReadBudget;
use crate::digest::{self, Verdict};
use crate::error::Error;
use crate::site::{Site, read_container};
use crate::wacz::Container;

/// The number of digests that were compared; a difference is an error instead.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Verification {
    /// The number of records of all kinds.
    pub records: u64,
    /// The number of block and payload digests of records that were compared.
    pub record_digests: u64,
    /// The number of resources of a WACZ that were compared with `datapackage.json`.
    pub resource_digests: u64,
}

impl Site {
    /// Compares every digest in the file with the content that it covers.
    ///
    /// Opening a site already checks all checksums of zip and gzip; this takes longer and detects
    /// damage from before packing.
    pub fn verify(&self) -> Result<Verification, Error> {
        let file = self.file();
        let mut budget = ReadBudget::for_file(file.len() as u64);
        let wacz = read_container(self.file_name(), file, &mut budget)?;
        let mut verification = Verification::default();
        for warc_file in &wacz.warc_files {
            for located in warc_file.records(&mut budget)? {
                verification.records += 1;
                verification.record_digests += warc_file.verify(&located)? as u64;
            }
        }
        if wacz.resources.is_empty() {
            return Ok(verification);
        }
        let mut container = Container::open(self.file_name(), file)?;
        for resource in &wacz.resources {
            let content = container
                .read(&resource.path, &mut budget)?
                .unwrap_or_default();
            if resource
                .bytes
                .is_some_and(|bytes| bytes != content.len() as u64)
            {
                return Err(container.error(&resource.path, "its size is not the listed one"));
            }
            let recorded = resource.hash.as_deref().unwrap_or("");
            match digest::compare(recorded, &content) {
                Verdict::Equal => verification.resource_digests += 1,
                Verdict::UnknownAlgorithm => {}
                Verdict::Differs(found) => {
                    let reason = format!("its digest is {found}, listed is {recorded}");
                    return Err(container.error(&resource.path, &reason));
                }
            }
        }
        Ok(verification)
    }
}

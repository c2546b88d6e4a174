//! Import of WARC and WACZ files, to join several or to convert them to https.

use std::io::Read;
use std::path::Path;

use bytes::Bytes;
use flate2::read::MultiGzDecoder;

use super::Imported;
use super::refusal::Refusal;
use crate::budget::ReadBudget;
use crate::provenance::Provenance;
use crate::site::{Site, is_arc};
use crate::warc::gzip;

const WARC_MAGIC: &[u8] = b"WARC/";
const ZIP_MAGIC: &[u8] = b"PK\x03\x04";

/// Whether the file is in a format that [`Site`] opens, or in ARC, for which it has the remedy.
pub fn is_recording(content: &[u8]) -> bool {
    if is_arc(content) {
        return true;
    }
    if !content.starts_with(gzip::MAGIC) {
        return content.starts_with(WARC_MAGIC) || content.starts_with(ZIP_MAGIC);
    }
    let mut first = [0; WARC_MAGIC.len()];
    let mut decoder = MultiGzDecoder::new(content);
    decoder.read_exact(&mut first).is_ok() && first == WARC_MAGIC
}

/// Imports every exchange; the first recording's page, screenshot and description take precedence.
pub fn import(path: &Path, _: Bytes, imported: &mut Imported) -> Result<(), Refusal> {
    let site = Site::open(path).map_err(Refusal::with_remedy)?;
    let is_first = imported.exchanges.is_empty();
    if is_first {
        imported.provenance = Provenance {
            left_out: std::mem::take(&mut imported.provenance.left_out),
            altered: std::mem::take(&mut imported.provenance.altered),
            ..site.provenance().clone()
        };
        imported.main_url = Some(site.main_url().clone());
        imported.screenshot = site.screenshot().cloned();
    }
    let provenance = site.provenance();
    imported
        .provenance
        .altered
        .extend(provenance.altered.clone());
    for sentence in &provenance.left_out {
        imported.leave_out(sentence.clone());
    }
    for note in site.notes() {
        imported.leave_out(note.message.clone());
    }
    for (host, names) in &provenance.certificate_names {
        let known = imported.provenance.certificate_names.entry(host.clone());
        known.or_insert_with(|| names.clone());
    }
    for (host, size_bytes) in &provenance.certificate_chain_bytes {
        let known = imported
            .provenance
            .certificate_chain_bytes
            .entry(host.clone());
        known.or_insert(*size_bytes);
    }
    if !is_first {
        imported
            .provenance
            .merge_handshakes(&provenance.handshake_rtts);
    }
    let mut budget = ReadBudget::for_file(site.file().len() as u64);
    for exchange in site.exchanges() {
        imported.push_checked(exchange.clone(), &mut budget)?;
    }
    Ok(())
}

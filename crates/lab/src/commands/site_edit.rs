//! Writes a recorded site with edits.

use std::path::Path;

use crate::Error;
use eyelevel_archive::limits::METADATA_BYTES_MAX;
use eyelevel_archive::{Provenance, Site, SiteMetadata, map_file, write_wacz};
use eyelevel_edit::{Edit, Edited, Report, apply};
use serde::Serialize;

/// The written site, and the effects of its edits.
#[derive(Serialize)]
pub struct EditedSite {
    /// The SHA-256 of the new file.
    digest: String,
    #[serde(flatten)]
    report: Report,
}

/// Applies the edits in `edits`, a JSON list, to the site in `file` and writes it to `out`.
pub fn edit_site(file: &Path, edits: &Path, out: &Path) -> Result<EditedSite, Error> {
    let edits = read_edits(edits)?;
    let site = Site::open(file)?;
    let edited = apply(site.exchanges().to_vec(), site.main_url(), &edits)?;
    let recorded = site.exchanges().iter();
    let metadata = SiteMetadata {
        title: site.name().to_owned(),
        description: String::new(),
        main_url: site.main_url().clone(),
        created_at_unix_ms: recorded
            .filter_map(|each| each.recorded_at_unix_ms)
            .min()
            .unwrap_or(0),
        provenance: provenance(&site, &edited),
        screenshot: site.screenshot().cloned(),
    };
    write_wacz(out, &edited.exchanges, &metadata)?;
    Ok(EditedSite {
        digest: Site::open(out)?.digest().to_owned(),
        report: edited.report,
    })
}

fn read_edits(file: &Path) -> Result<Vec<Edit>, Error> {
    let json = map_file(file)?;
    let refused = |reason: String| {
        Error::Config(format!(
            "{}: {reason}; write them as spec/archive.md says",
            file.display()
        ))
    };
    if json.len() as u64 > METADATA_BYTES_MAX {
        return Err(refused(format!(
            "its edits have more than {METADATA_BYTES_MAX} bytes; split them"
        )));
    }
    serde_json::from_slice(&json).map_err(|error| refused(error.to_string()))
}

/// Returns the recording's provenance with an entry for each edit.
fn provenance(site: &Site, edited: &Edited) -> Provenance {
    let mut provenance = site.provenance().clone();
    provenance.blocked.extend(edited.blocked.clone());
    for each in &edited.report.edits {
        let times = if each.matches == 1 {
            "match"
        } else {
            "matches"
        };
        let sentence = format!("edited: {} ({} {times})", each.edit, each.matches);
        provenance.altered.push(eyelevel_units::one_line(&sentence));
    }
    provenance
}

//! The files of the path log, opened before any namespace is created.

use crate::Error;
use std::fs::{File, create_dir_all};
use std::path::Path;

/// Creates `down.log` and `up.log` in `folder`, which is created if missing.
pub fn create(folder: &Path) -> Result<(File, File), Error> {
    let failed = |what: &Path, error: std::io::Error| {
        Error::Config(format!(
            "the path log: cannot create {}: {error}; name a folder that can be written",
            what.display()
        ))
    };
    create_dir_all(folder).map_err(|error| failed(folder, error))?;
    let file = |name: &str| {
        let path = folder.join(name);
        File::create(&path).map_err(|error| failed(&path, error))
    };
    Ok((file("down.log")?, file("up.log")?))
}

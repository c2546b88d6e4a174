//! Export of recorded sites to other tools' formats, one per file.

mod answers;
mod files;
mod har;
mod mahimahi;

pub use answers::export_answers;
pub use files::export_files;
pub use har::export_har;
pub use mahimahi::export_mahimahi;

use std::path::Path;

use crate::error::Error;

fn io_error<'a>(attempt: &'static str, path: &'a Path) -> impl Fn(std::io::Error) -> Error + 'a {
    move |source| Error::Io {
        attempt,
        path: path.to_owned(),
        source,
    }
}

/// Creates `folder`, which must be empty or absent.
fn empty_folder(folder: &Path) -> Result<(), Error> {
    std::fs::create_dir_all(folder).map_err(io_error("make", folder))?;
    let mut listed = std::fs::read_dir(folder).map_err(io_error("list", folder))?;
    match listed.next() {
        None => Ok(()),
        Some(_) => Err(io_error("write into", folder)(std::io::Error::other(
            "it is not empty; name a new folder",
        ))),
    }
}

//! Export as a folder of files, for people to inspect.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use super::{empty_folder, io_error};
use crate::budget::ReadBudget;
use crate::digest;
use crate::error::Error;
use crate::exchange::Exchange;
use crate::limits::INFLATED_BYTES_MAX;
use crate::site::Site;

/// The longest part of a file's path, bytes; file systems allow 255.
const NAME_BYTES_MAX: usize = 120;

/// Writes the bodies of all successful exchanges to `HOST/PATH` below `folder`, which must be empty
/// or absent, decoded if their coding is supported. A query becomes part of the name. Of several
/// responses for one URL, the first is written.
pub fn export_files(site: &Site, folder: &Path) -> Result<(), Error> {
    empty_folder(folder)?;
    let mut budget = ReadBudget::for_bodies(site.exchanges());
    let mut written = HashSet::new();
    for exchange in site.exchanges() {
        let is_body = exchange.status == 200 && !exchange.body.is_empty();
        let mut path = folder.join(relative_path(exchange));
        if !is_body || !written.insert(path.clone()) {
            continue;
        }
        path = make_room(folder, path, exchange);
        let decoded = exchange.decoded_body_within(INFLATED_BYTES_MAX, &mut budget);
        let body = decoded.as_deref().unwrap_or(&exchange.body);
        std::fs::write(&path, body).map_err(io_error("write", &path))?;
    }
    Ok(())
}

/// Returns where an exchange's file is written: `path`, whose folder is made, or a name of its URL's
/// digest. A file may be where a folder is needed: `/a` and `/a/b` are both URLs.
pub(super) fn make_room(folder: &Path, path: PathBuf, exchange: &Exchange) -> PathBuf {
    let parent = path.parent().unwrap_or(folder);
    if !path.is_dir() && std::fs::create_dir_all(parent).is_ok() {
        return path;
    }
    let name = digest::sha256(exchange.url.to_string().as_bytes());
    folder.join(name.replace(':', "-"))
}

/// Returns a path that stays in the folder: every part consists of harmless characters and is not
/// `..`.
pub(super) fn relative_path(exchange: &Exchange) -> PathBuf {
    let url = &exchange.url;
    let mut path = PathBuf::from(sanitize(&url.authority()));
    let mut parts: Vec<&str> = url.path().split('/').skip(1).collect();
    let last = parts.pop().unwrap_or("");
    path.extend(
        parts
            .into_iter()
            .filter(|part| !part.is_empty())
            .map(sanitize),
    );
    let mut name = if last.is_empty() {
        "index.html".to_owned()
    } else {
        sanitize(last)
    };
    if let Some(query) = url.query() {
        let hash = digest::sha256(query.as_bytes());
        name.push('-');
        name.push_str(&hash[hash.len() - 12..]);
    }
    path.join(name)
}

fn sanitize(part: &str) -> String {
    let replace = |letter: char| {
        let is_plain = letter.is_ascii_alphanumeric() || "-_.~@+,=".contains(letter);
        if is_plain { letter } else { '_' }
    };
    let name: String = part.chars().take(NAME_BYTES_MAX).map(replace).collect();
    if name.chars().all(|letter| letter == '.') {
        name.replace('.', "_")
    } else {
        name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_part_leaves_the_folder() {
        assert_eq!(sanitize(".."), "__");
        assert_eq!(sanitize("a/b\\c:d"), "a_b_c_d");
        assert_eq!(sanitize("app.min.js"), "app.min.js");
    }
}

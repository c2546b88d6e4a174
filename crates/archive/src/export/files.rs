//! A folder of files, as a person would look at them.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use super::{empty_folder, io_error};
use crate::coding;
use crate::digest;
use crate::error::Error;
use crate::exchange::Exchange;
use crate::limits::INFLATED_BYTES_MAX;
use crate::site::Site;

/// Bytes of a file's name; file systems take 255.
const NAME_BYTES_MAX: usize = 120;

/// Writes the bodies of all successful exchanges below `folder`, which must be empty or not there:
/// `HOST/PATH`, decoded where their coding is gzip or deflate. A query becomes a part of the name.
/// Of several answers to one URL the first is written.
pub fn export_files(site: &Site, folder: &Path) -> Result<(), Error> {
    empty_folder(folder)?;
    let mut written = HashSet::new();
    for exchange in site.exchanges() {
        let is_body = exchange.status == 200 && !exchange.body.is_empty();
        let mut path = folder.join(relative_path(exchange));
        // A file may stand where a folder is wanted: `/a` and `/a/b` are both URLs.
        if !is_body || !written.insert(path.clone()) {
            continue;
        }
        let parent = path.parent().unwrap_or(folder).to_owned();
        if path.is_dir() || std::fs::create_dir_all(&parent).is_err() {
            let name = digest::sha256(exchange.url.to_string().as_bytes());
            path = folder.join(name.replace(':', "-"));
        }
        let coding = exchange.response_header("content-encoding").unwrap_or("");
        let decoded = coding::decode(coding, &exchange.body, INFLATED_BYTES_MAX);
        let decoded = decoded.and_then(Result::ok);
        let body = decoded.as_deref().unwrap_or(&exchange.body);
        std::fs::write(&path, body).map_err(io_error("write", &path))?;
    }
    Ok(())
}

/// Never leads out of the folder: every part is made of harmless characters and is not `..`.
fn relative_path(exchange: &Exchange) -> PathBuf {
    let url = &exchange.url;
    let mut path = PathBuf::from(harmless(&url.authority()));
    let mut parts: Vec<&str> = url.path().split('/').skip(1).collect();
    let last = parts.pop().unwrap_or("");
    path.extend(
        parts
            .into_iter()
            .filter(|part| !part.is_empty())
            .map(harmless),
    );
    let mut name = if last.is_empty() {
        "index.html".to_owned()
    } else {
        harmless(last)
    };
    if let Some(query) = url.query() {
        let hash = digest::sha256(query.as_bytes());
        name.push('-');
        name.push_str(&hash[hash.len() - 12..]);
    }
    path.join(name)
}

fn harmless(part: &str) -> String {
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
    fn no_part_leads_out() {
        assert_eq!(harmless(".."), "__");
        assert_eq!(harmless("a/b\\c:d"), "a_b_c_d");
        assert_eq!(harmless("app.min.js"), "app.min.js");
    }
}

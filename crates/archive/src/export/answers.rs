//! Export as files for another server, with the requests that they answer.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use super::files::{make_room, relative_path};
use super::{empty_folder, io_error};
use crate::error::Error;
use crate::exchange::Exchange;
use crate::exchange::header::Header;
use crate::exchange::outgoing::response_headers_to_send;
use crate::site::Site;

/// Fields that every server writes itself.
const OF_THE_SERVER: [&str; 3] = ["content-length", "date", "server"];
/// Statuses that answer a condition or a range of the recorded request, not the URL.
const OF_THE_REQUEST: [u16; 2] = [206, 304];

/// Writes the answer to every recorded `GET` for another server: `folder`, which must be empty or
/// absent, gets the bodies as they were sent in `files/HOST/PATH`, and two tables with a line each,
/// whose cells are separated by tabs. `answers.tsv`: host (with the port if it is not the scheme's),
/// path and query, file below `files`, `Content-Type`, status, bytes of the body. `fields.tsv`: file,
/// name and value of a field, without those that a server writes itself. Of several responses for
/// one URL, the first is written.
pub fn export_answers(site: &Site, folder: &Path) -> Result<(), Error> {
    empty_folder(folder)?;
    let files = folder.join("files");
    std::fs::create_dir_all(&files).map_err(io_error("make", &files))?;
    let (mut answers, mut fields) = (String::new(), String::new());
    let (mut answered, mut written) = (HashSet::new(), HashSet::new());
    for exchange in site.exchanges() {
        let is_answer = exchange.method == "GET" && !OF_THE_REQUEST.contains(&exchange.status);
        if !is_answer || !answered.insert(exchange.url.to_string()) {
            continue;
        }
        let path = free_path(&files, exchange, &mut written);
        std::fs::write(&path, &exchange.body).map_err(io_error("write", &path))?;
        let file = path.strip_prefix(&files).unwrap_or(&path).display();
        let content_type = exchange.response_header("content-type").unwrap_or_default();
        let (url, status, bytes) = (&exchange.url, exchange.status, exchange.body.len());
        let query = url.query().map(|query| format!("?{query}"));
        let target = format!("{}{}", url.path(), query.unwrap_or_default());
        let cells = format!("{}\t{target}\t{file}", url.authority());
        let _ = writeln!(
            answers,
            "{cells}\t{}\t{status}\t{bytes}",
            plain(content_type)
        );
        for field in response_headers_to_send(exchange) {
            if !OF_THE_SERVER.iter().any(|name| field.is(name)) {
                let _ = writeln!(fields, "{file}\t{}\t{}", field.name, value_of(&field));
            }
        }
    }
    for (name, table) in [("answers.tsv", answers), ("fields.tsv", fields)] {
        let path = folder.join(name);
        std::fs::write(&path, table).map_err(io_error("write", &path))?;
    }
    Ok(())
}

/// Returns a path that no other answer has: URLs of both schemes have one path.
fn free_path(files: &Path, exchange: &Exchange, written: &mut HashSet<PathBuf>) -> PathBuf {
    let mut path = make_room(files, files.join(relative_path(exchange)), exchange);
    if written.contains(&path) {
        path = files.join(format!("{}-{}", exchange.index, "answer"));
    }
    written.insert(path.clone());
    path
}

fn value_of(field: &Header) -> String {
    plain(&String::from_utf8_lossy(&field.value))
}

fn plain(text: &str) -> String {
    text.replace(char::is_control, " ")
}

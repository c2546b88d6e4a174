//! Export as a Mahimahi folder of protobuf files.

use std::path::Path;

use super::{empty_folder, io_error};
use crate::error::Error;
use crate::exchange::Exchange;
use crate::exchange::header::Header;
use crate::import::protobuf::{put_bytes, put_number};
use crate::site::Site;
use crate::url::Scheme;

/// Writes a file for each exchange into `folder`, which must be empty or absent.
///
/// Mahimahi supports only HTTP/1.1: transfer coding is removed, and `Content-Length` gives the
/// length of bodies.
pub fn export_mahimahi(site: &Site, folder: &Path) -> Result<(), Error> {
    empty_folder(folder)?;
    for exchange in site.exchanges() {
        let file = folder.join(format!("save.{:06}", exchange.index));
        let origin = site.origins().iter().find(|origin| {
            (origin.scheme, &origin.host, origin.port)
                == (exchange.url.scheme, &exchange.url.host, exchange.url.port)
        });
        let address = origin.map(|origin| origin.address.to_string());
        let content = message(exchange, &address.unwrap_or_default());
        std::fs::write(&file, content).map_err(io_error("write", &file))?;
    }
    Ok(())
}

fn message(exchange: &Exchange, address: &str) -> Vec<u8> {
    let url = &exchange.url;
    let is_host = |header: &Header| header.is("host");
    let mut request_headers = exchange.request_headers.clone();
    if !request_headers.iter().any(is_host) {
        request_headers.insert(0, Header::new("Host", url.authority()));
    }
    let first = format!("{} {} HTTP/1.1", exchange.method, url.path_and_query);
    let request = part(&first, &request_headers, &exchange.request_body);
    let first = format!("HTTP/1.1 {} {}", exchange.status, exchange.reason);
    let headers = crate::exchange::outgoing::response_headers_to_send(exchange);
    let response = part(&first, &headers, &exchange.body);
    let mut message = Vec::with_capacity(request.len() + response.len() + 64);
    put_bytes(&mut message, 1, address.as_bytes());
    put_number(&mut message, 2, u64::from(url.port));
    put_number(
        &mut message,
        3,
        if url.scheme == Scheme::Https { 2 } else { 1 },
    );
    put_bytes(&mut message, 4, &request);
    put_bytes(&mut message, 5, &response);
    message
}

fn part(first: &str, headers: &[Header], body: &[u8]) -> Vec<u8> {
    let mut part = Vec::with_capacity(body.len() + 1024);
    put_bytes(&mut part, 1, first.as_bytes());
    for header in headers {
        let mut pair = Vec::new();
        put_bytes(&mut pair, 1, header.name.as_bytes());
        put_bytes(&mut pair, 2, &header.value);
        put_bytes(&mut part, 2, &pair);
    }
    put_bytes(&mut part, 3, body);
    part
}

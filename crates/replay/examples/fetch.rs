//! Fetches one URL from a lab's servers and prints when its bytes arrived.
//!
//! `fetch ADDRESS:PORT URL h1|h2|h3 CA.pem [COUNT]`

use bytes::Bytes;
use eyelevel_replay::check::Client;
use eyelevel_replay::tls::client_config_trusting;
use eyelevel_replay::{HttpVersion, TlsVersion};
use http::{HeaderMap, Method, Uri};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use std::error::Error;
use std::time::Instant;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, address, url, version, certificate, rest @ ..] = arguments.as_slice() else {
        return Err("usage: fetch ADDRESS:PORT URL h1|h2|h3 CA.pem [COUNT]".into());
    };
    let version = match version.as_str() {
        "h1" => HttpVersion::H1,
        "h2" => HttpVersion::H2,
        "h3" => HttpVersion::H3,
        other => return Err(format!("{other} is no HTTP version: use h1, h2 or h3").into()),
    };
    let root = CertificateDer::from_pem_file(certificate)?;
    let tls = client_config_trusting(root, version, TlsVersion::Tls13)?;
    let address = address.parse()?;
    let uri: Uri = url.parse()?;
    let host = uri.host().ok_or("the URL has no host")?;
    let connect = || Client::connect(address, host, version, tls.clone());
    // The first handshake of a process seeds its random generator, which takes tens of ms.
    drop(connect().await?);
    let start = Instant::now();
    let mut client = connect().await?;
    println!(
        "connected after {:.1} ms",
        start.elapsed().as_secs_f64() * 1e3
    );
    for _ in 0..rest.first().map_or(Ok(1), |count| count.parse())? {
        let start = Instant::now();
        let fetched = client
            .fetch(Method::GET, url, HeaderMap::new(), Bytes::new())
            .await?;
        let (bytes, seconds) = (fetched.body.len(), start.elapsed().as_secs_f64());
        let mbit_s = bytes as f64 * 8e-6 / seconds;
        println!(
            "{} {bytes} bytes in {:.1} ms, {mbit_s:.2} Mbit/s from request to end",
            fetched.status,
            seconds * 1e3
        );
    }
    Ok(())
}

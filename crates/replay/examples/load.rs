//! Requests URLs from a running server as fast as it answers, and prints requests per second as
//! JSON. Runs on one thread, and supports HTTP/3, which Debian's h2load does not.
//!
//! `load ADDRESS:PORT h1|h2|h3 CA.pem SECONDS CONNECTIONS STREAMS URL...`

use bytes::Bytes;
use eyelevel_replay::check::Client;
use eyelevel_replay::tls::client_config_trusting;
use eyelevel_replay::{HttpVersion, TlsVersion};
use http::{HeaderMap, Method, Uri};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::task::JoinSet;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let [
        _,
        address,
        version,
        certificate,
        seconds,
        connections,
        streams,
        urls @ ..,
    ] = arguments.as_slice()
    else {
        return Err(
            "usage: load ADDRESS h1|h2|h3 CA.pem SECONDS CONNECTIONS STREAMS URL...".into(),
        );
    };
    let version = match version.as_str() {
        "h1" => HttpVersion::H1,
        "h2" => HttpVersion::H2,
        "h3" => HttpVersion::H3,
        other => return Err(format!("{other} is no HTTP version: use h1, h2 or h3").into()),
    };
    let root = CertificateDer::from_pem_file(certificate)?;
    let tls = client_config_trusting(root, version, TlsVersion::Tls13)?;
    let uri: Uri = urls.first().ok_or("no URL is given")?.parse()?;
    let host = uri.host().ok_or("the URL has no host")?;
    let (address, seconds) = (address.parse()?, seconds.parse()?);
    let streams: usize = streams.parse()?;
    let urls: Arc<[String]> = urls.into();
    let mut clients = Vec::new();
    let mut shared = Vec::new();
    for _ in 0..connections.parse()? {
        let client = Client::connect(address, host, version, tls.clone()).await?;
        clients.extend((1..streams).filter_map(|_| client.share()));
        shared.push(client);
    }
    clients.append(&mut shared);
    let start = Instant::now();
    let end = start + Duration::from_secs_f64(seconds);
    let mut running = JoinSet::new();
    for (offset, client) in clients.into_iter().enumerate() {
        running.spawn(send_requests(client, urls.clone(), offset, end));
    }
    let (mut requests, mut bytes) = (0_u64, 0_u64);
    // A connection ends with its first client: all stay until the last has its responses.
    let mut clients = Vec::new();
    while let Some(done) = running.join_next().await {
        let (client, own_requests, own_bytes) = done??;
        clients.push(client);
        requests += own_requests;
        bytes += own_bytes;
    }
    let seconds = start.elapsed().as_secs_f64();
    let requests_s = requests as f64 / seconds;
    println!(
        r#"{{"requests_s": {requests_s:.1}, "body_bytes": {bytes}, "duration_s": {seconds:.3}}}"#
    );
    Ok(())
}

async fn send_requests(
    mut client: Client,
    urls: Arc<[String]>,
    offset: usize,
    end: Instant,
) -> Result<(Client, u64, u64), String> {
    let (mut requests, mut bytes) = (0, 0);
    while Instant::now() < end {
        let url = &urls[(offset + requests as usize) % urls.len()];
        let fetch = client.fetch(Method::GET, url, HeaderMap::new(), Bytes::new());
        let fetched = fetch.await?;
        if fetched.status != 200 {
            return Err(format!("{url} was answered with {}", fetched.status));
        }
        requests += 1;
        bytes += fetched.body.len() as u64;
    }
    Ok((client, requests, bytes))
}

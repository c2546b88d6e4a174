//! Serves a recorded site on loopback until standard input ends, and prints its events on standard
//! error.
//!
//! `cargo run --release -p eyelevel-replay --example serve -- FILE h1|h2|h3 [--quiet]`

use eyelevel_archive::Site;
use eyelevel_replay::{HttpVersion, Server, ServerOptions, StackConfig, matcher::Rules};
use std::error::Error;
use std::io::Read;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

fn now_ns() -> u64 {
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_nanos() as u64
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, file, version, rest @ ..] = arguments.as_slice() else {
        return Err("usage: serve FILE h1|h2|h3 [--quiet]".into());
    };
    let http_version = match version.as_str() {
        "h1" => HttpVersion::H1,
        "h2" => HttpVersion::H2,
        "h3" => HttpVersion::H3,
        other => return Err(format!("{other} is no HTTP version: use h1, h2 or h3").into()),
    };
    let site = Arc::new(Site::open(file)?);
    let stack = StackConfig::tuned(version, http_version);
    let quiet = rest.iter().any(|argument| argument == "--quiet");
    let options = ServerOptions {
        addresses: vec!["127.0.0.1".parse()?],
        ports_ephemeral: true,
        rules: Rules::default(),
        cache_age: None,
        early_hints: None,
        now_ns,
        logs: eyelevel_replay::ConnectionLogs::default(),
        live: None,
        events: Arc::new(move |event| {
            if !quiet {
                eprintln!("{}", serde_json::to_string(&event).unwrap_or_default());
            }
        }),
    };
    let server = Server::bind(site.clone(), stack, options)?;
    println!("spki_sha256 {}", server.spki_sha256());
    let certificate = server.authority().root_pem().replace('\n', " ");
    println!("ca_certificate {certificate}");
    println!("main_url {}", site.main_url());
    for origin in site.origins() {
        let address = server.bound_address(origin.scheme, origin.port);
        let address = address.ok_or("an origin without a listener")?;
        println!(
            "origin {}://{}:{} {address}",
            origin.scheme, origin.host, origin.port
        );
    }
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    std::thread::spawn(move || {
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
        let _ = stop.send(());
    });
    server
        .run(async {
            let _ = stopped.await;
        })
        .await;
    Ok(())
}

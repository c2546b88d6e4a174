//! A server on loopback and its reports.
#![allow(dead_code)]

pub mod h3;
pub mod raw;
pub mod recording;

use bytes::Bytes;
use eyelevel_archive::{Origin, Site};
use eyelevel_replay::check::Client;
use eyelevel_replay::matcher::Rules;
use eyelevel_replay::tls::{Authority, client_config};
use eyelevel_replay::{Event, HttpVersion, Server, ServerOptions, StackConfig, TlsVersion};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Instant;
use tokio::task::JoinHandle;

pub const VERSIONS: [HttpVersion; 3] = [HttpVersion::H1, HttpVersion::H2, HttpVersion::H3];

pub fn stack(http_version: HttpVersion) -> StackConfig {
    StackConfig::tuned("test", http_version)
}

/// Returns the folder of real recordings; `None`, with a message, if it is absent.
pub fn recordings() -> Option<PathBuf> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../..");
    let folder = root.join("shared/data/sites/warc");
    if !folder.is_dir() {
        println!("skipped: ../shared/data/sites/warc is not there");
        return None;
    }
    Some(folder)
}

pub fn now_ns() -> u64 {
    static START: OnceLock<Instant> = OnceLock::new();
    u64::try_from(START.get_or_init(Instant::now).elapsed().as_nanos()).unwrap()
}

/// A synthetic recorded response in a WARC file.
pub struct Recorded {
    pub url: String,
    pub fields: String,
    pub body: Vec<u8>,
}

impl Recorded {
    pub fn new(url: &str, body: Vec<u8>) -> Self {
        Self {
            url: url.into(),
            fields: "content-type: application/octet-stream\r\n".into(),
            body,
        }
    }
}

pub fn site(recorded: &[Recorded]) -> Arc<Site> {
    let mut warc = Vec::new();
    for (index, exchange) in recorded.iter().enumerate() {
        let head = format!(
            "HTTP/1.1 200 OK\r\n{}content-length: {}\r\n\r\n",
            exchange.fields,
            exchange.body.len()
        );
        let length = head.len() + exchange.body.len();
        let record = format!(
            "WARC/1.0\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:{index:032}>\r\n\
             WARC-Date: 2026-01-01T00:00:00Z\r\nWARC-Target-URI: {}\r\n\
             Content-Type: application/http; msgtype=response\r\nContent-Length: {length}\r\n\r\n",
            exchange.url
        );
        warc.extend_from_slice(record.as_bytes());
        warc.extend_from_slice(head.as_bytes());
        warc.extend_from_slice(&exchange.body);
        warc.extend_from_slice(b"\r\n\r\n");
    }
    Arc::new(Site::from_bytes("test.warc", Bytes::from(warc)).unwrap())
}

/// Returns bytes that differ at every relevant offset.
pub fn pattern(length: usize, seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(2).wrapping_add(1);
    let step = |state: &mut u64| {
        *state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (*state >> 33) as u8
    };
    (0..length).map(|_| step(&mut state)).collect()
}

/// Returns options on loopback, for servers that are only bound.
pub fn options() -> ServerOptions {
    ServerOptions {
        addresses: vec!["127.0.0.1".parse().unwrap()],
        ports_ephemeral: true,
        rules: Rules::default(),
        cache_age: None,
        early_hints: None,
        now_ns,
        logs: eyelevel_replay::ConnectionLogs::default(),
        live: None,
        events: Arc::new(|_| ()),
    }
}

pub struct Running {
    pub site: Arc<Site>,
    pub authority: Arc<Authority>,
    pub events: Arc<Mutex<Vec<Event>>>,
    version: HttpVersion,
    bound: BTreeMap<(eyelevel_archive::Scheme, u16), SocketAddr>,
    stop: tokio::sync::oneshot::Sender<()>,
    task: JoinHandle<()>,
}

impl Running {
    pub fn start(site: Arc<Site>, stack: StackConfig) -> Self {
        Self::start_with(site, stack, |_| ())
    }

    /// Starts a server with changed options.
    pub fn start_with(
        site: Arc<Site>,
        stack: StackConfig,
        change: impl FnOnce(&mut ServerOptions),
    ) -> Self {
        let events: Arc<Mutex<Vec<Event>>> = Arc::default();
        let sink = events.clone();
        let mut options = ServerOptions {
            events: Arc::new(move |event| sink.lock().unwrap().push(event)),
            ..options()
        };
        change(&mut options);
        let version = stack.http_version;
        let server = Server::bind(site.clone(), stack, options).unwrap();
        let authority = server.authority();
        let bound = site
            .origins()
            .iter()
            .map(|origin| {
                let key = (origin.scheme, origin.port);
                (key, server.bound_address(key.0, key.1).unwrap())
            })
            .collect();
        let (stop, stopped) = tokio::sync::oneshot::channel();
        let task = tokio::spawn(server.run(async move {
            let _ = stopped.await;
        }));
        Self {
            site,
            authority,
            events,
            version,
            bound,
            stop,
            task,
        }
    }

    pub fn version(&self) -> HttpVersion {
        self.version
    }

    pub fn address(&self, origin: &Origin) -> SocketAddr {
        self.bound[&(origin.scheme, origin.port)]
    }

    pub async fn client(&self, host: &str) -> Client {
        self.client_over(host, self.version).await
    }

    pub async fn client_over(&self, host: &str, version: HttpVersion) -> Client {
        let tls = client_config(&self.authority, version, TlsVersion::Tls13).unwrap();
        let origin = self
            .site
            .origins()
            .iter()
            .find(|origin| origin.host == host)
            .unwrap();
        Client::connect(self.address(origin), host, version, tls)
            .await
            .unwrap()
    }

    pub async fn stop(self) -> Vec<Event> {
        let _ = self.stop.send(());
        self.task.await.unwrap();
        std::mem::take(&mut *self.events.lock().unwrap())
    }
}

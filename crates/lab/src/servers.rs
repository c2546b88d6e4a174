//! The servers' thread, which stays in their network namespace.

use crate::Error;
use crate::config::LabConfig;
use crate::emit::emit;
use crate::network::ends::Ends;
use crate::network::topology::{TcpSettings, build_server};
use crate::threads::{clock_ns, join, runtime};
use eyelevel_archive::Site;
use eyelevel_edit::find_early_hints;
use eyelevel_netns::{Device, RealtimePriority, current_thread_id, request_realtime};
use eyelevel_path::FirstWindows;
use eyelevel_replay::matcher::Rules;
use eyelevel_replay::{
    CacheAge, ConnectionLogs, EarlyHints, Event, HintedObjects, LiveOptions, Server, ServerOptions,
    Service, StackConfig, certificate_files,
};
use eyelevel_units::refusal;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::thread::{self, JoinHandle};
use std::time::{SystemTime, UNIX_EPOCH};
use tokio::sync::oneshot;

/// The number of responses.
#[derive(Default)]
pub struct Counts {
    /// Responses whose head was sent.
    pub requests: AtomicU64,
    /// Responses for requests without a recorded one.
    pub misses: AtomicU64,
}

/// The servers' thread, which stays in their network namespace.
pub struct ServerThread {
    /// The handle to wait for its end.
    pub thread: JoinHandle<Result<(), Error>>,
    /// The channel to request its end.
    pub shutdown: oneshot::Sender<()>,
    /// The server's end of the path.
    pub device: Device,
    /// The thread's id inside the lab.
    pub tid: u32,
    /// Whether the servers have real-time priority.
    pub realtime: bool,
    /// The certificates that clients must trust; `None` without servers.
    pub identity: Option<Identity>,
    /// The service that answers; `None` without servers.
    pub service: Option<Arc<Service>>,
    /// The page's Early Hints, if the stack has them.
    pub early_hints: Option<eyelevel_edit::EarlyHints>,
}

/// The certificates that clients must trust.
pub struct Identity {
    /// The SHA-256 of the key that all leaf certificates share, base64.
    pub spki_sha256: String,
    /// The run's certificate authority, PEM.
    pub ca_certificate: String,
}

/// What the thread reports when its sockets listen.
struct Listening {
    device: Device,
    tid: u32,
    realtime: bool,
    identity: Option<Identity>,
    service: Option<Arc<Service>>,
    early_hints: Option<eyelevel_edit::EarlyHints>,
}

impl ServerThread {
    /// Starts the thread and waits until its sockets listen.
    pub fn start(
        config: &LabConfig,
        site: Option<Arc<Site>>,
        ends: &Ends,
        tcp: &TcpSettings,
        ipv6: bool,
        (counts, logs, windows): (&Arc<Counts>, ConnectionLogs, &FirstWindows),
        live: Option<LiveOptions>,
    ) -> Result<Self, Error> {
        let (ready, listening) = mpsc::sync_channel(1);
        let (shutdown, ended) = oneshot::channel();
        let (stack, ends, tcp) = (config.stack.clone(), ends.clone(), tcp.clone());
        let (counts, certificates) = (counts.clone(), config.certificates.clone());
        let windows = windows.clone();
        let rules = Rules {
            longest_prefix: config.longest_prefix,
        };
        let has_hints = stack
            .as_ref()
            .is_some_and(|stack| stack.early_hints == HintedObjects::Auto);
        // By its recorded date a hinted object would be stale when the page asks for it, and be
        // fetched again: it is as old as it was when it was recorded.
        let age_s = config.cache_age_s.or(has_hints.then_some(0));
        let cache_age = age_s.map(|age_s| CacheAge {
            age_s,
            began_unix_s: unix_s(),
        });
        let realtime = config.realtime && config.realtime_servers;
        let body = move || -> Result<(), Error> {
            let origins = site.as_ref().map_or(&[][..], |site| site.origins());
            let addresses: Vec<IpAddr> = origins.iter().map(|origin| origin.address).collect();
            let device = build_server(&ends, &tcp, &addresses, ipv6)?;
            runtime()?.block_on(async {
                let tid = current_thread_id();
                let realtime = realtime && request_realtime(RealtimePriority::Endpoint);
                let Some((site, stack)) = site.zip(stack) else {
                    let _ = ready.send(Listening {
                        device,
                        tid,
                        realtime,
                        identity: None,
                        service: None,
                        early_hints: None,
                    });
                    let _ = ended.await;
                    return Ok(());
                };
                if let Some(folder) = certificates {
                    let identity = write_certificates(&folder, &site, &stack)?;
                    let _ = ready.send(Listening {
                        device,
                        tid,
                        realtime,
                        identity: Some(identity),
                        service: None,
                        early_hints: None,
                    });
                    let _ = ended.await;
                    return Ok(());
                }
                let early_hints = has_hints
                    .then(|| find_early_hints(site.exchanges(), site.main_url()))
                    .transpose()?;
                let options = ServerOptions {
                    early_hints: early_hints.as_ref().and_then(convert_hints),
                    addresses: listen_addresses(ipv6),
                    ports_ephemeral: false,
                    rules,
                    cache_age,
                    now_ns: clock_ns,
                    logs,
                    live,
                    events: create_sink(counts, windows),
                };
                let server = Server::bind(site, stack, options)?;
                let identity = Identity {
                    spki_sha256: server.spki_sha256(),
                    ca_certificate: server.authority().root_pem().to_owned(),
                };
                let _ = ready.send(Listening {
                    device,
                    tid,
                    realtime,
                    identity: Some(identity),
                    service: Some(server.service()),
                    early_hints,
                });
                server.run(async { ended.await.unwrap_or_default() }).await;
                Ok(())
            })
        };
        let thread = thread::spawn(body);
        match listening.recv() {
            Ok(Listening {
                device,
                tid,
                realtime,
                identity,
                service,
                early_hints,
            }) => Ok(Self {
                thread,
                shutdown,
                device,
                tid,
                realtime,
                identity,
                service,
                early_hints,
            }),
            // The channel closed: the thread's own error has the reason.
            Err(_) => Err(join(thread, "servers")?.err().unwrap_or(Error::Thread {
                part: "servers",
                reason: "they ended before they listened".into(),
            })),
        }
    }
}

/// The modes of files that only the owner, or everyone, may read.
const PRIVATE: u32 = 0o600;
const PUBLIC: u32 = 0o644;

/// Writes `certificate.pem`, one chain for all hosts of the site, its `key.pem` and the authority's
/// `authority.pem`.
fn write_certificates(folder: &Path, site: &Site, stack: &StackConfig) -> Result<Identity, Error> {
    let (authority, chain, key) = certificate_files(site, stack)?;
    let ca_certificate = authority.root_pem().to_owned();
    for (name, text, mode) in [
        ("certificate.pem", &chain, PUBLIC),
        ("key.pem", &key, PRIVATE),
        ("authority.pem", &ca_certificate, PUBLIC),
    ] {
        let file = folder.join(name);
        write_new(&file, text, mode).map_err(|error| {
            Error::Config(format!("write {}: {}", file.display(), refusal(&error)))
        })?;
    }
    Ok(Identity {
        spki_sha256: authority.spki_sha256(),
        ca_certificate,
    })
}

/// Writes a file that must not exist, so that no link is followed.
fn write_new(file: &Path, text: &str, mode: u32) -> io::Result<()> {
    let mut options = OpenOptions::new();
    let mut opened = options.write(true).create_new(true).mode(mode).open(file)?;
    opened.write_all(text.as_bytes())
}

/// Returns the wall-clock time, which browsers' caches use, in seconds since 1970 UTC.
fn unix_s() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs().try_into().unwrap_or(i64::MAX))
}

/// Returns the hints as the servers send them.
fn convert_hints(found: &eyelevel_edit::EarlyHints) -> Option<EarlyHints> {
    Some(EarlyHints {
        page: found.page.clone(),
        link: found.link.parse().ok()?, // URLs and names of attributes are ASCII
    })
}

/// Returns the unspecified addresses, which receive connections to every recorded address.
fn listen_addresses(ipv6: bool) -> Vec<IpAddr> {
    let v4 = IpAddr::V4(Ipv4Addr::UNSPECIFIED);
    if ipv6 {
        vec![v4, Ipv6Addr::UNSPECIFIED.into()]
    } else {
        vec![v4]
    }
}

fn create_sink(counts: Arc<Counts>, windows: FirstWindows) -> eyelevel_replay::EventSink {
    Arc::new(move |mut event: Event| {
        if let Event::Connection(connection) = &mut event
            && let Some((client, server)) = connection.client.zip(connection.address)
            && let Some(bytes) = windows.get(client, server)
        {
            // Only the path sees the window that a client's TCP offers.
            connection.in_force.receive_window_bytes = Some(bytes);
        }
        if let Event::Request(request) = &event {
            counts.requests.fetch_add(1, Ordering::Relaxed);
            if request.r#match == "miss" {
                counts.misses.fetch_add(1, Ordering::Relaxed);
            }
        }
        emit(&event);
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_key_is_private_and_follows_no_link() {
        let folder = std::env::temp_dir().join(format!("eyelevel-key-{}", std::process::id()));
        std::fs::create_dir(&folder).unwrap();
        let (key, link) = (folder.join("key.pem"), folder.join("link.pem"));
        write_new(&key, "secret", PRIVATE).unwrap();
        let mode = std::fs::metadata(&key).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        std::os::unix::fs::symlink(&key, &link).unwrap();
        let refused = write_new(&link, "another", PRIVATE).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::AlreadyExists);
        std::fs::remove_dir_all(&folder).unwrap();
    }
}

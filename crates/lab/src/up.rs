//! `eyelevel-lab up`: runs one lab from its configuration to its summary.

use crate::Error;
use crate::config::LabConfig;
use crate::connection_logs;
use crate::control::{Signals, wait_for_stop};
use crate::cross_traffic::{CrossTraffic, CrossTrafficSummary};
use crate::debug_log;
use crate::emit::{ErrorEvent, emit};
use crate::files;
use crate::logs;
use crate::network::ends::{Claim, Ends};
use crate::network::names;
use crate::network::topology::{TcpSettings, build_client};
use crate::reserved_core::reserve_core_without_realtime;
use crate::servers::{Counts, ServerThread};
use crate::suspension::{Driver, Processes, Suspension, SuspensionWatch};
use crate::threads::{clock_ns, cpu_ns, join, start_path, start_resolver, start_watch};
use crate::uplink::{Uplink, clients_stack};
use eyelevel_archive::{Origin, Site};
use eyelevel_netns::sandbox::{self, Forked, Inside};
use eyelevel_netns::{Dialer, dial_out, monotonic_now};
use eyelevel_path::{
    Ends as PathEnds, FirstWindows, Path, PathSettings, PathSummary, SecondPair, Watch,
};
use eyelevel_replay::{LiveOptions, LiveSummary, TlsVersion};
use eyelevel_units::{Instant, refusal};
use serde::Serialize;
use std::fs::File;
use std::io::BufReader;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

#[derive(Serialize)]
#[serde(tag = "event", rename = "ready")]
struct Ready<'a> {
    init_pid: u32,
    server_tid: u32,
    client_address: IpAddr,
    server_address: IpAddr,
    client_address6: Option<IpAddr>,
    server_address6: Option<IpAddr>,
    device: &'static str,
    spki_sha256: Option<&'a str>,
    ca_certificate: Option<&'a str>,
    main_url: Option<String>,
    origins: &'a [Origin],
    realtime_priority: bool,
    server_realtime_priority: bool,
    reserved_cores: Option<Vec<usize>>,
    queueing_discipline: Option<String>,
    startup_ms: f64,
    site_digest: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    early_hints: Option<&'a eyelevel_edit::EarlyHints>,
}

#[derive(Serialize)]
#[serde(tag = "event", rename = "revisit")]
struct Revisit {
    at_ns: u64,
    connection: u64,
}

#[derive(Serialize)]
#[serde(tag = "event", rename = "summary")]
struct Summary {
    path: PathSummary,
    cross_traffic: Option<CrossTrafficSummary>,
    requests: u64,
    misses: u64,
    server_cpu_s: Option<f64>,
    suspended: Option<Vec<Suspension>>,
    live: Option<LiveSummary>,
}

/// Builds a lab from the configuration on standard input and waits for its end. Returns the exit
/// status of the lab's process 1.
pub fn run() -> i32 {
    let started = monotonic_now();
    let outcome = prepare(started);
    outcome.unwrap_or_else(|error| {
        emit(&ErrorEvent {
            message: error.to_string(),
        });
        1
    })
}

fn prepare(started: Instant) -> Result<i32, Error> {
    let mut input = BufReader::new(duplicate_input()?);
    let mut config = LabConfig::read(&mut input)?;
    config.path.load_files()?;
    // A damaged site or an invalid path is refused before any namespace is created.
    let site = config
        .site
        .as_ref()
        .map(Site::open)
        .transpose()?
        .map(|site| Arc::new(convert_for_stack(site, &config)));
    config.path.check(config.seed)?;
    let uplink = Uplink::open_for(&config)?;
    let origins = site.as_ref().map_or(&[][..], |site| site.origins());
    let addresses: Vec<IpAddr> = origins.iter().map(|origin| origin.address).collect();
    let (ends, claim) = match &uplink {
        Some(uplink) => Ends::choose_and_claim(&uplink.networks_taken())
            .map(|(ends, claim)| (ends, Some(claim)))?,
        None => (
            Ends::choose_for_lab(config.site.as_deref(), &addresses)?,
            None,
        ),
    };
    let logs = config.log.as_deref().map(logs::create).transpose()?;
    let opened = connection_logs::Opened::create(config.connection_logs.as_ref())?;
    let driver = Driver::open();
    let (dialer, switchboard) = config
        .live
        .as_ref()
        .map(|live| dial_out(live.address))
        .transpose()?
        .unzip();
    match sandbox::spawn()? {
        Forked::Supervisor(pid) => {
            drop(dialer);
            if let Some(switchboard) = switchboard {
                switchboard.start();
            }
            Ok(sandbox::supervise(pid)?)
        }
        Forked::Init(inside) => {
            drop(switchboard);
            let around = Prepared {
                started,
                logs,
                opened,
                uplink,
                addresses,
                ends,
                driver,
                dialer,
                _claim: claim,
            };
            let debug_log = around.opened.lab.clone();
            debug_log.iter().cloned().for_each(debug_log::start);
            let result = run_lab(&config, site, &inside, input, around);
            if let Err(error) = &result {
                tracing::error!(%error, "the lab failed");
            }
            // The exit below drops nothing, and the log of a failed lab must be complete.
            if let Some(log) = debug_log {
                let _ = log.flush();
            }
            let status = result.map_or_else(
                |error| {
                    emit(&ErrorEvent {
                        message: error.to_string(),
                    });
                    1
                },
                |()| 0,
            );
            std::process::exit(status)
        }
    }
}

/// Returns the recording as the stack can serve it: without TLS, an https page is converted to
/// cleartext.
fn convert_for_stack(site: Site, config: &LabConfig) -> Site {
    let plain = config
        .stack
        .as_ref()
        .is_some_and(|stack| stack.tls_version == TlsVersion::None);
    if plain { site.to_cleartext() } else { site }
}

/// What was opened before the lab's namespaces were created.
struct Prepared {
    started: Instant,
    logs: Option<(File, File)>,
    opened: connection_logs::Opened,
    uplink: Option<Uplink>,
    addresses: Vec<IpAddr>,
    ends: Ends,
    driver: Driver,
    dialer: Option<Dialer>,
    _claim: Option<Claim>,
}

fn run_lab(
    config: &LabConfig,
    site: Option<Arc<Site>>,
    inside: &Inside,
    commands: BufReader<File>,
    around: Prepared,
) -> Result<(), Error> {
    let origins = site.as_ref().map_or(&[][..], |site| site.origins());
    let ipv6 = site.is_none() || around.addresses.iter().any(IpAddr::is_ipv6);
    let ends = around.ends;
    let uplink = around.uplink.as_ref();
    files::replace(config, &ends, uplink, &around.addresses, ipv6)?;
    let tcp = TcpSettings::for_stack(config.stack.as_ref());
    // Before the first thread, because all threads inherit the core.
    let reserved_cores = config
        .realtime
        .then(reserve_core_without_realtime)
        .flatten();

    let (counts, windows) = (Arc::new(Counts::default()), FirstWindows::default());
    let live = around.dialer.zip(config.live.as_ref());
    let live = live.map(|(dialer, live)| LiveOptions {
        dial: Arc::new(move || dialer.connect()),
        authorities: live.authorities.clone(),
        client: ends.client.0.into(),
    });
    let servers = ServerThread::start(
        config,
        site.clone(),
        &ends,
        &tcp,
        ipv6,
        (&counts, around.opened.of_servers.clone(), &windows),
        live,
    )?;
    tracing::info!(
        tid = servers.tid,
        realtime = servers.realtime,
        origins = origins.len(),
        "the servers listen"
    );
    let _way_out = uplink
        .map(|uplink| uplink.join(&ends, servers.tid, inside.outer_pid))
        .transpose()?;
    let client = build_client(
        &ends,
        &TcpSettings::for_stack(clients_stack(config, uplink)),
        ipv6,
    )?;
    let realtime = config.realtime && config.realtime_servers;
    match around.uplink {
        Some(uplink) if !uplink.nameservers.is_empty() => {
            names::forward(uplink.namespace, uplink.nameservers, realtime)?;
        }
        _ => start_resolver(origins, realtime)?,
    }
    let device = client.kind();
    let queueing_discipline = servers.device.queueing_discipline().map(str::to_owned);
    let (cross_traffic, second) = build_cross_traffic(config, &ends)?;
    let watch = config.watch_interval_ms.map(|_| Watch::default());
    let (path, stopper) = Path::new(
        PathEnds {
            client,
            server: servers.device,
            second,
        },
        PathSettings {
            down: &config.path.down,
            up: &config.path.up,
            seed: config.seed,
            logs: around.logs,
            capture: around.opened.capture,
            watch: watch.clone(),
            windows: Some(windows),
        },
    )?;
    let summary_reset = path.summary_reset();
    let (path, realtime_priority) = start_path(path, config.realtime)?;
    tracing::info!(
        device,
        queueing_discipline,
        realtime_priority,
        "the path runs"
    );
    let suspension = site
        .as_ref()
        .and_then(|_| SuspensionWatch::start(Processes::here(), around.driver, realtime));
    let signals = Signals::listen()?;
    if let Some(cross_traffic) = &cross_traffic {
        cross_traffic.start();
    }
    emit(&Ready {
        init_pid: inside.outer_pid,
        server_tid: servers.tid,
        client_address: ends.client.0.into(),
        server_address: ends.server.0.into(),
        client_address6: ipv6.then(|| ends.client.1.into()),
        server_address6: ipv6.then(|| ends.server.1.into()),
        device,
        spki_sha256: servers.identity.as_ref().map(|i| i.spki_sha256.as_str()),
        ca_certificate: servers.identity.as_ref().map(|i| i.ca_certificate.as_str()),
        main_url: site.as_ref().map(|site| site.main_url().to_string()),
        origins,
        realtime_priority,
        server_realtime_priority: servers.realtime,
        reserved_cores,
        queueing_discipline,
        startup_ms: monotonic_now().since(around.started).as_secs_f64() * 1e3,
        site_digest: site.as_ref().map(|site| site.digest().to_string()),
        early_hints: servers.early_hints.as_ref(),
    });
    if let Some((watch, interval_ms)) = watch.zip(config.watch_interval_ms) {
        start_watch(watch, interval_ms);
    }
    let service = servers.service;
    let served = service.clone();
    let (tid, before_ns) = (servers.tid, Arc::new(AtomicU64::new(0)));
    let at_revisit = before_ns.clone();
    let forget = suspension.as_ref().map(SuspensionWatch::forget_callback);
    wait_for_stop(commands, signals, move || {
        summary_reset.request();
        forget.iter().for_each(|forget| forget());
        at_revisit.store(cpu_ns(tid).unwrap_or(0), Ordering::Relaxed);
        emit(&Revisit {
            at_ns: clock_ns(),
            connection: service.as_ref().map_or(0, |service| service.restart()),
        });
    });

    tracing::info!("stopping");
    let suspended = suspension.map(SuspensionWatch::end).transpose()?;
    let cross_traffic = cross_traffic.map(|flows| flows.summary());
    // Order matters: the servers report their connections while the path still carries packets.
    let server_ns = cpu_ns(tid).map(|ns| ns.saturating_sub(before_ns.load(Ordering::Relaxed)));
    let _ = servers.shutdown.send(());
    join(servers.thread, "servers")??;
    around.opened.of_servers.flush();
    stopper.stop();
    let mut path = join(path, "path")??;
    if site.is_none() {
        // Their origins are unknown.
        path.connections.clear();
    }
    emit(&Summary {
        path,
        cross_traffic,
        requests: counts.requests.load(Ordering::Relaxed),
        misses: counts.misses.load(Ordering::Relaxed),
        server_cpu_s: server_ns.map(|ns| ns as f64 / 1e9),
        suspended,
        live: served.and_then(|service| service.live()),
    });
    Ok(())
}

fn build_cross_traffic(
    config: &LabConfig,
    ends: &Ends,
) -> Result<(Option<CrossTraffic>, Option<SecondPair>), Error> {
    if config.cross_traffic.is_empty() {
        return Ok((None, None));
    }
    CrossTraffic::build(&config.cross_traffic, ends).map(|(flows, pair)| (Some(flows), Some(pair)))
}

fn duplicate_input() -> Result<std::fs::File, Error> {
    use std::os::fd::AsFd;
    std::io::stdin()
        .as_fd()
        .try_clone_to_owned()
        .map(Into::into)
        .map_err(|e| Error::Config(format!("read standard input: {}", refusal(&e))))
}

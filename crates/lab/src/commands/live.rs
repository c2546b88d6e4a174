//! `eyelevel-lab live`: a network namespace for browsers that loads from public servers as this
//! machine would, with end-to-end connections of their own (`spec/lab-events.md`, "A live
//! network").
//!
//! ```text
//! client ── router ── this machine's network, by address translation
//! ```
//!
//! The router is a namespace without a process. Its routes refuse addresses that
//! `eyelevel-addresses` considers not public, and this machine's own; the client has the same
//! routes, so that a refusal is immediate. Both forward packets unchanged: no connection is
//! terminated on the way. This process forwards DNS queries to the caller's resolver, so that no
//! route to it is needed.

use std::fs::{self, File};
use std::net::{IpAddr, Ipv6Addr};

use clap::Args;
use eyelevel_addresses::{Prefix, Verdict, verdicts};
use eyelevel_netns::{
    Masquerade, Netlink, RouteDestination, create_without_devices, in_network_namespace,
    local_addresses, monotonic_now, new_network_namespace, set_sysctl,
};
use eyelevel_recorder::spki_sha256;
use eyelevel_units::refusal;
use serde::Serialize;

use super::live_v6::MachineV6;
use crate::Error;
use crate::emit::emit;
use crate::network::devices::{add_v6_address, add_verdict_routes, bring_up};
use crate::network::ends::Ends;
use crate::network::names::{self, Forwarder};
use crate::network::topology::TcpSettings;
use crate::suspension::{Driver, Processes, Suspension, SuspensionWatch};
use crate::threads::runtime;
use crate::uplink::Uplink;
use crate::upstream_ca::UpstreamCa;

const WISH: &str = "a live network";
const CLIENT_DEVICE: &str = "live0";
const ROUTER_DEVICE: &str = "lan0";
/// The host numbers of router and client in the IPv6 network.
const ROUTER: u16 = 1;
const CLIENT: u16 = 2;

/// The arguments after `live`.
#[derive(Debug, Args)]
pub struct LiveArguments {
    /// An address or a range that may be reached although it is not public
    #[arg(long)]
    allow: Vec<String>,
    #[command(flatten)]
    upstream_ca: UpstreamCa,
}

#[derive(Serialize)]
#[serde(tag = "event", rename = "ready")]
struct Ready {
    /// The process whose namespaces browsers join.
    init_pid: u32,
    client_address: IpAddr,
    #[serde(skip_serializing_if = "Option::is_none")]
    client_address6: Option<Ipv6Addr>,
    /// Whether this machine has IPv6 but does not forward it.
    ipv6_not_forwarded: bool,
    spki_sha256: Vec<String>,
    startup_ms: f64,
}

/// What was observed of the load, once standard input has ended.
#[derive(Serialize)]
#[serde(tag = "event", rename = "summary")]
struct Summary {
    suspended: Option<Vec<Suspension>>,
}

/// Keeps the network until standard input ends.
pub fn run(arguments: &LiveArguments) -> Result<i32, Error> {
    let started = monotonic_now();
    let allowed = arguments.allow.iter().map(|text| parse_allowed(text));
    let allowed: Vec<Prefix> = allowed.collect::<Result<_, _>>()?;
    let spki_sha256 = arguments.upstream_ca.read(|each| spki_sha256(&each))?;
    let uplink = Uplink::open(WISH)?;
    let own_addresses = local_addresses()?;
    let machine_v6 = MachineV6::detect(&own_addresses);
    let has_v6 = machine_v6 == MachineV6::Forwarded;
    let verdicts = verdicts(&own_addresses, &allowed);
    let (ends, _claim) = Ends::choose_and_claim(&uplink.networks_taken())?;
    let own = fs::read_to_string("/etc/resolv.conf").unwrap_or_default();
    let (resolv_conf, nameservers) = names::split(&own);
    let hosts = format!("127.0.0.1 localhost\n::1 localhost\n{}", uplink.hosts);
    // The process must not have a second thread yet.
    let init_pid = create_without_devices(&resolv_conf, &hosts)?;
    let client = File::open(format!("/proc/{init_pid}/ns/net")).map_err(|error| {
        Error::Config(format!("{WISH}: open its namespace: {}", refusal(&error)))
    })?;
    let _way_out = connect(&uplink, &ends, &client, &verdicts, has_v6)?;
    let forwarder = in_network_namespace(&client, || Ok(Forwarder::listen()))?;
    let forwarder = forwarder
        .map_err(|error| Error::Config(format!("{WISH}: answer names: {}", refusal(&error))))?;
    let ended = await_end_of_input();
    let suspension = SuspensionWatch::start(Processes::of(init_pid), Driver::open(), true);
    runtime()?
        .block_on(async {
            emit(&Ready {
                init_pid,
                client_address: ends.client.0.into(),
                client_address6: has_v6.then(|| ends.documentation_v6(CLIENT)),
                ipv6_not_forwarded: machine_v6 == MachineV6::NotForwarded,
                spki_sha256,
                startup_ms: monotonic_now().since(started).as_secs_f64() * 1e3,
            });
            tokio::select! {
                _ = ended => Ok(()),
                failed = forwarder.serve(nameservers) => failed,
            }
        })
        .map_err(|error| Error::Config(format!("{WISH}: answer names: {}", refusal(&error))))?;
    emit(&Summary {
        suspended: suspension.map(SuspensionWatch::end).transpose()?,
    });
    Ok(0)
}

/// The connection to the outside, which ends on drop: one address translation per family, and the
/// router.
struct WayOut {
    _translations: Vec<Masquerade>,
    _router: File,
}

/// Sets up devices, addresses and routes from the client through the router to the caller's
/// network, which exist as long as the result.
fn connect(
    uplink: &Uplink,
    ends: &Ends,
    client: &File,
    verdicts: &[Verdict],
    has_v6: bool,
) -> Result<WayOut, Error> {
    let router = new_network_namespace()?;
    let (client_end, router_end): (IpAddr, IpAddr) = (ends.client.0.into(), ends.server.0.into());
    // Devices take such settings when they are created.
    in_network_namespace(&router, disable_reverse_path_filter)?;
    in_network_namespace(client, disable_reverse_path_filter)?;
    let own = std::process::id();
    let mut translations = vec![uplink.join_namespace(ends, &router, own, Some(verdicts))?];
    in_network_namespace(&router, || {
        let mut netlink = Netlink::open()?;
        netlink.add_veth_into(ROUTER_DEVICE, CLIENT_DEVICE, client)?;
        let index = bring_up(&mut netlink, ROUTER_DEVICE, router_end)?;
        let to_client = RouteDestination::Host(client_end);
        netlink.add_route(index, to_client, router_end, &Default::default())
    })?;
    in_network_namespace(client, || {
        let mut netlink = Netlink::open()?;
        let index = bring_up(&mut netlink, CLIENT_DEVICE, client_end)?;
        add_verdict_routes(&mut netlink, index, router_end, verdicts)
    })?;
    if has_v6 {
        translations.push(uplink.add_v6(ends, &router, own, Some(verdicts))?);
        connect_v6(ends, client, &router, verdicts)?;
    }
    in_network_namespace(client, || Ok(TcpSettings::for_stack(None).apply()))??;
    Ok(WayOut {
        _translations: translations,
        _router: router,
    })
}

/// Adds IPv6 to the devices between client and router.
fn connect_v6(
    ends: &Ends,
    client: &File,
    router: &File,
    verdicts: &[Verdict],
) -> Result<(), Error> {
    let [router_end, client_end] = [ROUTER, CLIENT].map(|host| ends.documentation_v6(host));
    in_network_namespace(router, || {
        let mut netlink = Netlink::open()?;
        let index = add_v6_address(&mut netlink, ROUTER_DEVICE, router_end, true)?;
        let to_client = RouteDestination::Host(client_end.into());
        netlink.add_route(index, to_client, router_end.into(), &Default::default())
    })?;
    in_network_namespace(client, || {
        let mut netlink = Netlink::open()?;
        let index = add_v6_address(&mut netlink, CLIENT_DEVICE, client_end, false)?;
        add_verdict_routes(&mut netlink, index, router_end.into(), verdicts)
    })?;
    Ok(())
}

/// Disables reverse path filtering: a router that reports that a packet is too long has an address
/// that is refused.
fn disable_reverse_path_filter() -> Result<(), eyelevel_netns::Error> {
    set_sysctl("net.ipv4.conf.all.rp_filter", "0")?;
    set_sysctl("net.ipv4.conf.default.rp_filter", "0")
}

fn parse_allowed(text: &str) -> Result<Prefix, Error> {
    text.parse().map_err(|_| {
        Error::Config(format!(
            "--allow {text:?}: a live load is judged by addresses; write one such as \
             192.168.7.1, or a range such as 192.168.7.0/24 or fd00:7::/64"
        ))
    })
}

/// Returns a receiver that resolves when standard input has ended.
fn await_end_of_input() -> tokio::sync::oneshot::Receiver<()> {
    let (ended_sender, ended) = tokio::sync::oneshot::channel();
    std::thread::spawn(move || {
        let _ = std::io::copy(&mut std::io::stdin().lock(), &mut std::io::sink());
        let _ = ended_sender.send(());
    });
    ended
}

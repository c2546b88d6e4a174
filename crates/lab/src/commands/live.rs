//! `eyelevel-lab live`: a network namespace for browsers that loads from public servers as this
//! machine would, with connections of their own from end to end (`spec/lab-events.md`, "A live
//! network").
//!
//! ```text
//! client ── router ── this machine's network, by address translation
//! ```
//!
//! The router is a namespace without a process. Its routes refuse what `eyelevel-addresses` says is
//! not public, and this machine's own addresses; the client's are the same, so that a refusal is told
//! at once. Packets pass both as they are: nothing ends a connection on the way. Names are asked of
//! the caller's resolver by whoever waits here, so that no route to it is needed.

use std::fs::{self, File};
use std::net::{IpAddr, Ipv4Addr};

use clap::Args;
use eyelevel_addresses::{Prefix, Verdict, verdicts_v4};
use eyelevel_netns::{
    Masquerade, Netlink, in_network_namespace, local_addresses, monotonic_now,
    new_network_namespace, set_sysctl, without_devices,
};
use eyelevel_recorder::spki_sha256;
use serde::Serialize;

use crate::Error;
use crate::emit::emit;
use crate::ends::Ends;
use crate::names::{self, Asked};
use crate::threads::runtime;
use crate::topology::TcpSettings;
use crate::uplink::{Uplink, add_verdicts, bring_up};
use crate::upstream_ca::UpstreamCa;

const WISH: &str = "a live network";
const CLIENT_DEVICE: &str = "live0";
const ROUTER_DEVICE: &str = "lan0";

/// The arguments after `live`.
#[derive(Debug, Args)]
pub struct LiveArguments {
    /// An address or a range of IPv4: may be reached although it is not public
    #[arg(long)]
    allow: Vec<String>,
    #[command(flatten)]
    upstream_ca: UpstreamCa,
}

#[derive(Serialize)]
#[serde(tag = "event", rename = "ready")]
struct Ready {
    /// The process whose namespaces browsers are to join.
    init_pid: u32,
    client_address: IpAddr,
    spki_sha256: Vec<String>,
    startup_ms: f64,
}

/// Keeps the network until standard input ends.
pub fn run(arguments: &LiveArguments) -> Result<i32, Error> {
    let started = monotonic_now();
    let allowed = arguments.allow.iter().map(|text| allowed(text));
    let allowed: Vec<Prefix> = allowed.collect::<Result<_, _>>()?;
    let spki_sha256 = arguments.upstream_ca.read(|each| spki_sha256(&each))?;
    let uplink = Uplink::look(WISH)?;
    let verdicts = verdicts_v4(&local_addresses()?, &allowed);
    let ends = Ends::of_lab(None, &[])?;
    let own = fs::read_to_string("/etc/resolv.conf").unwrap_or_default();
    let (resolv_conf, nameservers) = names::split(&own);
    let hosts = format!("127.0.0.1 localhost\n::1 localhost\n{}", uplink.hosts);
    // There must be no thread yet.
    let init_pid = without_devices(&resolv_conf, &hosts)?;
    let client = File::open(format!("/proc/{init_pid}/ns/net"))
        .map_err(|error| Error::Config(format!("{WISH}: open its namespace: {error}")))?;
    let _way_out = connect(&uplink, &ends, &client, &verdicts)?;
    let asked = in_network_namespace(&client, || Ok(Asked::listen()))?;
    let asked = asked.map_err(|error| Error::Config(format!("{WISH}: answer names: {error}")))?;
    let ended = end_of_input();
    runtime()?
        .block_on(async {
            emit(&Ready {
                init_pid,
                client_address: ends.client.0.into(),
                spki_sha256,
                startup_ms: monotonic_now().since(started).as_secs_f64() * 1e3,
            });
            tokio::select! {
                _ = ended => Ok(()),
                failed = asked.serve(nameservers) => failed,
            }
        })
        .map_err(|error| Error::Config(format!("{WISH}: answer names: {error}")))?;
    Ok(0)
}

/// Devices, addresses and routes from the client by the router to the caller's network; as long as
/// what is returned.
fn connect(
    uplink: &Uplink,
    ends: &Ends,
    client: &File,
    verdicts: &[Verdict],
) -> Result<(Masquerade, File), Error> {
    let router = new_network_namespace()?;
    let (client_end, router_end): (Ipv4Addr, Ipv4Addr) = (ends.client.0, ends.server.0);
    // Devices take such settings when they are made.
    in_network_namespace(&router, take_replies_from_anywhere)?;
    in_network_namespace(client, take_replies_from_anywhere)?;
    let way_out = uplink.join_namespace(ends, &router, std::process::id(), Some(verdicts))?;
    in_network_namespace(&router, || {
        let mut netlink = Netlink::open()?;
        netlink.add_veth_into(ROUTER_DEVICE, CLIENT_DEVICE, client)?;
        let index = bring_up(&mut netlink, ROUTER_DEVICE, router_end)?;
        let to_client = eyelevel_netns::RouteDestination::Host(client_end.into());
        netlink.add_route(index, to_client, router_end.into(), &Default::default())
    })?;
    in_network_namespace(client, || {
        let mut netlink = Netlink::open()?;
        let index = bring_up(&mut netlink, CLIENT_DEVICE, client_end)?;
        add_verdicts(&mut netlink, index, router_end, verdicts)
    })?;
    in_network_namespace(client, || Ok(TcpSettings::of(None).apply()))??;
    Ok((way_out, router))
}

/// A router that says that a packet is too long has an address that is refused.
fn take_replies_from_anywhere() -> Result<(), eyelevel_netns::Error> {
    set_sysctl("net.ipv4.conf.all.rp_filter", "0")?;
    set_sysctl("net.ipv4.conf.default.rp_filter", "0")
}

fn allowed(text: &str) -> Result<Prefix, Error> {
    let range = text.parse::<Prefix>().ok();
    range.filter(|range| range.base().is_ipv4()).ok_or_else(|| {
        Error::Config(format!(
            "--allow {text:?}: a live load is judged by addresses of IPv4; write one such as \
             192.168.7.1, or a range such as 192.168.7.0/24"
        ))
    })
}

/// Ready when standard input has ended.
fn end_of_input() -> tokio::sync::oneshot::Receiver<()> {
    let (told, ended) = tokio::sync::oneshot::channel();
    std::thread::spawn(move || {
        let _ = std::io::copy(&mut std::io::stdin().lock(), &mut std::io::sink());
        let _ = told.send(());
    });
    ended
}

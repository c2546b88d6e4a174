//! The `hosts` and `resolv.conf` of a lab, by which names are resolved in it, and by which a nested
//! lab detects it.

use crate::Error;
use crate::config::LabConfig;
use crate::network::around::OuterLab;
use crate::network::ends::{Ends, find_networks};
use crate::threads::NAMESERVER;
use crate::uplink::{Uplink, clients_stack};
use eyelevel_netns::sandbox;
use std::net::IpAddr;

const LOOPBACK: &str = "127.0.0.1 localhost\n::1 localhost\n";

/// Replaces the files in the calling process's mount namespace, for a lab whose servers have
/// `addresses`.
pub fn replace(
    config: &LabConfig,
    ends: &Ends,
    uplink: Option<&Uplink>,
    addresses: &[IpAddr],
    ipv6: bool,
) -> Result<(), Error> {
    let own = format!("nameserver {NAMESERVER}\noptions timeout:1 attempts:2\n");
    let resolv_conf = uplink.map_or(own.as_str(), |uplink| &uplink.resolv_conf);
    let outer = uplink.and_then(|uplink| uplink.around.as_ref());
    let mut networks_taken = find_networks(addresses);
    networks_taken.extend(outer.iter().flat_map(|outer| &outer.networks_taken));
    networks_taken.insert(ends.network());
    let outer_lab = OuterLab {
        internet: config.internet || outer.is_some_and(|outer| outer.internet),
        ipv6,
        stack: clients_stack(config, uplink).cloned(),
        networks_taken,
    };
    let own_names = if config.site.is_none() {
        ends.hosts()
    } else {
        String::new()
    };
    let others = uplink.map_or("", |uplink| &uplink.hosts);
    let hosts = [&outer_lab.to_hosts_line(), LOOPBACK, &own_names, others].concat();
    Ok(sandbox::isolate_files(resolv_conf, &hosts)?)
}

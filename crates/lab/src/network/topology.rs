//! Configures the two sides of a lab: devices, addresses, routes and TCP settings.

use crate::Error;
use crate::network::ends::Ends;
use eyelevel_netns::{
    Device, Netlink, RouteDestination, RouteSettings, set_sysctl, unshare_network,
};
use eyelevel_replay::{Ecn, HttpVersion, StackConfig};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The name of the device on both sides.
pub const PATH_DEVICE: &str = "lab0";
/// The MTU of Ethernet, and of every network of the presets.
const MTU_BYTES: u32 = 1500;
/// The kernel's own buffer limits, set explicitly so that a host's tuning does not leak into a lab:
/// minimum, initial and maximum bytes (Documentation/networking/ip-sysctl, Linux 6).
const RECEIVE_BUFFER: [u64; 3] = [4096, 131_072, 6_291_456];
const SEND_BUFFER: [u64; 3] = [4096, 16_384, 4_194_304];

/// The ratio of buffer to window: the kernel reserves half of a buffer for packet overhead until it
/// has measured it (`TCP_DEFAULT_SCALING_RATIO`).
const BUFFER_PER_WINDOW: u64 = 2;

/// The initial connection window of browsers' QUIC, which TCP stacks in comparisons get as well
/// (Wolsing et al. 2019, table 1). Recorded http origins of a QUIC stack use it, too.
const QUIC_RECEIVE_WINDOW_BYTES: u32 = 15 << 20;

/// The TCP settings of both ends. Without a stack the kernel's own values apply.
#[derive(Clone, Debug, Default)]
pub struct TcpSettings {
    routes: RouteSettings,
    slow_start_after_idle: bool,
    ecn: Option<Ecn>,
    receive_window_bytes: Option<u32>,
}

impl TcpSettings {
    /// Returns the settings for a stack, including QUIC stacks: recorded http origins use TCP with
    /// them, and must start like the TCP stack in the comparison.
    pub fn for_stack(stack: Option<&StackConfig>) -> Self {
        match stack {
            None => Self {
                slow_start_after_idle: true,
                ..Self::default()
            },
            Some(stack) => Self {
                routes: RouteSettings {
                    initial_window_packets: Some(stack.initial_window_packets),
                    initial_receive_window_packets: None,
                    congestion_control: Some(kernel_name(&stack.congestion_control).to_owned()),
                },
                slow_start_after_idle: stack.slow_start_after_idle,
                ecn: Some(stack.ecn),
                receive_window_bytes: stack.receive_window_bytes.or_else(|| {
                    (stack.http_version == HttpVersion::H3).then_some(QUIC_RECEIVE_WINDOW_BYTES)
                }),
            },
        }
    }

    /// Applies the settings to the calling thread's network namespace, except for routes.
    pub fn apply(&self) -> Result<(), Error> {
        let triple = |stock: [u64; 3]| {
            let buffer = self
                .receive_window_bytes
                .map(|window| BUFFER_PER_WINDOW * u64::from(window));
            let [first, most] = buffer.map_or([stock[1], stock[2]], |bytes| [bytes, bytes]);
            format!("{} {first} {most}", stock[0].min(first))
        };
        set_sysctl("net.ipv4.tcp_rmem", &triple(RECEIVE_BUFFER))?;
        set_sysctl("net.ipv4.tcp_wmem", &triple(SEND_BUFFER))?;
        let idle = if self.slow_start_after_idle { "1" } else { "0" };
        set_sysctl("net.ipv4.tcp_slow_start_after_idle", idle)?;
        // A connection must not start from what an earlier one learned.
        set_sysctl("net.ipv4.tcp_no_metrics_save", "1")?;
        if let Some(ecn) = self.ecn {
            set_sysctl("net.ipv4.tcp_ecn", if ecn == Ecn::On { "1" } else { "0" })?;
            // Otherwise a connection whose first SYN was lost would disable ECN (RFC 3168,
            // 6.1.1.1).
            set_sysctl("net.ipv4.tcp_ecn_fallback", "0")?;
        }
        Ok(())
    }
}

/// Returns the kernel's controller. The client's TCP must not use the machine's default, so a
/// controller that exists only for QUIC maps to CUBIC.
fn kernel_name(congestion_control: &str) -> &str {
    match congestion_control {
        name @ ("bbr" | "reno" | "cubic") => name,
        _ => "cubic",
    }
}

/// Configures the calling thread's namespace as the client's side.
pub fn build_client(ends: &Ends, tcp: &TcpSettings, ipv6: bool) -> Result<Device, Error> {
    let (device, mut netlink, index) = device(ipv6)?;
    let (v4, v6) = ends.client;
    for address in addresses(v4, v6, ipv6) {
        netlink.add_address(index, address)?;
        netlink.add_route(index, RouteDestination::Default, address, &tcp.routes)?;
    }
    tcp.apply()?;
    Ok(device)
}

/// Moves the calling thread into the server's namespace and configures it: sockets on the
/// unspecified address receive connections to every recorded one.
pub fn build_server(
    ends: &Ends,
    tcp: &TcpSettings,
    origins: &[IpAddr],
    ipv6: bool,
) -> Result<Device, Error> {
    unshare_network()?;
    let (device, mut netlink, index) = device(ipv6)?;
    let loopback = netlink.link_index("lo")?;
    let mut answered = origins.to_vec();
    answered.sort_unstable();
    answered.dedup();
    for &address in &answered {
        netlink.add_local_route(loopback, address)?;
    }
    let own = addresses(ends.server.0, ends.server.1, ipv6);
    let peers = addresses(ends.client.0, ends.client.1, ipv6);
    for (address, peer) in own.into_iter().zip(peers) {
        netlink.add_address(index, address)?;
        let source = choose_source_address(address, &answered);
        netlink.add_route(index, RouteDestination::Host(peer), source, &tcp.routes)?;
    }
    tcp.apply()?;
    // A third-party server listens on port 443 without the lab's privileges.
    set_sysctl("net.ipv4.ip_unprivileged_port_start", "0")?;
    if ipv6 {
        // It may bind to an address of IPv4 for which there is only a local route; so over IPv6.
        set_sysctl("net.ipv6.ip_nonlocal_bind", "1")?;
    }
    Ok(device)
}

/// Returns the source of what the server's wildcard sockets send without naming an address: the only
/// IPv4 origin, as on a machine with one address, else `own`. Third-party servers answer from it. Of
/// IPv6 the kernel takes no source that has only a local route.
fn choose_source_address(own: IpAddr, origins: &[IpAddr]) -> IpAddr {
    let mut v4 = origins.iter().filter(|each| each.is_ipv4());
    match (v4.next(), v4.next()) {
        (Some(&origin), None) if own.is_ipv4() => origin,
        _ => own,
    }
}

/// Moves the calling thread into the second client's namespace and configures it.
pub fn build_second_client(ends: &Ends) -> Result<Device, Error> {
    build_second(ends.second_client(), ends.second_server())
}

/// Moves the calling thread into the second server's namespace and configures it.
pub fn build_second_server(ends: &Ends) -> Result<Device, Error> {
    build_second(ends.second_server(), ends.second_client())
}

/// Configures a host with the kernel's own settings and a route only to its peer.
fn build_second(own: Ipv4Addr, peer: Ipv4Addr) -> Result<Device, Error> {
    unshare_network()?;
    let (device, mut netlink, index) = device(false)?;
    netlink.add_address(index, own.into())?;
    let tcp = TcpSettings::for_stack(None);
    let peer = RouteDestination::Host(peer.into());
    netlink.add_route(index, peer, own.into(), &tcp.routes)?;
    tcp.apply()?;
    Ok(device)
}

fn device(ipv6: bool) -> Result<(Device, Netlink, u32), Error> {
    let mut netlink = Netlink::open()?;
    let loopback = netlink.link_index("lo")?;
    netlink.set_up(loopback, None)?;
    // Without IPv6 origins the kernel would still send its solicitations over the path.
    let disabled = if ipv6 { "0" } else { "1" };
    let has_ipv6 = std::path::Path::new("/proc/sys/net/ipv6").exists();
    if has_ipv6 {
        set_sysctl("net.ipv6.conf.default.disable_ipv6", disabled)?;
    }
    let device = Device::create(PATH_DEVICE)?;
    if has_ipv6 && ipv6 {
        set_sysctl(
            &format!("net.ipv6.conf.{PATH_DEVICE}.router_solicitations"),
            "0",
        )?;
        set_sysctl(&format!("net.ipv6.conf.{PATH_DEVICE}.addr_gen_mode"), "1")?;
    }
    let index = netlink.link_index(PATH_DEVICE)?;
    netlink.set_up(index, Some(MTU_BYTES))?;
    Ok((device, netlink, index))
}

fn addresses(v4: Ipv4Addr, v6: Ipv6Addr, ipv6: bool) -> Vec<IpAddr> {
    let mut all = vec![v4.into()];
    if ipv6 {
        all.push(v6.into());
    }
    all
}

//! Sets addresses and routes of the devices that connect the far end to the outside.

use eyelevel_addresses::Verdict;
use eyelevel_netns::{Netlink, RouteDestination, set_sysctl};
use std::net::{IpAddr, Ipv6Addr};

/// Adds routes to the far side and through it to the client.
pub fn add_return_routes(
    netlink: &mut Netlink,
    index: u32,
    near_side: IpAddr,
    far_side: IpAddr,
    client: IpAddr,
) -> Result<(), eyelevel_netns::Error> {
    let peer = RouteDestination::Host(far_side);
    netlink.add_route(index, peer, near_side, &Default::default())?;
    netlink.add_route_via(index, RouteDestination::Host(client), far_side)
}

/// Adds an IPv6 address to a device that is up. A forwarding device also has a link-local one, for
/// neighbour discovery; a client has none, so that no other link-local host is reachable.
pub fn add_v6_address(
    netlink: &mut Netlink,
    name: &str,
    own: Ipv6Addr,
    passes_on: bool,
) -> Result<u32, eyelevel_netns::Error> {
    for (setting, value) in [
        ("addr_gen_mode", "1"),
        ("accept_ra", "0"),
        ("disable_ipv6", "0"),
    ] {
        set_sysctl(&format!("net.ipv6.conf.{name}.{setting}"), value)?;
    }
    let index = netlink.link_index(name)?;
    if passes_on {
        let [.., host] = own.segments();
        let link_local = Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, host);
        netlink.add_address(index, link_local.into())?;
    }
    netlink.add_address(index, own.into())?;
    Ok(index)
}

/// Adds an address to a device and sets it up; returns its index.
pub fn bring_up(
    netlink: &mut Netlink,
    name: &str,
    own: IpAddr,
) -> Result<u32, eyelevel_netns::Error> {
    let _ = set_sysctl(&format!("net.ipv6.conf.{name}.disable_ipv6"), "1");
    let index = netlink.link_index(name)?;
    netlink.set_up(index, None)?;
    netlink.add_address(index, own)?;
    Ok(index)
}

/// Adds routes through a neighbour to everything of its family that the verdicts allow, and to
/// nothing else.
pub fn add_verdict_routes(
    netlink: &mut Netlink,
    index: u32,
    neighbour: IpAddr,
    verdicts: &[Verdict],
) -> Result<(), eyelevel_netns::Error> {
    let is_of_family = |each: &&Verdict| each.range.base().is_ipv4() == neighbour.is_ipv4();
    for verdict in verdicts.iter().filter(is_of_family) {
        let (first, bits) = (verdict.range.base(), verdict.range.bits());
        if !verdict.is_reached {
            netlink.add_refusal(first, bits)?;
        } else if bits > 0 {
            let range = RouteDestination::Range(first, bits);
            netlink.add_route_via_neighbour(index, range, neighbour)?;
        }
    }
    netlink.add_route_via_neighbour(index, RouteDestination::Default, neighbour)
}

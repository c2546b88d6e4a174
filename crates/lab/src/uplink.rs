//! The far end's way to the network around the lab: a pair of virtual Ethernet devices and address
//! translation outside, all of which the kernel takes away with the lab.

use crate::Error;
use crate::config::LabConfig;
use crate::ends::Ends;
use eyelevel_addresses::Verdict;
use eyelevel_netns::{Masquerade, Netlink, RouteDestination, in_network_namespace, set_sysctl};
use std::fs::{self, File};
use std::net::{IpAddr, Ipv6Addr};
use std::path::Path;

/// The far end's second device.
const DEVICE: &str = "wan0";
/// Where systemd-resolved names the real servers, while /etc/resolv.conf names itself.
const RESOLVED: &str = "/run/systemd/resolve/resolv.conf";

/// The network around the lab, kept open from before the lab's own was made.
pub struct Uplink {
    namespace: File,
    /// What the lab's `resolv.conf` says.
    pub resolv_conf: String,
    /// What the lab's `hosts` says beside its own names.
    pub hosts: String,
}

impl Uplink {
    /// Where the configuration asks for it: looks whether it can be had. Nothing is changed yet.
    pub fn of(config: &LabConfig) -> Result<Option<Self>, Error> {
        if !config.internet {
            return Ok(None);
        }
        if config.site.is_some() {
            return Err(Error::Config(
                "internet: a lab with a recorded site has no way out; leave one of them out".into(),
            ));
        }
        Self::look("internet").map(Some)
    }

    /// Looks whether there can be one, for what `wish` names.
    pub fn look(wish: &str) -> Result<Self, Error> {
        let refuse = |text: &str| Err(Error::Config(format!("{wish}: {text}")));
        if !eyelevel_netns::is_root() {
            return refuse("needs root, to translate addresses outside the path; use sudo");
        }
        let forwards = fs::read_to_string("/proc/sys/net/ipv4/ip_forward").unwrap_or_default();
        if forwards.trim() != "1" {
            return refuse("this machine forwards no packets; sysctl -w net.ipv4.ip_forward=1");
        }
        let namespace = File::open("/proc/self/ns/net")
            .map_err(|error| Error::Config(format!("{wish}: open this network: {error}")))?;
        Ok(Self {
            namespace,
            resolv_conf: resolv_conf(),
            hosts: fs::read_to_string("/etc/hosts").unwrap_or_default(),
        })
    }

    /// Joins the far end, whose namespace is that of the lab's thread `server_tid`, to the outside.
    /// The way exists as long as what is returned, and no longer than the lab.
    pub fn join(self, ends: &Ends, server_tid: u32, lab_pid: u32) -> Result<Masquerade, Error> {
        let far = File::open(format!("/proc/self/task/{server_tid}/ns/net"))
            .map_err(|error| Error::Config(format!("internet: open the far end: {error}")))?;
        self.join_namespace(ends, &far, lab_pid, None)
    }

    /// The same where the far end is a namespace that passes packets on for the client: with
    /// `verdicts` to what they say alone, and so not to this machine itself.
    pub fn join_namespace(
        &self,
        ends: &Ends,
        far: &File,
        lab_pid: u32,
        verdicts: Option<&[Verdict]>,
    ) -> Result<Masquerade, Error> {
        let [network, near_side, far_side] = [0, 5, 6].map(|host| ends.beside_v4(host).into());
        let client = ends.client.0.into();
        let name = format!("eyl{lab_pid}");
        let masquerade = in_network_namespace(&self.namespace, || {
            let mut netlink = Netlink::open()?;
            netlink.add_veth_into(&name, DEVICE, far)?;
            let index = bring_up(&mut netlink, &name, near_side)?;
            add_way_back(&mut netlink, index, near_side, far_side, client)?;
            Masquerade::of(network, &name)
        })?;
        in_network_namespace(far, || {
            let mut netlink = Netlink::open()?;
            let index = bring_up(&mut netlink, DEVICE, far_side)?;
            match verdicts {
                Some(verdicts) => add_verdicts(&mut netlink, index, near_side, verdicts)?,
                None => {
                    let peer = RouteDestination::Host(near_side);
                    netlink.add_route(index, peer, far_side, &Default::default())?;
                    netlink.add_route_via(index, RouteDestination::Default, near_side)?;
                }
            }
            set_sysctl("net.ipv4.ip_forward", "1")
        })?;
        Ok(masquerade)
    }

    /// Adds IPv6 to the way of [`Self::join_namespace`], to what `verdicts` say alone.
    pub fn add_v6(
        &self,
        ends: &Ends,
        far: &File,
        lab_pid: u32,
        verdicts: &[Verdict],
    ) -> Result<Masquerade, Error> {
        let [network, client, near_side, far_side] =
            [0, 2, 5, 6].map(|host| ends.as_if_public(host));
        let name = format!("eyl{lab_pid}");
        let masquerade = in_network_namespace(&self.namespace, || {
            let mut netlink = Netlink::open()?;
            let index = add_v6_address(&mut netlink, &name, near_side, true)?;
            let (near_side, far_side) = (near_side.into(), far_side.into());
            add_way_back(&mut netlink, index, near_side, far_side, client.into())?;
            Masquerade::of(network.into(), &name)
        })?;
        in_network_namespace(far, || {
            let mut netlink = Netlink::open()?;
            let index = add_v6_address(&mut netlink, DEVICE, far_side, true)?;
            add_verdicts(&mut netlink, index, near_side.into(), verdicts)?;
            set_sysctl("net.ipv6.conf.all.forwarding", "1")
        })?;
        Ok(masquerade)
    }
}

/// Routes to the far side, and by it to the client.
fn add_way_back(
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

/// Gives a device that is up an address of IPv6. One that passes packets on has a link-local one, too,
/// from which it asks for its neighbours; a client has none, so that nobody of the link is reached.
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

/// Gives a device its address and sets it up; its number.
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

/// Routes by a neighbour to all of its family that the verdicts let pass, and to nothing else.
pub fn add_verdicts(
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

/// A resolver on this machine's loopback is not there inside a lab.
fn resolv_conf() -> String {
    let own = fs::read_to_string("/etc/resolv.conf").unwrap_or_default();
    let is_loopback = |text: &str| {
        text.lines()
            .filter_map(|line| line.strip_prefix("nameserver"))
            .all(|address| address.trim().starts_with("127."))
    };
    if is_loopback(&own) && Path::new(RESOLVED).exists() {
        return fs::read_to_string(RESOLVED).unwrap_or(own);
    }
    own
}

//! The far end's way to the network around the lab: a pair of virtual Ethernet devices and address
//! translation outside, all of which the kernel takes away with the lab.

use crate::Error;
use crate::config::LabConfig;
use crate::network::around::{Around, hosts_of_others};
use crate::network::devices::{add_v6_address, add_verdicts, add_way_back, bring_up};
use crate::network::ends::Ends;
use crate::network::names;
use crate::network::topology::PATH_DEVICE;
use eyelevel_addresses::Verdict;
use eyelevel_netns::{Masquerade, Netlink, RouteDestination, in_network_namespace, set_sysctl};
use eyelevel_replay::StackConfig;
use eyelevel_units::refusal;
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::net::SocketAddr;

/// The far end's second device.
const DEVICE: &str = "wan0";

/// What address translation needs of the kernel around a lab that it is done in, beyond what it is by
/// itself: it must let every packet of a known connection pass, whatever loss and reordering left of its
/// windows, and know it for as long as an emulated outage may last.
const TRANSLATION: [(&str, &str); 3] = [
    ("nf_conntrack_tcp_be_liberal", "1"),
    ("nf_conntrack_udp_timeout", "86400"),
    ("nf_conntrack_udp_timeout_stream", "86400"),
];

/// The network around the lab, kept open from before the lab's own was made.
pub struct Uplink {
    pub namespace: File,
    /// What the lab's `resolv.conf` says.
    pub resolv_conf: String,
    /// Who answers names on that network's own loopback, if that is where they are asked for.
    pub nameservers: Vec<SocketAddr>,
    /// What the lab's `hosts` says beside its own names.
    pub hosts: String,
    /// The lab whose client's network it is.
    pub around: Option<Around>,
}

impl Uplink {
    /// Where the configuration asks for it: looks whether it can be had. Nothing is changed yet.
    pub fn of(config: &LabConfig) -> Result<Option<Self>, Error> {
        if config.site.is_some() && (config.internet || config.join) {
            return Err(Error::Config(
                "internet, join: a lab with a recorded site has no way out; leave one of them out"
                    .into(),
            ));
        }
        if config.internet {
            let uplink = Self::look("internet")?;
            if uplink
                .around
                .as_ref()
                .is_some_and(|around| !around.internet)
            {
                return Err(Error::Config(
                    "internet: the lab around this command has no way out; give its path --internet, \
                     too, or leave it out here: what is around is reached without"
                        .into(),
                ));
            }
            return Ok(Some(uplink));
        }
        if config.join && Around::find().is_some() {
            return Self::look("a path inside a lab").map(Some);
        }
        Ok(None)
    }

    /// Looks whether there can be one, for what `wish` names.
    pub fn look(wish: &str) -> Result<Self, Error> {
        let refuse = |text: &str| Err(Error::Config(format!("{wish}: {text}")));
        if !eyelevel_netns::is_privileged() {
            return refuse(
                "needs root, to translate addresses outside the path; use sudo (in a container \
                 it takes the capabilities that docs/guides/container.md names)",
            );
        }
        let around = Around::find();
        let forwards = fs::read_to_string("/proc/sys/net/ipv4/ip_forward").unwrap_or_default();
        if around.is_none() && forwards.trim() != "1" {
            return refuse(
                "this machine forwards no packets; as root, run: sysctl -w net.ipv4.ip_forward=1",
            );
        }
        let namespace = File::open("/proc/self/ns/net").map_err(|error| {
            Error::Config(format!("{wish}: open this network: {}", refusal(&error)))
        })?;
        let (resolv_conf, nameservers) = names::around(around.is_some());
        Ok(Self {
            namespace,
            resolv_conf,
            nameservers,
            hosts: hosts_of_others(),
            around,
        })
    }

    /// Networks in which a lab that is joined to it would meet others.
    pub fn networks_taken(&self) -> BTreeSet<u16> {
        let around = self.around.as_ref();
        around.map_or_else(BTreeSet::new, |around| around.networks_taken.clone())
    }

    /// Whether IPv6 leads further than to the far end.
    fn has_ipv6(&self) -> bool {
        self.around.as_ref().is_some_and(|around| around.ipv6)
    }

    /// Joins the far end, whose namespace is that of the lab's thread `server_tid`, to the outside.
    /// The way exists as long as what is returned, and no longer than the lab.
    pub fn join(
        &self,
        ends: &Ends,
        server_tid: u32,
        lab_pid: u32,
    ) -> Result<Vec<Masquerade>, Error> {
        let far = File::open(format!("/proc/self/task/{server_tid}/ns/net")).map_err(|error| {
            Error::Config(format!("internet: open the far end: {}", refusal(&error)))
        })?;
        let mut translations = vec![self.join_namespace(ends, &far, lab_pid, None)?];
        if self.has_ipv6() {
            translations.push(self.add_v6(ends, &far, lab_pid, None)?);
        }
        Ok(translations)
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
            if self.around.is_some() {
                pass_on()?;
            }
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

    /// Adds IPv6 to the way of [`Self::join_namespace`]: with `verdicts` to what they say alone.
    pub fn add_v6(
        &self,
        ends: &Ends,
        far: &File,
        lab_pid: u32,
        verdicts: Option<&[Verdict]>,
    ) -> Result<Masquerade, Error> {
        let own = |host| match verdicts {
            Some(_) => ends.as_if_public(host),
            None => ends.beside_v6(host),
        };
        let [network, client, near_side, far_side] = [0, 2, 5, 6].map(own);
        let name = format!("eyl{lab_pid}");
        let masquerade = in_network_namespace(&self.namespace, || {
            if self.around.is_some() {
                forward_v6()?;
            }
            let mut netlink = Netlink::open()?;
            let index = add_v6_address(&mut netlink, &name, near_side, true)?;
            let (near_side, far_side) = (near_side.into(), far_side.into());
            add_way_back(&mut netlink, index, near_side, far_side, client.into())?;
            Masquerade::of(network.into(), &name)
        })?;
        in_network_namespace(far, || {
            let mut netlink = Netlink::open()?;
            let index = add_v6_address(&mut netlink, DEVICE, far_side, true)?;
            let Some(verdicts) = verdicts else {
                let peer = RouteDestination::Host(near_side.into());
                netlink.add_route(index, peer, far_side.into(), &Default::default())?;
                netlink.add_route_via(index, RouteDestination::Default, near_side.into())?;
                return forward_v6();
            };
            add_verdicts(&mut netlink, index, near_side.into(), verdicts)?;
            set_sysctl("net.ipv6.conf.all.forwarding", "1")
        })?;
        Ok(masquerade)
    }
}

/// Lets a lab's client pass packets on. Its network goes with the lab, so nothing outlives it.
fn pass_on() -> Result<(), eyelevel_netns::Error> {
    for (name, value) in TRANSLATION {
        // Kernels before 5.9 keep some of them from users without rights over the machine.
        let _ = set_sysctl(&format!("net.netfilter.{name}"), value);
    }
    set_sysctl("net.ipv4.ip_forward", "1")
}

/// The same of IPv6, at either end of a path.
fn forward_v6() -> Result<(), eyelevel_netns::Error> {
    // A router of IPv6 joins groups on all its links, and would say so through the path.
    let mut netlink = Netlink::open()?;
    let index = netlink.link_index(PATH_DEVICE)?;
    netlink.end_multicast(index)?;
    set_sysctl("net.ipv6.conf.all.forwarding", "1")
}

/// The stack that a lab's client is set for: its own, or that of the servers around it, which are the
/// client's as well.
pub fn clients_stack<'a>(
    config: &'a LabConfig,
    uplink: Option<&'a Uplink>,
) -> Option<&'a StackConfig> {
    let around = uplink.and_then(|uplink| uplink.around.as_ref());
    config
        .stack
        .as_ref()
        .or_else(|| around.and_then(|around| around.stack.as_ref()))
}

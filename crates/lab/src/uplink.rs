//! The far end's connection to the network around the lab: a pair of virtual Ethernet devices and
//! address translation outside, all of which the kernel removes with the lab.

use crate::Error;
use crate::config::LabConfig;
use crate::network::around::{OuterLab, read_other_hosts};
use crate::network::devices::{add_return_routes, add_v6_address, add_verdict_routes, bring_up};
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

/// Settings for address translation in the network around a lab: it must pass every packet of a
/// known connection, whatever windows loss and reordering left, and remember it for as long as an
/// emulated outage may last.
const TRANSLATION: [(&str, &str); 3] = [
    ("nf_conntrack_tcp_be_liberal", "1"),
    ("nf_conntrack_udp_timeout", "86400"),
    ("nf_conntrack_udp_timeout_stream", "86400"),
];

/// The network around the lab, opened before the lab's own was created.
pub struct Uplink {
    pub namespace: File,
    /// The content of the lab's `resolv.conf`.
    pub resolv_conf: String,
    /// The name servers on that network's own loopback, if it uses any.
    pub nameservers: Vec<SocketAddr>,
    /// Lines to add to the lab's `hosts`.
    pub hosts: String,
    /// The lab whose client's network it is, if any.
    pub around: Option<OuterLab>,
}

impl Uplink {
    /// Opens the uplink if the configuration requests one, after checking that it is possible.
    /// Nothing is changed yet.
    pub fn open_for(config: &LabConfig) -> Result<Option<Self>, Error> {
        if config.site.is_some() && (config.internet || config.join) {
            return Err(Error::Config(
                "internet, join: a lab with a recorded site has no way out; leave one of them out"
                    .into(),
            ));
        }
        if config.internet {
            let uplink = Self::open("internet")?;
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
        if config.join && OuterLab::find().is_some() {
            return Self::open("a path inside a lab").map(Some);
        }
        Ok(None)
    }

    /// Checks that an uplink is possible and opens it; `wish` names its purpose in messages.
    pub fn open(wish: &str) -> Result<Self, Error> {
        let refuse = |text: &str| Err(Error::Config(format!("{wish}: {text}")));
        if !eyelevel_netns::is_privileged() {
            return refuse(
                "needs root, to translate addresses outside the path; use sudo (in a container \
                 it takes the capabilities that docs/guides/container.md names)",
            );
        }
        let around = OuterLab::find();
        let forwards = fs::read_to_string("/proc/sys/net/ipv4/ip_forward").unwrap_or_default();
        if around.is_none() && forwards.trim() != "1" {
            return refuse(
                "this machine forwards no packets; as root, run: sysctl -w net.ipv4.ip_forward=1",
            );
        }
        let namespace = File::open("/proc/self/ns/net").map_err(|error| {
            Error::Config(format!("{wish}: open this network: {}", refusal(&error)))
        })?;
        let (resolv_conf, nameservers) = names::resolver_config(around.is_some());
        Ok(Self {
            namespace,
            resolv_conf,
            nameservers,
            hosts: read_other_hosts(),
            around,
        })
    }

    /// Returns the networks that a lab joined to it must not use.
    pub fn networks_taken(&self) -> BTreeSet<u16> {
        let around = self.around.as_ref();
        around.map_or_else(BTreeSet::new, |around| around.networks_taken.clone())
    }

    /// Whether IPv6 leads beyond the far end.
    fn has_ipv6(&self) -> bool {
        self.around.as_ref().is_some_and(|around| around.ipv6)
    }

    /// Joins the far end, whose namespace is that of the lab's thread `server_tid`, to the outside.
    /// The connection exists as long as the result, and no longer than the lab.
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

    /// Joins a far end that is a namespace forwarding packets for the client. With `verdicts` it
    /// reaches only what they allow, and so not this machine itself.
    pub fn join_namespace(
        &self,
        ends: &Ends,
        far: &File,
        lab_pid: u32,
        verdicts: Option<&[Verdict]>,
    ) -> Result<Masquerade, Error> {
        let [network, near_side, far_side] = [0, 5, 6].map(|host| ends.host_v4(host).into());
        let client = ends.client.0.into();
        let name = format!("eyl{lab_pid}");
        let masquerade = in_network_namespace(&self.namespace, || {
            if self.around.is_some() {
                enable_forwarding()?;
            }
            let mut netlink = Netlink::open()?;
            netlink.add_veth_into(&name, DEVICE, far)?;
            let index = bring_up(&mut netlink, &name, near_side)?;
            add_return_routes(&mut netlink, index, near_side, far_side, client)?;
            Masquerade::for_network(network, &name)
        })?;
        in_network_namespace(far, || {
            let mut netlink = Netlink::open()?;
            let index = bring_up(&mut netlink, DEVICE, far_side)?;
            match verdicts {
                Some(verdicts) => add_verdict_routes(&mut netlink, index, near_side, verdicts)?,
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

    /// Adds IPv6 to the connection of [`Self::join_namespace`], limited by `verdicts`.
    pub fn add_v6(
        &self,
        ends: &Ends,
        far: &File,
        lab_pid: u32,
        verdicts: Option<&[Verdict]>,
    ) -> Result<Masquerade, Error> {
        let own = |host| match verdicts {
            Some(_) => ends.documentation_v6(host),
            None => ends.host_v6(host),
        };
        let [network, client, near_side, far_side] = [0, 2, 5, 6].map(own);
        let name = format!("eyl{lab_pid}");
        let masquerade = in_network_namespace(&self.namespace, || {
            if self.around.is_some() {
                enable_forwarding_v6()?;
            }
            let mut netlink = Netlink::open()?;
            let index = add_v6_address(&mut netlink, &name, near_side, true)?;
            let (near_side, far_side) = (near_side.into(), far_side.into());
            add_return_routes(&mut netlink, index, near_side, far_side, client.into())?;
            Masquerade::for_network(network.into(), &name)
        })?;
        in_network_namespace(far, || {
            let mut netlink = Netlink::open()?;
            let index = add_v6_address(&mut netlink, DEVICE, far_side, true)?;
            let Some(verdicts) = verdicts else {
                let peer = RouteDestination::Host(near_side.into());
                netlink.add_route(index, peer, far_side.into(), &Default::default())?;
                netlink.add_route_via(index, RouteDestination::Default, near_side.into())?;
                return enable_forwarding_v6();
            };
            add_verdict_routes(&mut netlink, index, near_side.into(), verdicts)?;
            set_sysctl("net.ipv6.conf.all.forwarding", "1")
        })?;
        Ok(masquerade)
    }
}

/// Enables forwarding by a lab's client. Its network is removed with the lab, so nothing outlives
/// it.
fn enable_forwarding() -> Result<(), eyelevel_netns::Error> {
    for (name, value) in TRANSLATION {
        // Kernels before 5.9 refuse some of them to users without privileges on the machine.
        let _ = set_sysctl(&format!("net.netfilter.{name}"), value);
    }
    set_sysctl("net.ipv4.ip_forward", "1")
}

/// Enables forwarding of IPv6, at either end of a path.
fn enable_forwarding_v6() -> Result<(), eyelevel_netns::Error> {
    // An IPv6 router joins groups on all its links, and would announce it over the path.
    let mut netlink = Netlink::open()?;
    let index = netlink.link_index(PATH_DEVICE)?;
    netlink.end_multicast(index)?;
    set_sysctl("net.ipv6.conf.all.forwarding", "1")
}

/// Returns the stack that a lab's client is set for: its own, or that of the servers around it,
/// which serve the client as well.
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

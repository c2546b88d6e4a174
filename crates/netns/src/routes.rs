use crate::Error;
use crate::netlink::{Netlink, family, host_prefix};
use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::route::{
    RouteAddress, RouteAttribute, RouteFlags, RouteHeader, RouteMessage, RouteMetric,
    RouteProtocol, RouteScope, RouteType,
};
use std::net::IpAddr;

/// The table for the machine's own addresses (RT_TABLE_LOCAL).
const TABLE_LOCAL: u8 = 255;

/// The destination of a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RouteDestination {
    /// One address.
    Host(IpAddr),
    /// All addresses that share this many bits with the first of them.
    Range(IpAddr, u8),
    /// Everything that no other route names.
    Default,
}

/// Congestion settings that the kernel takes from a route when a TCP connection starts on it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RouteSettings {
    /// The initial congestion window in segments.
    pub initial_window_packets: Option<u32>,
    /// The initial receive window in segments.
    pub initial_receive_window_packets: Option<u32>,
    /// The congestion control of connections whose socket does not name one.
    pub congestion_control: Option<String>,
}

impl RouteSettings {
    fn metrics(&self) -> Vec<RouteMetric> {
        let mut metrics = Vec::new();
        metrics.extend(self.initial_window_packets.map(RouteMetric::InitCwnd));
        metrics.extend(
            self.initial_receive_window_packets
                .map(RouteMetric::InitRwnd),
        );
        metrics.extend(self.congestion_control.clone().map(RouteMetric::CcAlgo));
        metrics
    }
}

impl Netlink {
    /// Makes sockets bound to the unspecified address receive packets to `address` (AnyIP).
    pub fn add_local_route(&mut self, loopback: u32, address: IpAddr) -> Result<(), Error> {
        let mut message = route(loopback, RouteDestination::Host(address), address);
        message.header.table = TABLE_LOCAL;
        message.header.scope = RouteScope::Host;
        message.header.kind = RouteType::Local;
        self.create(RouteNetlinkMessage::NewRoute(message), || {
            format!("answer for the address {address}")
        })
    }

    /// Adds a route to one address, or to every address of its family, over an interface. `source`
    /// is the source address of new connections.
    pub fn add_route(
        &mut self,
        index: u32,
        destination: RouteDestination,
        source: IpAddr,
        settings: &RouteSettings,
    ) -> Result<(), Error> {
        let mut message = route(index, destination, source);
        message.header.scope = RouteScope::Link;
        message
            .attributes
            .push(RouteAttribute::PrefSource(route_address(source)));
        let metrics = settings.metrics();
        if !metrics.is_empty() {
            message.attributes.push(RouteAttribute::Metrics(metrics));
        }
        self.create(RouteNetlinkMessage::NewRoute(message), || {
            format!("add a route to {destination:?} with {settings:?}")
        })
    }

    /// Adds a route to one address, or to every other one, through a gateway behind an interface.
    pub fn add_route_via(
        &mut self,
        index: u32,
        destination: RouteDestination,
        gateway: IpAddr,
    ) -> Result<(), Error> {
        let message = route_via(index, destination, gateway);
        self.create(RouteNetlinkMessage::NewRoute(message), || {
            format!("add a route to {destination:?} by {gateway}")
        })
    }

    /// Adds a route through a gateway that is assumed to be on the link: no route leads to the
    /// gateway itself, so that it is not reachable.
    pub fn add_route_via_neighbour(
        &mut self,
        index: u32,
        destination: RouteDestination,
        gateway: IpAddr,
    ) -> Result<(), Error> {
        let mut message = route_via(index, destination, gateway);
        message.header.flags = RouteFlags::Onlink;
        self.create(RouteNetlinkMessage::NewRoute(message), || {
            format!("add a route to {destination:?} by the neighbour {gateway}")
        })
    }

    /// Adds a route that refuses packets to a range of addresses, before any other route.
    pub fn add_refusal(&mut self, first: IpAddr, bits: u8) -> Result<(), Error> {
        let mut message = route(0, RouteDestination::Range(first, bits), first);
        message
            .attributes
            .retain(|each| !matches!(each, RouteAttribute::Oif(_)));
        message.header.kind = RouteType::Unreachable;
        self.create(RouteNetlinkMessage::NewRoute(message), || {
            format!("refuse {first}/{bits}")
        })
    }
}

fn route_via(index: u32, destination: RouteDestination, gateway: IpAddr) -> RouteMessage {
    let mut message = route(index, destination, gateway);
    message
        .attributes
        .push(RouteAttribute::Gateway(route_address(gateway)));
    message
}

/// Creates a route in the main table over the interface `index`, for the family of `address`.
fn route(index: u32, destination: RouteDestination, address: IpAddr) -> RouteMessage {
    let mut message = RouteMessage::default();
    message.header.address_family = family(address);
    message.header.table = RouteHeader::RT_TABLE_MAIN;
    message.header.protocol = RouteProtocol::Boot;
    message.header.scope = RouteScope::Universe;
    message.header.kind = RouteType::Unicast;
    let range = match destination {
        RouteDestination::Host(address) => Some((address, host_prefix(address))),
        RouteDestination::Range(first, bits) => Some((first, bits)),
        RouteDestination::Default => None,
    };
    if let Some((first, bits)) = range {
        message.header.destination_prefix_length = bits;
        message
            .attributes
            .push(RouteAttribute::Destination(route_address(first)));
    }
    message.attributes.push(RouteAttribute::Oif(index));
    message
}

fn route_address(address: IpAddr) -> RouteAddress {
    match address {
        IpAddr::V4(a) => RouteAddress::Inet(a),
        IpAddr::V6(a) => RouteAddress::Inet6(a),
    }
}

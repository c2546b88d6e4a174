use crate::Error;
use crate::netlink::{Netlink, family, host_prefix};
use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::route::{
    RouteAddress, RouteAttribute, RouteHeader, RouteMessage, RouteMetric, RouteProtocol,
    RouteScope, RouteType,
};
use std::net::IpAddr;

/// The table that the kernel asks for addresses of its own (RT_TABLE_LOCAL).
const TABLE_LOCAL: u8 = 255;

/// Where a route leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RouteDestination {
    /// One address.
    Host(IpAddr),
    /// Everything that no other route names.
    Default,
}

/// Congestion settings that the kernel takes from a route when a TCP connection starts on it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RouteSettings {
    /// Initial congestion window in segments.
    pub initial_window_packets: Option<u32>,
    /// Initial receive window in segments.
    pub initial_receive_window_packets: Option<u32>,
    /// Congestion control of connections whose socket does not name one.
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
    /// Makes every socket bound to the unspecified address answer for `address` (AnyIP).
    pub fn add_local_route(&mut self, loopback: u32, address: IpAddr) -> Result<(), Error> {
        let mut message = route(loopback, RouteDestination::Host(address), address);
        message.header.table = TABLE_LOCAL;
        message.header.scope = RouteScope::Host;
        message.header.kind = RouteType::Local;
        self.create(RouteNetlinkMessage::NewRoute(message), || {
            format!("answer for the address {address}")
        })
    }

    /// Sends packets to one address, or to every address of its family, over an interface.
    /// `source` is the address that new connections come from.
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

    /// Sends packets to one address, or to every other one, by a gateway behind an interface.
    pub fn add_route_via(
        &mut self,
        index: u32,
        destination: RouteDestination,
        gateway: IpAddr,
    ) -> Result<(), Error> {
        let mut message = route(index, destination, gateway);
        message
            .attributes
            .push(RouteAttribute::Gateway(route_address(gateway)));
        self.create(RouteNetlinkMessage::NewRoute(message), || {
            format!("add a route to {destination:?} by {gateway}")
        })
    }
}

/// A route of the main table over the interface `index`, for the family of `address`.
fn route(index: u32, destination: RouteDestination, address: IpAddr) -> RouteMessage {
    let mut message = RouteMessage::default();
    message.header.address_family = family(address);
    message.header.table = RouteHeader::RT_TABLE_MAIN;
    message.header.protocol = RouteProtocol::Boot;
    message.header.scope = RouteScope::Universe;
    message.header.kind = RouteType::Unicast;
    if let RouteDestination::Host(address) = destination {
        message.header.destination_prefix_length = host_prefix(address);
        message
            .attributes
            .push(RouteAttribute::Destination(route_address(address)));
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

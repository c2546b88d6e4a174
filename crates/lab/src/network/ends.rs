//! The addresses of a lab's two ends.

use crate::Error;
use eyelevel_netns::local_addresses;
use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::Path;

/// The host numbers in use in the ends' network: server, client, a second one of each, and two for
/// the uplink.
const HOSTS: u8 = 6;
/// The number of networks of 256 addresses in the shared address space, 100.64.0.0/10 (RFC 6598).
const NETWORKS: u16 = 64 * 256;

/// The first 48 bits of the ends' IPv6 addresses, from the prefix fd00::/8 (RFC 4193).
const PREFIX_V6: [u16; 3] = [0xfd65, 0x7965, 0x6c65];
const CLIENT: u8 = 2;

/// A claim to a network among concurrent labs, held by a socket with an abstract name in their
/// common network namespace.
pub struct Claim(#[expect(dead_code)] UnixListener);

/// The addresses of the two ends, which no recorded origin has.
#[derive(Clone, Debug)]
pub struct Ends {
    /// The client's addresses, IPv4 and IPv6.
    pub client: (Ipv4Addr, Ipv6Addr),
    /// The server's own addresses, besides the origins'.
    pub server: (Ipv4Addr, Ipv6Addr),
}

impl Ends {
    /// Chooses addresses for a lab whose servers have `origins`, in the calling thread's namespace.
    ///
    /// # Errors
    ///
    /// Fails if a recorded site leaves no network free.
    pub fn choose_for_lab(site: Option<&Path>, origins: &[IpAddr]) -> Result<Self, Error> {
        free_networks(&local_addresses()?, &find_networks(origins))
            .next()
            .map(Self::from_network)
            .ok_or_else(|| {
                let site = site.unwrap_or(Path::new("the site")).display();
                Error::Config(format!(
                    "{site} has a server in each network of 100.64.0.0/10 and leaves none for the \
                     lab's own ends; record it again with fewer servers there"
                ))
            })
    }

    /// Chooses and claims addresses for a lab that joins the network around it, among labs that
    /// start at the same time; `taken` are outer networks.
    ///
    /// # Errors
    ///
    /// Fails if none is left.
    pub fn choose_and_claim(taken: &BTreeSet<u16>) -> Result<(Self, Claim), Error> {
        free_networks(&local_addresses()?, taken)
            .find_map(|network| Some((Self::from_network(network), claim(network)?)))
            .ok_or_else(|| {
                Error::Config("no network of 100.64.0.0/10 is left for a lab; end some".into())
            })
    }

    fn from_network(network: u16) -> Self {
        let [high, low] = network.to_be_bytes();
        let v4 = |host| Ipv4Addr::new(100, 64 + high, low, host);
        let [a, b, c] = PREFIX_V6;
        let v6 = |host: u8| Ipv6Addr::new(a, b, c, network, 0, 0, 0, host.into());
        Self {
            client: (v4(CLIENT), v6(CLIENT)),
            server: (v4(1), v6(1)),
        }
    }

    /// Returns the number of the network.
    pub fn network(&self) -> u16 {
        self.server.1.segments()[3]
    }

    /// Whether an address may be a lab client's.
    pub fn is_client(address: &IpAddr) -> bool {
        shared_address(address).is_some_and(|(_, host)| host == CLIENT)
    }

    /// Whether an address may be that of a lab's own end.
    pub fn is_lab_address(address: &IpAddr) -> bool {
        match address {
            IpAddr::V4(_) => shared_address(address).is_some(),
            IpAddr::V6(v6) => v6.segments()[..3] == PREFIX_V6,
        }
    }

    /// Returns the second client's address, for cross traffic.
    pub fn second_client(&self) -> Ipv4Addr {
        self.host_v4(4)
    }

    /// Returns the second server's address.
    pub fn second_server(&self) -> Ipv4Addr {
        self.host_v4(3)
    }

    /// Returns another address in the ends' network.
    pub fn host_v4(&self, host: u8) -> Ipv4Addr {
        let [a, b, c, _] = self.server.0.octets();
        Ipv4Addr::new(a, b, c, host)
    }

    /// Returns an IPv6 address in a separate network for loads of public servers, from the
    /// documentation prefix (RFC 3849): with a unique local address, programs would prefer a public
    /// server's IPv4 (RFC 6724, section 2.1). Nothing is routed to it, and no packet with it leaves
    /// this machine.
    pub fn documentation_v6(&self, host: u16) -> Ipv6Addr {
        let [_, high, low, _] = self.server.0.octets();
        let network = u16::from_be_bytes([high, low]);
        Ipv6Addr::new(0x2001, 0xdb8, 0x6579, network, 0, 0, 0, host)
    }

    /// Like [`Self::beside_v4`], for IPv6.
    pub fn host_v6(&self, host: u16) -> Ipv6Addr {
        let [a, b, c, network, ..] = self.server.1.segments();
        Ipv6Addr::new(a, b, c, network, 0, 0, 0, host)
    }

    /// Returns the content of `hosts` in a lab without a site.
    pub fn hosts(&self) -> String {
        let (client, server) = (self.client, self.server);
        format!(
            "{} near\n{} near\n{} far\n{} far\n",
            client.0, client.1, server.0, server.1
        )
    }
}

/// Returns the numbers of the lab networks that contain these addresses.
pub fn find_networks(addresses: &[IpAddr]) -> BTreeSet<u16> {
    let own_hosts = addresses.iter().filter_map(shared_address);
    own_hosts
        .filter(|(_, host)| (1..=HOSTS).contains(host))
        .map(|(network, _)| network)
        .collect()
}

/// Returns networks that are not taken, after those of the labs around (`local` are the addresses
/// of the namespace in which a lab is created), which it may join.
fn free_networks(local: &[IpAddr], taken: &BTreeSet<u16>) -> impl Iterator<Item = u16> {
    let around = local.iter().filter_map(shared_address);
    let first = around
        .map(|(network, _)| network + 1)
        .max()
        .unwrap_or_default();
    let all = (0..NETWORKS).map(move |step| (first + step) % NETWORKS);
    all.filter(move |network| !taken.contains(network))
}

fn claim(network: u16) -> Option<Claim> {
    let name = SocketAddr::from_abstract_name(format!("eyelevel-network-{network}")).ok()?;
    UnixListener::bind_addr(&name).ok().map(Claim)
}

/// Returns the network number and host number of an address in the shared address space, or `None`
/// for other addresses.
fn shared_address(address: &IpAddr) -> Option<(u16, u8)> {
    let IpAddr::V4(v4) = address else {
        return None;
    };
    let [a, b, network, host] = v4.octets();
    let high = b.checked_sub(64).filter(|high| a == 100 && *high < 64)?;
    Some((u16::from_be_bytes([high, network]), host))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choose_ends(origins: &[IpAddr], local: &[IpAddr]) -> Option<Ends> {
        let network = free_networks(local, &find_networks(origins)).next();
        network.map(Ends::from_network)
    }

    /// Returns a server's address in each of the first networks of the shared address space.
    fn server_in_each_network(networks: u16) -> Vec<IpAddr> {
        let address = |network: u16| {
            let [high, low] = network.to_be_bytes();
            Ipv4Addr::new(100, 64 + high, low, 2).into()
        };
        (0..networks).map(address).collect()
    }

    #[test]
    fn the_ends_avoid_recorded_addresses() {
        let first = choose_ends(&[], &[]).unwrap();
        assert_eq!(first.server.0, Ipv4Addr::new(100, 64, 0, 1));
        let second = choose_ends(&[first.client.0.into()], &[]).unwrap();
        assert_ne!(first.client.0, second.client.0);
        assert_ne!(first.server.0, second.server.0);
        let beyond = choose_ends(&server_in_each_network(256), &[]).unwrap();
        assert_eq!(beyond.server.0, Ipv4Addr::new(100, 65, 0, 1));
        assert_eq!(
            beyond.server.1,
            "fd65:7965:6c65:100::1".parse::<Ipv6Addr>().unwrap()
        );
    }

    #[test]
    fn a_site_that_leaves_no_network_has_no_ends() {
        let mut origins = server_in_each_network(NETWORKS);
        assert!(choose_ends(&origins, &[]).is_none());
        origins.pop();
        let last = choose_ends(&origins, &[]).unwrap();
        assert_eq!(last.client.0, Ipv4Addr::new(100, 127, 255, 2));
        // The labs around are skipped first, and the numbers wrap around after the last.
        let around = choose_ends(&[], &[last.client.0.into()]).unwrap();
        assert_eq!(around.client.0, Ipv4Addr::new(100, 64, 0, 2));
    }

    #[test]
    fn a_lab_inside_labs_has_a_network_of_its_own() {
        let mut networks = BTreeSet::new();
        let mut around: Vec<IpAddr> = vec!["127.0.0.1".parse().unwrap()];
        for _ in 0..300 {
            let ends = choose_ends(&[], &around).unwrap();
            assert!(networks.insert(ends.server));
            around = vec![ends.client.0.into()];
        }
    }

    #[test]
    fn two_labs_that_are_made_at_once_claim_networks_of_their_own() {
        let taken = find_networks(&server_in_each_network(16000));
        let (first, claim) = Ends::choose_and_claim(&taken).unwrap();
        let (second, _) = Ends::choose_and_claim(&taken).unwrap();
        assert_ne!(first.server, second.server);
        drop(claim);
        assert_eq!(
            Ends::choose_and_claim(&taken).unwrap().0.server,
            first.server
        );
    }
}

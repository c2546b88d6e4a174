//! Addresses of a lab's own two ends.

use crate::Error;
use eyelevel_netns::local_addresses;
use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::Path;

/// Hosts of the ends' network: server, client, a second one of each, and the way out's two.
const HOSTS: u8 = 6;
/// Networks of 256 addresses in the shared address space, 100.64.0.0/10 (RFC 6598).
const NETWORKS: u16 = 64 * 256;

/// Addresses of the two ends, which no recorded origin has.
#[derive(Clone, Debug)]
pub struct Ends {
    /// The client's, IPv4 and IPv6.
    pub client: (Ipv4Addr, Ipv6Addr),
    /// The server's own, beside the origins'.
    pub server: (Ipv4Addr, Ipv6Addr),
}

impl Ends {
    /// Of a lab whose servers have `origins`, in the calling thread's namespace.
    ///
    /// # Errors
    /// Where a recorded site leaves no network free.
    pub fn of_lab(site: Option<&Path>, origins: &[IpAddr]) -> Result<Self, Error> {
        Self::beside(origins, &local_addresses()?).ok_or_else(|| {
            let site = site.unwrap_or(Path::new("the site")).display();
            Error::Config(format!(
                "{site} has a server in each network of 100.64.0.0/10 and leaves none for the \
                 lab's own ends; record it again with fewer servers there"
            ))
        })
    }

    /// Chooses from the shared address space (RFC 6598) and a unique local prefix (RFC 4193) what
    /// no origin uses, beyond the networks of the labs around this one (`local`: the addresses of
    /// the namespace in which it is made), which it may be joined to; none where the origins leave
    /// no network free.
    fn beside(origins: &[IpAddr], local: &[IpAddr]) -> Option<Self> {
        let own_hosts = origins.iter().filter_map(shared_address);
        let taken: BTreeSet<u16> = own_hosts
            .filter(|(_, host)| (1..=HOSTS).contains(host))
            .map(|(network, _)| network)
            .collect();
        let around = local.iter().filter_map(shared_address);
        let first = around
            .map(|(network, _)| network + 1)
            .max()
            .unwrap_or_default();
        let network = (0..NETWORKS)
            .map(|step| (first + step) % NETWORKS)
            .find(|network| !taken.contains(network))?;
        let [high, low] = network.to_be_bytes();
        let v4 = |host| Ipv4Addr::new(100, 64 + high, low, host);
        let v6 = |host| Ipv6Addr::new(0xfd65, 0x7965, 0x6c65, network, 0, 0, 0, host);
        Some(Self {
            client: (v4(2), v6(2)),
            server: (v4(1), v6(1)),
        })
    }

    /// The second client's address, for cross traffic.
    pub fn second_client(&self) -> Ipv4Addr {
        self.beside_v4(4)
    }

    /// The second server's address.
    pub fn second_server(&self) -> Ipv4Addr {
        self.beside_v4(3)
    }

    /// Another address of the ends' network.
    pub fn beside_v4(&self, host: u8) -> Ipv4Addr {
        let [a, b, c, _] = self.server.0.octets();
        Ipv4Addr::new(a, b, c, host)
    }

    /// Addresses of IPv6 in a network of its own for loads of public servers, from documentation's
    /// (RFC 3849): from a unique local one, programs would take a public server's IPv4 first (RFC
    /// 6724, section 2.1). Nothing is routed to it, and none of it leaves this machine.
    pub fn as_if_public(&self, host: u16) -> Ipv6Addr {
        let [_, high, low, _] = self.server.0.octets();
        let network = u16::from_be_bytes([high, low]);
        Ipv6Addr::new(0x2001, 0xdb8, 0x6579, network, 0, 0, 0, host)
    }

    /// What `hosts` says in a lab without a site.
    pub fn hosts(&self) -> String {
        let (client, server) = (self.client, self.server);
        format!(
            "{} near\n{} near\n{} far\n{} far\n",
            client.0, client.1, server.0, server.1
        )
    }
}

/// The number of an address's network in the shared address space, and of its host there; none of
/// an address elsewhere.
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

    /// A server's address in each of the first networks of the shared address space.
    fn one_in_each(networks: u16) -> Vec<IpAddr> {
        let address = |network: u16| {
            let [high, low] = network.to_be_bytes();
            Ipv4Addr::new(100, 64 + high, low, 2).into()
        };
        (0..networks).map(address).collect()
    }

    #[test]
    fn the_ends_avoid_recorded_addresses() {
        let first = Ends::beside(&[], &[]).unwrap();
        assert_eq!(first.server.0, Ipv4Addr::new(100, 64, 0, 1));
        let second = Ends::beside(&[first.client.0.into()], &[]).unwrap();
        assert_ne!(first.client.0, second.client.0);
        assert_ne!(first.server.0, second.server.0);
        let beyond = Ends::beside(&one_in_each(256), &[]).unwrap();
        assert_eq!(beyond.server.0, Ipv4Addr::new(100, 65, 0, 1));
        assert_eq!(
            beyond.server.1,
            "fd65:7965:6c65:100::1".parse::<Ipv6Addr>().unwrap()
        );
    }

    #[test]
    fn a_site_that_leaves_no_network_has_no_ends() {
        let mut origins = one_in_each(NETWORKS);
        assert!(Ends::beside(&origins, &[]).is_none());
        origins.pop();
        let last = Ends::beside(&origins, &[]).unwrap();
        assert_eq!(last.client.0, Ipv4Addr::new(100, 127, 255, 2));
        // The labs around it are passed over first, and the numbers begin anew behind the last.
        let around = Ends::beside(&[], &[last.client.0.into()]).unwrap();
        assert_eq!(around.client.0, Ipv4Addr::new(100, 64, 0, 2));
    }

    #[test]
    fn a_lab_inside_labs_has_a_network_of_its_own() {
        let mut networks = BTreeSet::new();
        let mut around: Vec<IpAddr> = vec!["127.0.0.1".parse().unwrap()];
        for _ in 0..300 {
            let ends = Ends::beside(&[], &around).unwrap();
            assert!(networks.insert(ends.server));
            around = vec![ends.client.0.into()];
        }
    }
}

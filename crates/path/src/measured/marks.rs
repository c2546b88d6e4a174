//! Counts a direction's packets by their ECN bits at arrival and exit (RFC 3168, section 5), in
//! total and for each connection over TCP or UDP.

use crate::header::{Endpoints, Header};
use eyelevel_link::Ecn;
use serde::Serialize;
use std::collections::BTreeMap;
use std::net::SocketAddr;

/// The most connections counted, more than the few hundred of a load; packets of further ones count
/// in the direction's sums alone.
const CONNECTIONS_MAX: usize = 4096;
/// The size of the hash table: twice as many, so that a search is short.
const PLACES: usize = 2 * CONNECTIONS_MAX;

/// Packets by the ECN bits with which they arrived, and those that the path's queues marked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct EcnCounts {
    /// Arrived as Not-ECT.
    pub not_ect: u64,
    /// Arrived as ECT(0).
    pub ect0: u64,
    /// Arrived as ECT(1).
    pub ect1: u64,
    /// Arrived as CE, marked before the path.
    pub ce: u64,
    /// Left with a mark that they did not arrive with.
    pub marked: u64,
}

impl EcnCounts {
    #[inline]
    fn count_arrival(&mut self, ecn: u8, packets: u64) {
        *match Ecn::from_bits(ecn) {
            Ecn::NotEct => &mut self.not_ect,
            Ecn::Ect0 => &mut self.ect0,
            Ecn::Ect1 => &mut self.ect1,
            Ecn::Ce => &mut self.ce,
        } += packets;
    }
}

/// A connection's counts in both directions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ConnectionMarks {
    /// `tcp` or `udp`.
    pub protocol: &'static str,
    /// The client's end.
    pub client: SocketAddr,
    /// The server's.
    pub server: SocketAddr,
    /// Packets from the server.
    pub down: EcnCounts,
    /// Packets from the client.
    pub up: EcnCounts,
}

/// The counts of one direction, since the start or the last [`Self::restart`].
pub(crate) struct Marks {
    all: EcnCounts,
    connections: Vec<(Endpoints, EcnCounts)>,
    /// The hash table with linear probing: a connection's number plus 1, or 0 if free.
    places: Box<[u16]>,
    /// The place of the last packet's connection.
    last: usize,
}

impl Default for Marks {
    fn default() -> Self {
        Self {
            all: EcnCounts::default(),
            connections: Vec::new(),
            places: vec![0; PLACES].into(),
            last: 0,
        }
    }
}

impl Marks {
    /// Counts `packets` of wire size that arrived.
    #[inline]
    pub(crate) fn count_arrival(&mut self, header: &Header, packets: u16) {
        self.all.count_arrival(header.ecn, packets.into());
        if let Some(counts) = self.counts_mut(header) {
            counts.count_arrival(header.ecn, packets.into());
        }
    }

    /// Counts `packets` that left with a mark; `header` is as they arrived.
    pub(crate) fn count_marked(&mut self, header: &Header, packets: u64) {
        if Ecn::from_bits(header.ecn) == Ecn::Ce {
            return;
        }
        self.all.marked += packets;
        if let Some(counts) = self.counts_mut(header) {
            counts.marked += packets;
        }
    }

    /// Restarts the counts, for the next load.
    pub(crate) fn restart(&mut self) {
        *self = Self::default();
    }

    /// Returns the counts of the whole direction.
    pub(crate) fn all(&self) -> EcnCounts {
        self.all
    }

    #[inline]
    fn counts_mut(&mut self, header: &Header) -> Option<&mut EcnCounts> {
        let endpoints = header.endpoints()?;
        let known = self.connections.get(self.last);
        if known.is_none_or(|(known, _)| *known != endpoints) {
            self.last = self.find(endpoints, header.flow)?;
        }
        Some(&mut self.connections[self.last].1)
    }

    /// Returns the number of a connection, a new one if it is unknown; `None` if there are too
    /// many.
    fn find(&mut self, endpoints: Endpoints, hash: u32) -> Option<usize> {
        let mut place = hash as usize % PLACES;
        while let Some(number) = usize::from(self.places[place]).checked_sub(1) {
            if self.connections[number].0 == endpoints {
                return Some(number);
            }
            place = (place + 1) % PLACES;
        }
        if self.connections.len() >= CONNECTIONS_MAX {
            return None;
        }
        self.connections.push((endpoints, EcnCounts::default()));
        self.places[place] = self.connections.len() as u16;
        Some(self.connections.len() - 1)
    }
}

/// Returns the connections of both directions, in the order of their first packet from the client;
/// those with packets from the server alone are last.
pub(crate) fn connections(down: &Marks, up: &Marks) -> Vec<ConnectionMarks> {
    let mut found: Vec<ConnectionMarks> = Vec::new();
    let mut numbers = BTreeMap::new();
    for (marks, from_client) in [(up, true), (down, false)] {
        for (ends, counts) in &marks.connections {
            let (client, server) = if from_client {
                (ends.source, ends.destination)
            } else {
                (ends.destination, ends.source)
            };
            let protocol = ends.protocol();
            let number = *numbers
                .entry((protocol, client, server))
                .or_insert(found.len());
            if number == found.len() {
                found.push(ConnectionMarks {
                    protocol,
                    client,
                    server,
                    down: EcnCounts::default(),
                    up: EcnCounts::default(),
                });
            }
            let each = &mut found[number];
            *(if from_client {
                &mut each.up
            } else {
                &mut each.down
            }) = *counts;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::header::parse;

    /// Returns the header of a UDP packet from a client's port; reversed if `down`.
    fn header(port: u16, ecn: u8, down: bool) -> Header {
        let mut packet = vec![0; 28];
        (packet[0], packet[1], packet[9]) = (0x45, ecn, 17);
        let (client, server) = ([100, 64, 0, 2], [192, 0, 2, 1]);
        let (source, destination) = if down {
            (server, client)
        } else {
            (client, server)
        };
        packet[12..16].copy_from_slice(&source);
        packet[16..20].copy_from_slice(&destination);
        let ports = if down { [443, port] } else { [port, 443] };
        packet[20..22].copy_from_slice(&ports[0].to_be_bytes());
        packet[22..24].copy_from_slice(&ports[1].to_be_bytes());
        parse(&packet).unwrap()
    }

    #[test]
    fn a_connection_has_its_own_counts_both_ways() {
        let (mut down, mut up) = (Marks::default(), Marks::default());
        for port in [4001, 4002, 4001] {
            up.count_arrival(&header(port, 0b00, false), 1);
            down.count_arrival(&header(port, 0b10, true), 44);
            down.count_marked(&header(port, 0b10, true), 2);
            // Marked before the path.
            down.count_arrival(&header(port, 0b11, true), 1);
            down.count_marked(&header(port, 0b11, true), 1);
        }
        let found = connections(&down, &up);
        let ports: Vec<_> = found.iter().map(|each| each.client.port()).collect();
        assert_eq!(ports, [4001, 4002]);
        assert_eq!((found[0].protocol, found[0].server.port()), ("udp", 443));
        assert_eq!(
            found[0].up,
            EcnCounts {
                not_ect: 2,
                ..EcnCounts::default()
            }
        );
        let twice = EcnCounts {
            ect0: 88,
            ce: 2,
            marked: 4,
            ..EcnCounts::default()
        };
        assert_eq!(found[0].down, twice);
        assert_eq!(
            down.all(),
            EcnCounts {
                ect0: 132,
                ce: 3,
                marked: 6,
                ..EcnCounts::default()
            }
        );
        down.restart();
        assert_eq!(down.all(), EcnCounts::default());
        assert!(connections(&down, &Marks::default()).is_empty());
    }

    #[test]
    fn connections_beyond_the_limit_still_count() {
        let mut up = Marks::default();
        let ports = 1..=CONNECTIONS_MAX as u16 + 5;
        for port in ports.clone().chain(ports) {
            up.count_arrival(&header(port, 0b01, false), 1);
        }
        assert_eq!(up.all().ect1, 2 * (CONNECTIONS_MAX as u64 + 5));
        let found = connections(&Marks::default(), &up);
        assert_eq!(found.len(), CONNECTIONS_MAX);
        assert!(found.iter().all(|each| each.up.ect1 == 2));
    }
}

//! Finds the first windows that clients offer over TCP, as seen by the path.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};

const TCP: u8 = 6;
const SYN: u8 = 0x02;
/// The option's kind (RFC 7323, section 2.2).
const OPTION_WINDOW_SCALE: u8 = 3;
const OPTION_END: u8 = 0;
const OPTION_NONE: u8 = 1;
/// The largest scale (RFC 7323, section 2.3).
const WINDOW_SCALE_MAX: u8 = 14;
/// The most connections recorded; far more than a page opens.
const CONNECTIONS_MAX: usize = 1 << 14;

/// The windows found so far, readable from another thread.
#[derive(Clone, Debug, Default)]
pub struct FirstWindows(Arc<Mutex<HashMap<(SocketAddr, SocketAddr), u64>>>);

impl FirstWindows {
    /// Returns the window in the first packet after a client's SYN, scaled as the SYN specified;
    /// `None` if no such packet arrived.
    pub fn get(&self, client: SocketAddr, server: SocketAddr) -> Option<u64> {
        let windows = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        windows.get(&(client, server)).copied()
    }

    fn insert(&self, client: SocketAddr, server: SocketAddr, bytes: u64) {
        let mut windows = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if windows.len() < CONNECTIONS_MAX {
            windows.insert((client, server), bytes);
        }
    }
}

/// An inspector of every packet from the clients.
#[derive(Debug, Default)]
pub(crate) struct WindowWatch {
    pub found: FirstWindows,
    /// The scale of each flow's SYN, for flows whose window is not known yet.
    scales: HashMap<u32, u8>,
}

impl WindowWatch {
    /// Creates a watch that adds its results to `found`.
    pub fn storing_in(found: FirstWindows) -> Self {
        Self {
            found,
            ..Self::default()
        }
    }

    /// Inspects a packet of the flow as the device delivered it.
    #[inline]
    pub fn on_packet(&mut self, packet: &[u8], flow: u32) {
        let Some((ip_bytes, addresses)) = tcp_over_ip(packet) else {
            return;
        };
        let Some(head) = packet.get(ip_bytes..).filter(|head| head.len() >= 20) else {
            return;
        };
        if head[13] & SYN != 0 {
            if self.scales.len() < CONNECTIONS_MAX {
                self.scales.insert(flow, window_scale(head));
            }
            return;
        }
        // Few connections wait for their second packet, so that others end here.
        if self.scales.is_empty() {
            return;
        }
        if let Some(scale) = self.scales.remove(&flow) {
            let field = |at: usize| u16::from_be_bytes([head[at], head[at + 1]]);
            let (client, server) = addresses(packet);
            let (client, server) = ((client, field(0)).into(), (server, field(2)).into());
            let window = u64::from(field(14)) << scale;
            self.found.insert(client, server, window);
        }
    }
}

type Addresses = fn(&[u8]) -> (IpAddr, IpAddr);

/// Returns the offset of TCP's header, and a function that reads the packet's addresses; `None` if
/// it is not TCP, or has extension headers, which neither of our kernels sends.
fn tcp_over_ip(packet: &[u8]) -> Option<(usize, Addresses)> {
    match packet.first()? >> 4 {
        4 if *packet.get(9)? == TCP && packet.len() >= 20 => {
            Some((usize::from(packet[0] & 0x0f) * 4, |packet| {
                let at = |at: usize| -> [u8; 4] { packet[at..at + 4].try_into().expect("four") };
                (at(12).into(), at(16).into())
            }))
        }
        6 if *packet.get(6)? == TCP && packet.len() >= 40 => Some((40, |packet| {
            let at = |at: usize| -> [u8; 16] { packet[at..at + 16].try_into().expect("16 bytes") };
            (at(8).into(), at(24).into())
        })),
        _ => None,
    }
}

/// Returns the SYN's window scale; 0 without the option.
fn window_scale(head: &[u8]) -> u8 {
    let end = (usize::from(head[12] >> 4) * 4).min(head.len());
    let mut rest = head.get(20..end).unwrap_or_default();
    loop {
        match *rest {
            [] | [OPTION_END, ..] => return 0,
            [OPTION_NONE, ..] => rest = &rest[1..],
            [OPTION_WINDOW_SCALE, 3, scale, ..] => return scale.min(WINDOW_SCALE_MAX),
            [_, length, ..] if length >= 2 => {
                rest = rest.get(usize::from(length)..).unwrap_or_default();
            }
            _ => return 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLIENT: &str = "192.0.2.1:4000";
    const SERVER: &str = "198.51.100.2:443";

    fn segment(flags: u8, window: u16, options: &[u8]) -> Vec<u8> {
        let mut packet = vec![0; 40];
        packet[0] = 0x45;
        packet[9] = TCP;
        packet[12..16].copy_from_slice(&[192, 0, 2, 1]);
        packet[16..20].copy_from_slice(&[198, 51, 100, 2]);
        packet[20..22].copy_from_slice(&4000u16.to_be_bytes());
        packet[22..24].copy_from_slice(&443u16.to_be_bytes());
        packet[32] = ((20 + options.len()) / 4) as u8 * 16;
        packet[33] = flags;
        packet[34..36].copy_from_slice(&window.to_be_bytes());
        packet.extend(options);
        packet
    }

    fn find_window(watch: &WindowWatch) -> Option<u64> {
        let (client, server) = (CLIENT.parse().unwrap(), SERVER.parse().unwrap());
        watch.found.get(client, server)
    }

    #[test]
    fn the_first_packet_after_the_syn_has_the_window() {
        let mut watch = WindowWatch::default();
        // As Linux sends them: segment size, SACK permitted, timestamps, padding, scale.
        let mut options = vec![2, 4, 5, 0xb4, 4, 2, 8, 10];
        options.extend([0; 8]);
        options.extend([OPTION_NONE, OPTION_WINDOW_SCALE, 3, 9]);
        watch.on_packet(&segment(SYN, 65_535, &options), 7);
        watch.on_packet(&segment(SYN, 65_535, &options), 7);
        assert_eq!(find_window(&watch), None);
        watch.on_packet(&segment(0x10, 30_719, &[]), 7);
        assert_eq!(find_window(&watch), Some(30_719 << 9));
        watch.on_packet(&segment(0x10, 100, &[]), 7);
        assert_eq!(find_window(&watch), Some(30_719 << 9), "the first alone");
    }

    #[test]
    fn a_connection_without_its_syn_is_ignored_and_damage_does_no_harm() {
        let mut watch = WindowWatch::default();
        watch.on_packet(&segment(0x10, 100, &[]), 7);
        assert_eq!(find_window(&watch), None);
        let whole = segment(SYN, 1, &[8, 0, 3, 3]);
        for length in 0..whole.len() {
            watch.on_packet(&whole[..length], 8);
        }
        watch.on_packet(&whole, 8);
        watch.on_packet(&segment(0x10, 100, &[]), 8);
        assert_eq!(find_window(&watch), Some(100));
    }
}

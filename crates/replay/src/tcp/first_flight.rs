use super::options::TcpInfo;

/// Segments that leave between the handshake's end and the first acknowledgement of one of them,
/// as far as the server's writes let us look: the kernel keeps no such record.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FirstFlight {
    /// Segments and bytes sent when the handshake was over.
    base: Option<(u32, u64)>,
    started_ns: Option<u64>,
    packets: u32,
    span_ns: u64,
    over: bool,
}

impl FirstFlight {
    /// The handshake is over.
    pub fn on_ready(&mut self, info: &TcpInfo) {
        self.base = Some((info.sent_packets, info.sent_bytes));
    }

    /// Whether another look would add to it.
    pub fn is_open(&self) -> bool {
        self.base.is_some() && !self.over
    }

    /// What the kernel says right after a write.
    pub fn on_look(&mut self, info: &TcpInfo, now_ns: u64) {
        let Some((packets, bytes)) = self.base.filter(|_| !self.over) else {
            return;
        };
        if info.acknowledged_bytes > bytes {
            self.over = true;
            return;
        }
        let sent = info.sent_packets.saturating_sub(packets);
        if sent > self.packets {
            let started = *self.started_ns.get_or_insert(now_ns);
            self.packets = sent;
            self.span_ns = now_ns.saturating_sub(started);
        }
    }

    /// Segments seen to have left, and the time over which; none where none was.
    pub fn seen(&self) -> Option<(u32, f64)> {
        (self.packets > 0).then_some((self.packets, self.span_ns as f64 / 1e6))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn info(sent_packets: u32, acknowledged_bytes: u64) -> TcpInfo {
        TcpInfo {
            sent_packets,
            sent_bytes: u64::from(sent_packets) * 1448,
            acknowledged_bytes,
            ..TcpInfo::default()
        }
    }

    #[test]
    fn the_flight_lasts_from_the_handshake_to_the_first_acknowledgement() {
        let mut flight = FirstFlight::default();
        flight.on_look(&info(1, 0), 1_000_000);
        assert!(!flight.is_open() && flight.seen().is_none());
        flight.on_ready(&info(2, 0));
        flight.on_look(&info(2, 2896), 2_000_000);
        assert_eq!(flight.seen(), None);
        flight.on_look(&info(12, 2896), 3_000_000);
        flight.on_look(&info(30, 2896), 9_000_000);
        flight.on_look(&info(40, 2897), 20_000_000);
        assert!(!flight.is_open());
        assert_eq!(flight.seen(), Some((28, 6.0)));
    }
}

/// Proportional rate reduction (RFC 6937; its slow-start and conservative reduction bounds are
/// chosen as in Linux and RFC 9937: slow start only on acknowledgements that reveal no new loss).
///
/// While it lasts, the window is the bytes in flight plus those that this acknowledgement releases.
#[derive(Clone, Debug)]
pub(crate) struct Reduction {
    /// The newest packet sent when it began.
    pub(crate) number: u64,
    /// The window before it.
    pub(crate) prior_window_bytes: u64,
    target_bytes: u64,
    delivered_bytes: u64,
    sent_bytes: u64,
    window_bytes: u64,
    packet_bytes: u64,
}

impl Reduction {
    pub(crate) fn new(
        number: u64,
        prior_window_bytes: u64,
        target_bytes: u64,
        packet_bytes: u64,
    ) -> Self {
        Self {
            number,
            prior_window_bytes,
            target_bytes,
            delivered_bytes: 0,
            sent_bytes: 0,
            window_bytes: prior_window_bytes,
            packet_bytes,
        }
    }

    pub(crate) fn window_bytes(&self) -> u64 {
        self.window_bytes
    }

    pub(crate) fn on_packet_sent(&mut self, bytes: u64) {
        self.sent_bytes += bytes;
    }

    /// Counts delivered bytes; [`Self::update`] follows.
    pub(crate) fn on_delivered(&mut self, bytes: u64) {
        self.delivered_bytes += bytes;
    }

    /// Sets the window after an acknowledgement of `bytes_acked`, or once more after the losses
    /// that it revealed.
    pub(crate) fn update(&mut self, bytes_in_flight: u64, bytes_acked: u64, new_loss: bool) {
        let release = if bytes_in_flight > self.target_bytes {
            // Proportional part: by the end as much was sent as the target's share of the delivered
            // bytes.
            let share = (u128::from(self.target_bytes) * u128::from(self.delivered_bytes))
                .div_ceil(u128::from(self.prior_window_bytes.max(1)));
            (share as u64).saturating_sub(self.sent_bytes)
        } else {
            let mut release = self
                .delivered_bytes
                .saturating_sub(self.sent_bytes)
                .max(bytes_acked);
            if !new_loss {
                release += self.packet_bytes;
            }
            release.min(self.target_bytes - bytes_in_flight)
        };
        // The first retransmission always leaves.
        let floor = if self.sent_bytes == 0 {
            self.packet_bytes
        } else {
            0
        };
        // Never so small that nothing could leave, or nothing would ever be acknowledged again.
        let window = bytes_in_flight + release.max(floor);
        self.window_bytes = window.max(self.packet_bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sends_in_proportion_to_deliveries() {
        // An example like that of RFC 6937 section 4: 20 packets out, 1 lost, target 14.
        let mut reduction = Reduction::new(19, 20_000, 14_000, 1000);
        let mut in_flight: u64 = 19_000;
        let mut sent = 0;
        for _ in 0..19 {
            in_flight -= 1000;
            reduction.on_delivered(1000);
            reduction.update(in_flight, 1000, false);
            while in_flight + 1000 <= reduction.window_bytes() {
                in_flight += 1000;
                sent += 1;
                reduction.on_packet_sent(1000);
            }
        }
        // The target is in flight after one round, and the sending was spread over it.
        assert_eq!(in_flight, 14_000);
        assert_eq!(sent, 14);
    }

    #[test]
    fn grows_back_slowly_after_a_burst_of_losses() {
        let mut reduction = Reduction::new(19, 20_000, 14_000, 1000);
        reduction.on_delivered(1000);
        reduction.update(4_000, 1000, true);
        assert_eq!(reduction.window_bytes(), 5_000);
        reduction.on_packet_sent(1000);
        reduction.on_delivered(1000);
        reduction.update(4_000, 1000, false);
        assert_eq!(reduction.window_bytes(), 6_000);
    }
}

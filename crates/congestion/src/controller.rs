use crate::{RateSample, Rtt};
use core::fmt::Debug;
use eyelevel_units::Instant;

/// The event that a packet was sent which counts as in flight.
#[derive(Clone, Copy, Debug)]
pub struct PacketSent {
    /// Time of sending.
    pub now: Instant,
    /// Number in order of sending, from 0; one sequence per connection, whatever the transport's
    /// own packet numbers are.
    pub number: u64,
    /// Its size.
    pub bytes: u64,
    /// Bytes in flight including it; equal to `bytes` if the connection was idle before.
    pub bytes_in_flight: u64,
    /// Bytes delivered so far, from the connection's start.
    pub bytes_delivered: u64,
    /// Whether the application had run out of data at the last opportunity to send.
    pub app_limited: bool,
}

/// The event that one packet's delivery was confirmed.
#[derive(Clone, Copy, Debug)]
pub struct PacketAcked {
    /// Arrival of its acknowledgement.
    pub now: Instant,
    /// Its [`PacketSent::number`].
    pub number: u64,
    /// Time of sending.
    pub sent_at: Instant,
    /// Its arrival by the receiver's clock; `None` if the peer does not report it.
    pub arrived_at: Option<Instant>,
    /// Its size.
    pub bytes: u64,
}

/// The event of one acknowledgement, with all its packets taken together.
#[derive(Clone, Copy, Debug)]
pub struct Ack {
    /// Time of its arrival.
    pub now: Instant,
    /// Bytes newly acknowledged by it.
    pub bytes_acked: u64,
    /// The largest [`PacketSent::number`] acknowledged so far.
    pub number_newest: u64,
    /// Bytes in flight before it.
    pub bytes_in_flight_prior: u64,
    /// Bytes in flight after it. Losses which it reveals are in the [`Loss`] that follows.
    pub bytes_in_flight: u64,
    /// Bytes delivered so far, from the connection's start, these included.
    pub bytes_delivered: u64,
    /// Round trips; `latest` is the sample of the newest packet that this acknowledgement covers.
    pub rtt: Rtt,
    /// The sample of the delivery rate; `None` if it is not valid.
    pub rate: Option<RateSample>,
    /// The packet that first carried the oldest data that were lost and not yet delivered by a
    /// retransmission; `None` if there are none. TCP's recovery lasts until those at its beginning
    /// are delivered, whereas RFC 9002's ends with the first packet sent in it.
    pub number_hole_oldest: Option<u64>,
}

impl Ack {
    /// Returns whether everything sent up to `number` has been delivered, losses included, and
    /// something newer too: the end of the recovery that began when `number` was the newest packet.
    pub fn has_repaired(&self, number: u64) -> bool {
        let hole = self.number_hole_oldest;
        self.number_newest > number && hole.is_none_or(|oldest| oldest > number)
    }
}

/// The event that packets were declared lost.
#[derive(Clone, Copy, Debug)]
pub struct Loss {
    /// Time of the event; equal to the last [`Ack::now`] when that acknowledgement revealed it.
    pub now: Instant,
    /// Bytes declared lost now.
    pub bytes_lost: u64,
    /// The largest [`PacketSent::number`] among them; a retransmission counts as the packet that
    /// carried the data first, since TCP does not react to its loss a second time.
    pub number_newest: u64,
    /// Bytes in flight without them.
    pub bytes_in_flight: u64,
    /// Bytes delivered so far, from the connection's start.
    pub bytes_delivered: u64,
    /// Whether everything sent for several timeouts was lost (RFC 9002 section 7.6, or TCP's
    /// timeout).
    pub persistent: bool,
}

/// The event that a packet arrived with a mark in place of a drop (RFC 3168). QUIC's counts do not
/// show which of the packets of an acknowledgement it was.
#[derive(Clone, Copy, Debug)]
pub struct Mark {
    /// Time of the event; equal to the last [`Ack::now`].
    pub now: Instant,
    /// The largest [`PacketSent::number`] acknowledged so far, which RFC 9002 section 7.1 uses.
    pub number_newest: u64,
    /// Bytes in flight after that acknowledgement.
    pub bytes_in_flight: u64,
}

/// A congestion controller: receives events, and returns a window and a pacing rate.
///
/// For one acknowledgement the calls are in this order: [`Self::on_packet_acked`] for each packet,
/// oldest first, [`Self::on_ack`] once, then [`Self::on_loss`] if it revealed losses and
/// [`Self::on_mark`] if it reported marks. `docs/guides/congestion-controller.md` adds one, step by
/// step.
pub trait Controller: Debug + Send + Sync {
    /// Returns the name in plans, tables and messages, as [`crate::CONTROLLERS`] lists it.
    fn name(&self) -> &'static str;

    /// Handles a packet that was sent.
    fn on_packet_sent(&mut self, packet: &PacketSent) {
        let _ = packet;
    }

    /// Handles one packet that was delivered; for controllers that use single packets.
    fn on_packet_acked(&mut self, packet: &PacketAcked) {
        let _ = packet;
    }

    /// Handles an acknowledgement.
    fn on_ack(&mut self, ack: &Ack);

    /// Handles lost packets.
    fn on_loss(&mut self, loss: &Loss);

    /// Handles a marked packet; called after [`Self::on_loss`] if one acknowledgement revealed
    /// both. By default marks are ignored, as in the kernel's BBR.
    fn on_mark(&mut self, mark: &Mark) {
        let _ = mark;
    }

    /// Handles a spurious loss: all packets of the last loss event have arrived after all.
    fn on_spurious_loss(&mut self, now: Instant) {
        let _ = now;
    }

    /// Handles a change of the size of full packets.
    fn on_packet_bytes(&mut self, packet_bytes: u64);

    /// Returns the congestion window: a packet may be sent if it fits in addition to the bytes in
    /// flight.
    fn window_bytes(&self) -> u64;

    /// Returns the window at the connection's start.
    fn initial_window_bytes(&self) -> u64;

    /// Returns the slow start threshold; `None` before there is one, or if the controller has none.
    fn slow_start_threshold_bytes(&self) -> Option<u64> {
        None
    }

    /// Returns the rate at which packets may leave; `None`: as the window allows.
    fn pacing_rate_bytes_s(&self) -> Option<u64> {
        None
    }

    /// Returns how much may leave at once while pacing; `None`: the transport decides.
    fn send_quantum_bytes(&self) -> Option<u64> {
        None
    }

    /// Returns the bottleneck's rate, if the controller estimates one.
    fn bandwidth_bytes_s(&self) -> Option<u64> {
        None
    }

    /// Returns whether the controller holds the sender back on purpose, so that measurements
    /// meanwhile are no estimate of the path (BBR while it probes the round trip time).
    fn holds_back(&self) -> bool {
        false
    }

    /// Returns the state in words for logs: `slow start`, `recovery`, `probe_rtt`.
    fn state(&self) -> &'static str;

    /// Returns a copy with all its state, for a transport that moves to a new path.
    fn clone_box(&self) -> Box<dyn Controller>;
}

use crate::{RateSample, Rtt};
use core::fmt::Debug;
use eyelevel_units::Instant;

/// One packet was sent that counts as in flight.
#[derive(Clone, Copy, Debug)]
pub struct PacketSent {
    /// When.
    pub now: Instant,
    /// Number in order of sending, from 0; one sequence for a connection, whatever the transport's
    /// own packet numbers are.
    pub number: u64,
    /// Its size.
    pub bytes: u64,
    /// In flight with it; equal to `bytes` when the connection was idle before.
    pub bytes_in_flight: u64,
    /// Delivered so far, from the connection's start.
    pub bytes_delivered: u64,
    /// The application had run out of data at the last opportunity to send.
    pub app_limited: bool,
}

/// One packet's delivery was confirmed.
#[derive(Clone, Copy, Debug)]
pub struct PacketAcked {
    /// When its acknowledgement arrived.
    pub now: Instant,
    /// Its [`PacketSent::number`].
    pub number: u64,
    /// When it had been sent.
    pub sent_at: Instant,
    /// When the receiver got it, by the receiver's clock; None where the peer does not say.
    pub arrived_at: Option<Instant>,
    /// Its size.
    pub bytes: u64,
}

/// One acknowledgement, with all its packets taken together.
#[derive(Clone, Copy, Debug)]
pub struct Ack {
    /// When it arrived.
    pub now: Instant,
    /// Newly acknowledged by it.
    pub bytes_acked: u64,
    /// The largest [`PacketSent::number`] acknowledged so far.
    pub number_newest: u64,
    /// In flight before it.
    pub bytes_in_flight_prior: u64,
    /// In flight after it. Losses which it reveals come in the [`Loss`] that follows.
    pub bytes_in_flight: u64,
    /// Delivered so far, from the connection's start, these bytes included.
    pub bytes_delivered: u64,
    /// Round trips; `latest` is the sample of the newest packet that this acknowledgement names.
    pub rtt: Rtt,
    /// The delivery rate that it shows; None where the sample says nothing.
    pub rate: Option<RateSample>,
    /// The packet that first carried the oldest data lost and not yet delivered by a repetition;
    /// None where there are none. TCP's recovery lasts until those of its beginning are delivered,
    /// where RFC 9002's ends with the first packet sent in it.
    pub number_hole_oldest: Option<u64>,
}

impl Ack {
    /// Whether all that was sent up to `number` has been delivered, losses included, and something
    /// newer too: the end of the recovery that began when `number` was the newest packet.
    pub fn has_repaired(&self, number: u64) -> bool {
        let hole = self.number_hole_oldest;
        self.number_newest > number && hole.is_none_or(|oldest| oldest > number)
    }
}

/// Packets were declared lost.
#[derive(Clone, Copy, Debug)]
pub struct Loss {
    /// When; equal to the last [`Ack::now`] when that acknowledgement revealed it.
    pub now: Instant,
    /// Declared lost now.
    pub bytes_lost: u64,
    /// The largest [`PacketSent::number`] among them; a repetition of lost data counts as the
    /// packet that carried them first, for TCP does not react to its loss a second time.
    pub number_newest: u64,
    /// In flight without them.
    pub bytes_in_flight: u64,
    /// Delivered so far, from the connection's start.
    pub bytes_delivered: u64,
    /// Everything sent for several timeouts was lost (RFC 9002 section 7.6, or TCP's timeout).
    pub persistent: bool,
}

/// A packet came with the mark of a queue that would have dropped it else (RFC 3168). Of which of the
/// packets that an acknowledgement names that is, QUIC's counts do not say.
#[derive(Clone, Copy, Debug)]
pub struct Mark {
    /// When; equal to the last [`Ack::now`].
    pub now: Instant,
    /// The largest [`PacketSent::number`] acknowledged so far, as RFC 9002 section 7.1 takes it.
    pub number_newest: u64,
    /// In flight after that acknowledgement.
    pub bytes_in_flight: u64,
}

/// A congestion controller: events in, a window and a pacing rate out.
///
/// For one acknowledgement the calls come in this order: [`Self::on_packet_acked`] for each packet,
/// oldest first, [`Self::on_ack`] once, then [`Self::on_loss`] if it revealed losses and
/// [`Self::on_mark`] if it told of marks.
/// `docs/guides/congestion-controller.md` adds one, step by step.
pub trait Controller: Debug + Send + Sync {
    /// The name in plans, tables and messages, as [`crate::CONTROLLERS`] lists it.
    fn name(&self) -> &'static str;

    /// A packet was sent.
    fn on_packet_sent(&mut self, packet: &PacketSent) {
        let _ = packet;
    }

    /// One packet was delivered; for controllers that look at single packets.
    fn on_packet_acked(&mut self, packet: &PacketAcked) {
        let _ = packet;
    }

    /// An acknowledgement arrived.
    fn on_ack(&mut self, ack: &Ack);

    /// Packets were lost.
    fn on_loss(&mut self, loss: &Loss);

    /// A packet was marked; after [`Self::on_loss`] where one acknowledgement showed both.
    /// Left out, marks are ignored, as the kernel's BBR does.
    fn on_mark(&mut self, mark: &Mark) {
        let _ = mark;
    }

    /// All packets of the last loss event have arrived after all.
    fn on_spurious_loss(&mut self, now: Instant) {
        let _ = now;
    }

    /// The size of full packets has changed.
    fn on_packet_bytes(&mut self, packet_bytes: u64);

    /// The congestion window: a packet may be sent while it fits beside what is in flight.
    fn window_bytes(&self) -> u64;

    /// The window at the connection's start.
    fn initial_window_bytes(&self) -> u64;

    /// The slow start threshold; None while there is none, or where the controller has none.
    fn slow_start_threshold_bytes(&self) -> Option<u64> {
        None
    }

    /// The rate at which packets may leave; None: as the window allows.
    fn pacing_rate_bytes_s(&self) -> Option<u64> {
        None
    }

    /// How much may leave at once while pacing; None: the transport decides.
    fn send_quantum_bytes(&self) -> Option<u64> {
        None
    }

    /// The bottleneck's rate, where the controller estimates one.
    fn bandwidth_bytes_s(&self) -> Option<u64> {
        None
    }

    /// Whether the controller holds the sender back on purpose, so that what is measured meanwhile
    /// is no estimate of the path (BBR while it probes the round trip time).
    fn holds_back(&self) -> bool {
        false
    }

    /// In words, where it is: `slow start`, `recovery`, `probe_rtt`; for logs.
    fn state(&self) -> &'static str;

    /// A copy with all its state, for a transport that moves to a new path.
    fn clone_box(&self) -> Box<dyn Controller>;
}

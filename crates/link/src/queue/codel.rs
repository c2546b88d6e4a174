use super::aqm::{limit_packets, positive_ms};
use super::fifo::Fifo;
use crate::observer::{Observer, Reports};
use crate::queued_packet::QueuedPacket;
use crate::words::Words;
use crate::{DropReason, SpecError};
use eyelevel_units::{Duration, Instant};
use serde::{Deserialize, Serialize};

/// CoDel, controlled delay (RFC 8289). The defaults are the RFC's; the limit and ECN are Linux's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CodelSpec {
    /// Acceptable standing delay in milliseconds.
    pub target_ms: f64,
    /// Time in which a sender can react, in milliseconds: about the largest common RTT.
    pub interval_ms: f64,
    /// The limit of queued packets.
    pub limit_packets: u64,
    /// Whether capable packets are marked instead of dropped.
    pub ecn: bool,
}

impl Default for CodelSpec {
    fn default() -> Self {
        Self {
            target_ms: 5.0,
            interval_ms: 100.0,
            limit_packets: 1_000,
            ecn: false,
        }
    }
}

impl CodelSpec {
    /// Parses the words after the discipline's name in the text form.
    pub(super) fn parse(words: &mut Words<'_>) -> Result<Self, SpecError> {
        let mut spec = Self::default();
        while !words.is_empty() {
            match words.word("a setting")? {
                "target" => spec.target_ms = words.ms()?,
                "interval" => spec.interval_ms = words.ms()?,
                "limit" => spec.limit_packets = words.packets()?,
                "ecn" => spec.ecn = true,
                "no-ecn" => spec.ecn = false,
                other => {
                    return Err(
                        words.unknown_setting(other, "target, interval, limit, ecn, no-ecn")
                    );
                }
            }
        }
        Ok(spec)
    }
}

/// The size of one full packet: a queue of at most that is never too long (RFC 8289, section 4.4,
/// `maxpacket`).
const PACKET_BYTES_MAX: u64 = 1_500;

/// The settings of CoDel in the model's own units.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parameters {
    target: Duration,
    interval: Duration,
    ecn: bool,
}

impl Parameters {
    pub(crate) fn new(
        target_ms: f64,
        interval_ms: f64,
        ecn: bool,
        place: &str,
    ) -> Result<Self, SpecError> {
        Ok(Self {
            target: positive_ms(target_ms, "target_ms", place)?,
            interval: positive_ms(interval_ms, "interval_ms", place)?,
            ecn,
        })
    }
}

/// The state machine of RFC 8289, section 5, apart from the store, so that FQ-CoDel has one for
/// each flow.
#[derive(Clone, Debug, Default)]
pub(crate) struct Control {
    /// Time when the delay will have been above target for one interval; `None` while it is below.
    first_above: Option<Instant>,
    /// Time when the next packet is to be dropped, while `dropping`.
    drop_next: Instant,
    /// Drops since `dropping` began, and that count when it last began.
    count: u32,
    count_last: u32,
    dropping: bool,
}

/// The number of intervals after a dropping period within which a new one continues at about its
/// rate (section 5.5).
const RESUME_INTERVALS: u32 = 16;

impl Control {
    /// Returns the next packet to send; drops (or marks) others before it.
    pub(crate) fn dequeue<P, O: Observer<P>>(
        &mut self,
        parameters: &Parameters,
        queue: &mut Fifo<P>,
        at: Instant,
        reports: &mut Reports<'_, O>,
    ) -> Option<QueuedPacket<P>> {
        let (mut next, mut too_long) = self.take(parameters, queue, at);
        if self.dropping {
            if !too_long {
                self.dropping = false;
            }
            while self.dropping && at >= self.drop_next {
                let Some(mut queued_packet) = next.take() else {
                    break;
                };
                self.count = self.count.saturating_add(1);
                if parameters.ecn && queued_packet.packet.ecn.is_capable() {
                    reports.mark(at, &mut queued_packet);
                    self.drop_next = self.next_drop(parameters, self.drop_next);
                    return Some(queued_packet);
                }
                reports.dropped(at, queued_packet, DropReason::ActiveQueue);
                (next, too_long) = self.take(parameters, queue, at);
                if too_long {
                    self.drop_next = self.next_drop(parameters, self.drop_next);
                } else {
                    self.dropping = false;
                }
            }
        } else if too_long && let Some(mut queued_packet) = next.take() {
            self.begin(parameters, at);
            if parameters.ecn && queued_packet.packet.ecn.is_capable() {
                reports.mark(at, &mut queued_packet);
                return Some(queued_packet);
            }
            reports.dropped(at, queued_packet, DropReason::ActiveQueue);
            (next, _) = self.take(parameters, queue, at);
        }
        next
    }

    /// Begins a dropping period, at the last one's rate if that was recent.
    fn begin(&mut self, parameters: &Parameters, at: Instant) {
        self.dropping = true;
        let since_last = self.count.saturating_sub(self.count_last);
        let recent = at.since(self.drop_next) < parameters.interval * RESUME_INTERVALS;
        self.count = if since_last > 1 && recent {
            since_last
        } else {
            1
        };
        self.count_last = self.count;
        self.drop_next = self.next_drop(parameters, at);
    }

    /// Takes the head packet, and returns with it whether the delay was too long for an interval.
    fn take<P>(
        &mut self,
        parameters: &Parameters,
        queue: &mut Fifo<P>,
        at: Instant,
    ) -> (Option<QueuedPacket<P>>, bool) {
        let Some(queued_packet) = queue.pop() else {
            self.first_above = None;
            return (None, false);
        };
        let short = at.since(queued_packet.entered) < parameters.target;
        if short || queue.bytes() <= PACKET_BYTES_MAX {
            self.first_above = None;
            return (Some(queued_packet), false);
        }
        let first_above = *self.first_above.get_or_insert(at + parameters.interval);
        let too_long = first_above <= at;
        (Some(queued_packet), too_long)
    }

    /// Applies the control law: the interval of drops shrinks with the square root of their count.
    fn next_drop(&self, parameters: &Parameters, from: Instant) -> Instant {
        from + parameters.interval.div_f64(f64::from(self.count).sqrt())
    }
}

#[derive(Debug)]
pub(crate) struct Codel<P> {
    parameters: Parameters,
    limit_packets: u64,
    waiting: Fifo<P>,
    control: Control,
}

impl<P> Codel<P> {
    pub(crate) fn new(spec: &CodelSpec, place: &str) -> Result<Self, SpecError> {
        Ok(Self {
            parameters: Parameters::new(spec.target_ms, spec.interval_ms, spec.ecn, place)?,
            limit_packets: limit_packets(spec.limit_packets, place)?,
            waiting: Fifo::default(),
            control: Control::default(),
        })
    }

    pub(crate) fn enqueue<O: Observer<P>>(
        &mut self,
        at: Instant,
        queued_packet: QueuedPacket<P>,
        reports: &mut Reports<'_, O>,
    ) {
        if self.waiting.packets() >= self.limit_packets {
            reports.dropped(at, queued_packet, DropReason::QueueFull);
        } else {
            self.waiting.push(queued_packet);
        }
    }

    pub(crate) fn dequeue<O: Observer<P>>(
        &mut self,
        at: Instant,
        reports: &mut Reports<'_, O>,
    ) -> Option<QueuedPacket<P>> {
        self.control
            .dequeue(&self.parameters, &mut self.waiting, at, reports)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }
}

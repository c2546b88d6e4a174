mod timetable;

use super::effect::Effect;
use super::interface::{StageSettings, StageState};
use crate::error::At;
use crate::observer::{EventKind, Observer, Reports};
use crate::queue::Queue;
use crate::queued_packet::QueuedPacket;
use crate::words::{Words, as_ms};
use crate::{QueueSpec, SpecError};
use eyelevel_units::{BitRate, Duration, Instant, Seed, Transmitter, parse_duration};
use serde::{Deserialize, Serialize};
use timetable::Timetable;

/// A link whose rate changes at given times, with a queue in front of it. A packet in transmission
/// continues at the new rate with the bits that are left.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScheduleSpec {
    /// The rates in order of time; the first one at 0.
    pub steps: Vec<ScheduleStep>,
    /// The time after which the schedule repeats, in milliseconds; without it, the last rate stays.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub period_ms: Option<f64>,
    /// The queue; unbounded if it is not given. A limit in milliseconds counts at the mean rate of
    /// the period, or, without one, of the time up to the last step.
    #[serde(default)]
    pub queue: QueueSpec,
}

/// One change of the rate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScheduleStep {
    /// The time of the change, in milliseconds since the path's start.
    pub at_ms: f64,
    /// The rate in bits of IP packets per second from then on; 0: nothing is sent.
    pub rate_bit_s: u64,
}

impl StageSettings for ScheduleSpec {
    const IS_LINK: bool = true;

    fn parse(words: &mut Words<'_>) -> Result<Self, SpecError> {
        const EXPECTED: &str = "a time and its rate, such as 0s=10Mbit/s (or 5s=0 for none)";
        let (mut steps, mut period_ms) = (Vec::new(), None);
        while !words.is_empty() {
            if words.take("repeat") {
                period_ms = Some(words.ms()?);
                continue;
            }
            let (at, rate) = words.pair(EXPECTED)?;
            let at_ms = as_ms(parse_duration(at).at(|| words.place())?);
            let rate_bit_s = if is_zero_rate(&rate) {
                0
            } else {
                let rate = rate.parse::<BitRate>().at(|| words.place())?;
                rate.bits_per_second()
            };
            steps.push(ScheduleStep { at_ms, rate_bit_s });
        }
        if steps.is_empty() {
            return Err(words.error("no step is given", &format!("write {EXPECTED}")));
        }
        Ok(Self {
            steps,
            period_ms,
            queue: QueueSpec::Infinite,
        })
    }

    fn effect(&self) -> Result<Effect<'_>, SpecError> {
        let timetable = Timetable::new(self, "schedule")?;
        Ok(Effect::link(timetable.long_term_rate(), &self.queue))
    }

    fn queue_mut(&mut self) -> Option<&mut QueueSpec> {
        Some(&mut self.queue)
    }
}

/// Returns whether the text means that nothing is sent: `0`, or with a unit, as the other steps
/// have one.
fn is_zero_rate(text: &str) -> bool {
    let unit = text.trim_start_matches(['0', '.']);
    let zero = text.starts_with('0');
    zero && (unit.is_empty() || format!("1{unit}").parse::<BitRate>().is_ok())
}

#[derive(Debug)]
pub(crate) struct Schedule<P> {
    timetable: Timetable,
    transmitter: Transmitter,
    queue: Queue<P>,
    in_transmission: Option<QueuedPacket<P>>,
    /// Time when the packet in transmission leaves, or when the last one left.
    busy_until: Instant,
    /// Time that the packet in transmission still needs, at the transmitter's rate, while the rate
    /// is 0.
    paused: Option<Duration>,
    /// The next change of the rate; relevant while a packet is in transmission.
    next_change: Instant,
}

impl<P> StageState<P> for Schedule<P> {
    type Settings = ScheduleSpec;

    fn new(settings: &ScheduleSpec, seed: Seed, place: &str) -> Result<Self, SpecError> {
        let timetable = Timetable::new(settings, place)?;
        let queue = Queue::new(
            &settings.queue,
            timetable.mean_rate(),
            seed,
            &format!("{place}: queue"),
        )?;
        Ok(Self {
            transmitter: Transmitter::new(timetable.any_rate()),
            timetable,
            queue,
            in_transmission: None,
            busy_until: Instant::ZERO,
            paused: None,
            next_change: Instant::MAX,
        })
    }

    fn start(&mut self, origin: Instant) {
        self.timetable.origin = origin;
        self.queue.start(origin);
    }

    fn handle_packet<O: Observer<P>>(
        &mut self,
        at: Instant,
        queued_packet: QueuedPacket<P>,
        reports: &mut Reports<'_, O>,
    ) -> Option<QueuedPacket<P>> {
        self.queue.enqueue(at, queued_packet, reports);
        if self.in_transmission.is_none() {
            let (rate, next_change) = self.timetable.at(at);
            self.next_change = next_change;
            let rate = rate.unwrap_or(self.transmitter.rate());
            if at > self.busy_until || rate != self.transmitter.rate() {
                self.transmitter = Transmitter::new(rate);
            }
            self.begin(at, reports);
        }
        None
    }

    fn deadline(&self) -> Instant {
        match (&self.in_transmission, self.paused) {
            (None, _) => Instant::MAX,
            (Some(_), Some(_)) => self.next_change,
            (Some(_), None) => self.busy_until.min(self.next_change),
        }
    }

    fn handle_timeout<O: Observer<P>>(
        &mut self,
        at: Instant,
        reports: &mut Reports<'_, O>,
    ) -> Option<QueuedPacket<P>> {
        if self.paused.is_none() && at == self.busy_until {
            let sent = self.in_transmission.take()?;
            let queued = at.since(sent.entered);
            reports.event(at, &sent, EventKind::Served { queued });
            self.begin(at, reports);
            return Some(sent);
        }
        let remaining = self
            .paused
            .take()
            .unwrap_or_else(|| self.busy_until.since(at));
        let (rate, next_change) = self.timetable.at(at);
        self.next_change = next_change;
        match rate {
            Some(rate) => self.busy_until = at + self.transmitter.change_rate(rate, remaining),
            None => self.paused = Some(remaining),
        }
        None
    }
}

impl<P> Schedule<P> {
    /// Begins the transmission of the next queued packet, if there is one.
    fn begin<O: Observer<P>>(&mut self, at: Instant, reports: &mut Reports<'_, O>) {
        self.in_transmission = self.queue.dequeue(at, reports);
        let Some(next) = &self.in_transmission else {
            return;
        };
        let needed = self.transmitter.transmit(next.packet.wire_bytes);
        self.busy_until = at + needed;
        self.paused = self.timetable.at(at).0.is_none().then_some(needed);
    }
}

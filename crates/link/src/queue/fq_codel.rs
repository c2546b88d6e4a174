use super::aqm::limit_packets;
use super::codel::{Control, Parameters};
use super::fifo::Fifo;
use crate::observer::{Observer, Reports};
use crate::queued_packet::QueuedPacket;
use crate::words::Words;
use crate::{DropReason, SpecError};
use eyelevel_units::{Instant, Seed};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// FQ-CoDel, fair queueing with CoDel in each queue (RFC 8290). The defaults are the RFC's, except
/// that the quantum is one full IP packet, without the Ethernet header.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct FqCodelSpec {
    /// The number of queues into which flows are hashed.
    pub flows: u32,
    /// The bytes that a queue may send per turn.
    pub quantum_bytes: u32,
    /// The limit of queued packets in all queues together.
    pub limit_packets: u64,
    /// CoDel's target, in milliseconds.
    pub target_ms: f64,
    /// CoDel's interval, in milliseconds.
    pub interval_ms: f64,
    /// Whether capable packets are marked instead of dropped.
    pub ecn: bool,
}

impl Default for FqCodelSpec {
    fn default() -> Self {
        Self {
            flows: 1_024,
            quantum_bytes: 1_500,
            limit_packets: 10_240,
            target_ms: 5.0,
            interval_ms: 100.0,
            ecn: true,
        }
    }
}

impl FqCodelSpec {
    /// Parses the words after the discipline's name in the text form.
    pub(super) fn parse(words: &mut Words<'_>) -> Result<Self, SpecError> {
        let mut spec = Self::default();
        while !words.is_empty() {
            match words.word("a setting")? {
                "target" => spec.target_ms = words.ms()?,
                "interval" => spec.interval_ms = words.ms()?,
                "limit" => spec.limit_packets = words.packets()?,
                "flows" => spec.flows = words.count("a count, such as 1024")?,
                "ecn" => spec.ecn = true,
                "no-ecn" => spec.ecn = false,
                other => {
                    return Err(
                        words.unknown_setting(other, "target, interval, limit, flows, ecn, no-ecn")
                    );
                }
            }
        }
        Ok(spec)
    }
}

/// The most packets that one overload drops from the longest queue (section 4.1.3).
const DROP_BATCH_MAX: u64 = 64;
/// The largest number of queues, more than any path has flows.
const FLOWS_MAX: u32 = 65_536;

#[derive(Debug)]
pub(crate) struct FqCodel<P> {
    parameters: Parameters,
    quantum: i64,
    limit_packets: u64,
    flows: Vec<Flow<P>>,
    /// Queues with packets, in order: those that just became active, then the others.
    new: VecDeque<usize>,
    old: VecDeque<usize>,
    packets: u64,
    /// Mixed into the flow's hash, so that collisions differ from seed to seed.
    perturbation: Seed,
}

#[derive(Debug)]
struct Flow<P> {
    waiting: Fifo<P>,
    control: Control,
    credit: i64,
    /// Whether it is on one of the two lists.
    active: bool,
}

impl<P> FqCodel<P> {
    pub(crate) fn new(spec: &FqCodelSpec, seed: Seed, place: &str) -> Result<Self, SpecError> {
        if !(1..=FLOWS_MAX).contains(&spec.flows) {
            let problem = format!("flows is {}", spec.flows);
            return Err(SpecError::setting(
                place,
                problem,
                format!("use 1 to {FLOWS_MAX}"),
            ));
        }
        if spec.quantum_bytes == 0 {
            return Err(SpecError::setting(place, "quantum_bytes is 0", "use 1500"));
        }
        let flow = |_| Flow {
            waiting: Fifo::default(),
            control: Control::default(),
            credit: 0,
            active: false,
        };
        Ok(Self {
            parameters: Parameters::new(spec.target_ms, spec.interval_ms, spec.ecn, place)?,
            quantum: i64::from(spec.quantum_bytes),
            limit_packets: limit_packets(spec.limit_packets, place)?,
            flows: (0..spec.flows).map(flow).collect(),
            new: VecDeque::new(),
            old: VecDeque::new(),
            packets: 0,
            perturbation: seed,
        })
    }

    pub(crate) fn enqueue<O: Observer<P>>(
        &mut self,
        at: Instant,
        queued_packet: QueuedPacket<P>,
        reports: &mut Reports<'_, O>,
    ) {
        let index = self.classify(queued_packet.packet.flow);
        let flow = &mut self.flows[index];
        flow.waiting.push(queued_packet);
        self.packets += 1;
        if !flow.active {
            flow.active = true;
            flow.credit = self.quantum;
            self.new.push_back(index);
        }
        if self.packets > self.limit_packets {
            self.drop_from_longest(at, reports);
        }
    }

    pub(crate) fn dequeue<O: Observer<P>>(
        &mut self,
        at: Instant,
        reports: &mut Reports<'_, O>,
    ) -> Option<QueuedPacket<P>> {
        loop {
            let from_new = !self.new.is_empty();
            let index = *if from_new {
                self.new.front()
            } else {
                self.old.front()
            }?;
            let flow = &mut self.flows[index];
            if flow.credit <= 0 {
                flow.credit += self.quantum;
                self.leave(from_new);
                self.old.push_back(index);
                continue;
            }
            let before = flow.waiting.packets();
            let next = flow
                .control
                .dequeue(&self.parameters, &mut flow.waiting, at, reports);
            self.packets -= before - flow.waiting.packets();
            match next {
                Some(queued_packet) => {
                    flow.credit -= i64::from(queued_packet.packet.wire_bytes);
                    return Some(queued_packet);
                }
                None => {
                    self.leave(from_new);
                    // A new queue passes once through the old list, lest it always come first.
                    if from_new && !self.old.is_empty() {
                        self.old.push_back(index);
                    } else {
                        self.flows[index].active = false;
                    }
                }
            }
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.packets == 0
    }

    fn classify(&self, flow: u32) -> usize {
        let mixed = self.perturbation.child_numbered(u64::from(flow)).get();
        ((u128::from(mixed) * self.flows.len() as u128) >> 64) as usize
    }

    fn leave(&mut self, from_new: bool) {
        if from_new {
            self.new.pop_front()
        } else {
            self.old.pop_front()
        };
    }

    /// Drops half of the longest queue (by bytes) from its head, at most a batch.
    fn drop_from_longest<O: Observer<P>>(&mut self, at: Instant, reports: &mut Reports<'_, O>) {
        // Of equals the one whose head came first: nothing depends on how flows are hashed.
        let key = |(_, flow): &(usize, &Flow<P>)| {
            (
                flow.waiting.bytes(),
                core::cmp::Reverse(flow.waiting.head_number()),
            )
        };
        let longest = self.flows.iter().enumerate().max_by_key(key);
        let index = longest.expect("there is at least one flow").0;
        let waiting = &mut self.flows[index].waiting;
        let count = (waiting.packets() / 2).clamp(1, DROP_BATCH_MAX);
        for _ in 0..count {
            let Some(oldest) = waiting.pop() else { break };
            self.packets -= 1;
            reports.dropped(at, oldest, DropReason::QueueFull);
        }
    }
}

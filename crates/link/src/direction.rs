use crate::observer::{Event, EventKind, Observer, Reports};
use crate::queued_packet::QueuedPacket;
use crate::stage::Stage;
use crate::{Packet, SpecError, StageCounters, StageSpec};
use eyelevel_units::{Instant, Seed};
use std::collections::VecDeque;

/// The largest number of stages, more than any path needs; a longer list is a mistake.
const STAGES_MAX: usize = 64;

/// The latest time of the clock: deadlines at [`Instant::MAX`] mean "never".
const LATEST: Instant = Instant::from_nanos(u64::MAX - 1);

/// A packet that left the direction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Release<P> {
    /// The model's time to send it, which is in the past if the driver is late.
    pub at: Instant,
    /// The packet's position among the direction's arrivals, from 0; a duplicate has its
    /// original's.
    pub number: u64,
    /// The packet.
    pub packet: Packet<P>,
}

/// One direction of a path.
///
/// A driver calls [`handle_packet`](Self::handle_packet) for each packet that arrives, sleeps until
/// [`poll_timeout`](Self::poll_timeout), and then takes packets from
/// [`poll_transmit`](Self::poll_transmit) until there is none. How late it calls does not affect
/// the model: events are handled in the order of their own instants, at one instant the stage
/// nearest the exit first, and before a packet that arrives at that instant. So a packet that
/// leaves a queue makes room for one that arrives at the same nanosecond.
///
/// A packet may be passed late, after calls with a later `now`, if nothing has happened since its
/// own instant. If something has, or a later packet arrived, it arrives at the instant of that
/// ([`Self::arrival_at`]): time never runs backwards.
#[derive(Debug)]
pub struct Direction<P, O = ()> {
    stages: Vec<Stage<P>>,
    /// Each stage's next event; [`Instant::MAX`] if there is none.
    deadlines: Vec<Instant>,
    /// The earliest of `deadlines`.
    deadline: Instant,
    counters: Vec<StageCounters>,
    released: VecDeque<Release<P>>,
    /// The latest event or arrival.
    clock: Instant,
    arrivals: u64,
    observer: O,
}

impl<P: Clone> Direction<P> {
    /// Builds the stages in the order in which a packet passes them. Each stage has its own random
    /// generator, derived from `seed` and its position.
    ///
    /// # Errors
    /// When a stage's settings are invalid; the message names the stage and the remedy.
    pub fn new(stages: &[StageSpec], seed: Seed) -> Result<Self, SpecError> {
        Self::with_observer(stages, seed, ())
    }
}

impl<P: Clone, O: Observer<P>> Direction<P, O> {
    /// Builds the stages as [`Direction::new`] does, with an observer of internal events.
    ///
    /// # Errors
    /// As for [`Direction::new`].
    pub fn with_observer(specs: &[StageSpec], seed: Seed, observer: O) -> Result<Self, SpecError> {
        if specs.len() > STAGES_MAX {
            return Err(SpecError::setting(
                "path",
                format!("{} stages", specs.len()),
                format!("use at most {STAGES_MAX}"),
            ));
        }
        let build = |(index, spec): (usize, &StageSpec)| {
            let place = format!("stage {} ({})", index + 1, spec.name());
            Stage::new(spec, seed.child_numbered(index as u64), &place)
        };
        let stages = specs
            .iter()
            .enumerate()
            .map(build)
            .collect::<Result<Vec<_>, _>>()?;
        Ok(Self {
            deadlines: vec![Instant::MAX; stages.len()],
            deadline: Instant::MAX,
            counters: vec![StageCounters::default(); stages.len()],
            stages,
            released: VecDeque::new(),
            clock: Instant::ZERO,
            arrivals: 0,
            observer,
        })
    }

    /// Sets the path's start: traces, schedules, outages and recorded series count their time from
    /// here. Without a call they count from [`Instant::ZERO`]; call it before any packet.
    pub fn start(&mut self, now: Instant) {
        self.clock = self.clock.max(now).min(LATEST);
        self.stages.iter_mut().for_each(|stage| stage.start(now));
    }

    /// Handles a packet that arrives at `now`; returns its number, from 0.
    pub fn handle_packet(&mut self, now: Instant, packet: Packet<P>) -> u64 {
        self.run_until(now);
        self.clock = self.arrival_at(now);
        let number = self.arrivals;
        self.arrivals += 1;
        let (at, wire_bytes) = (self.clock, packet.wire_bytes);
        let kind = EventKind::Arrival;
        self.observer.event(&Event {
            at,
            stage: 0,
            packet: Some(number),
            wire_bytes,
            kind,
        });
        self.pass(
            0,
            at,
            QueuedPacket {
                packet,
                number,
                entered: at,
            },
        );
        self.refresh_deadline();
        number
    }

    /// Returns the arrival time of a packet that is passed with `now`, once all events until then
    /// are handled.
    pub fn arrival_at(&self, now: Instant) -> Instant {
        now.max(self.clock).min(LATEST)
    }

    /// Advances the time to `now`, as [`poll_transmit`](Self::poll_transmit) does itself.
    pub fn handle_timeout(&mut self, now: Instant) {
        self.run_until(now);
    }

    /// Returns the next packet that leaves at or before `now`, in the order of their release.
    #[inline]
    pub fn poll_transmit(&mut self, now: Instant) -> Option<Release<P>> {
        self.run_until(now);
        self.released.pop_front()
    }

    /// Returns the time of the next call: the release of a packet that waits to be taken, or the
    /// next event of a stage; `None` while the direction holds no packet.
    #[inline]
    pub fn poll_timeout(&self) -> Option<Instant> {
        match self.released.front() {
            Some(release) => Some(release.at),
            None => Some(self.deadline).filter(|deadline| *deadline < Instant::MAX),
        }
    }

    /// Returns the number of packets that arrived so far.
    pub fn arrivals(&self) -> u64 {
        self.arrivals
    }

    /// Returns the counters of each stage, in the order of the stages.
    pub fn counters(&self) -> &[StageCounters] {
        &self.counters
    }

    /// Returns the observer.
    pub fn observer(&self) -> &O {
        &self.observer
    }

    /// Returns the observer, to take what it collected.
    pub fn observer_mut(&mut self) -> &mut O {
        &mut self.observer
    }

    #[inline]
    fn run_until(&mut self, now: Instant) {
        while self.deadline <= now && self.deadline < Instant::MAX {
            self.step();
        }
    }

    /// Handles the earliest event; at one instant that of the stage nearest the exit.
    fn step(&mut self) {
        let at = self.deadline;
        let index = self.deadlines.iter().rposition(|deadline| *deadline == at);
        let index = index.expect("the least deadline is one of them");
        self.clock = at;
        let mut reports = Reports {
            stage: index as u16,
            counters: &mut self.counters[index],
            observer: &mut self.observer,
        };
        let left = self.stages[index].handle_timeout(at, &mut reports);
        self.deadlines[index] = self.stages[index].deadline();
        if let Some(queued_packet) = left {
            self.pass(index + 1, at, queued_packet);
        }
        self.refresh_deadline();
    }

    /// Passes a packet at one instant through the stages from `first` on, until one holds it.
    fn pass(&mut self, first: usize, at: Instant, mut queued_packet: QueuedPacket<P>) {
        for index in first..self.stages.len() {
            queued_packet.entered = at;
            let counters = &mut self.counters[index];
            counters.packets += 1;
            counters.bytes += queued_packet.bytes();
            let observer = &mut self.observer;
            let mut reports = Reports {
                stage: index as u16,
                counters,
                observer,
            };
            let stage = &mut self.stages[index];
            let left = stage.handle_packet(at, queued_packet, &mut reports);
            self.deadlines[index] = stage.deadline();
            match left {
                Some(through) => queued_packet = through,
                None => return,
            }
        }
        let QueuedPacket { packet, number, .. } = queued_packet;
        let (stage, wire_bytes) = (
            self.stages.len().saturating_sub(1) as u16,
            packet.wire_bytes,
        );
        let kind = EventKind::Release;
        self.observer.event(&Event {
            at,
            stage,
            packet: Some(number),
            wire_bytes,
            kind,
        });
        self.released.push_back(Release { at, number, packet });
    }

    #[inline]
    fn refresh_deadline(&mut self) {
        self.deadline = self.deadlines.iter().copied().min().unwrap_or(Instant::MAX);
    }
}

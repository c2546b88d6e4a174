use crate::batch::Due;
use crate::capture::Capture;
use crate::density::SLOT;
use crate::lane::Lane;
use crate::log::Log;
use crate::log::head::LogHead;
use crate::measured::marks::connections;
use crate::measured::outside;
use crate::measured::timeline::Timeline;
use crate::measured::windows::WindowWatch;
use crate::pace::Pace;
use crate::settings::{Ends, PathError, PathSettings, SecondPair};
use crate::summary::{DirectionSummary, PathSummary};
use crate::summary_reset::SummaryReset;
use crate::tap::Tap;
use crate::watch::{DirectionState, PathState, Watch};
use eyelevel_link::{Direction, StageSpec};
use eyelevel_netns::{Device, Error, Stop, WATCHED_MAX, Wait, monotonic_now};
use eyelevel_units::{Instant, Seed};
use std::fs::File;
use std::os::fd::AsFd;
use std::sync::{Arc, Mutex};

/// The most turns without a wait after which the stop is checked all the same.
const TURNS_MAX: u32 = 64;

/// The most turns after the stop, of some reads per device: packets that wait in a device are read,
/// but a continuing sender does not delay the end.
const LAST_TURNS_MAX: u32 = 1000;

/// Both directions between a client's and a server's device.
pub struct Path {
    up: Lane,
    down: Lane,
    /// The device of the client and, if there is one, of the second client.
    clients: Vec<Device>,
    /// The devices of the servers.
    servers: Vec<Device>,
    wait: Wait,
    watch: Option<Watch>,
    /// Whether each stage has a queue, of down and up.
    links: [Vec<bool>; 2],
    logs: Option<[(File, LogHead); 2]>,
    summary_reset: SummaryReset,
    capture: Option<File>,
    lost_before: outside::Baseline,
}

/// A handle that ends a running [`Path`] from another thread.
pub type Stopper = Stop;

impl Path {
    /// Joins the devices.
    ///
    /// # Errors
    /// When a stage's settings are invalid.
    pub fn new(ends: Ends, settings: PathSettings<'_>) -> Result<(Self, Stopper), PathError> {
        let seed = Seed::new(settings.seed);
        let direction = |specs: &[StageSpec], label| {
            Direction::with_observer(specs, seed.child(label), Tap::new(specs.len(), None))
        };
        let kind = ends.client.kind();
        let head = |label, specs: &[StageSpec]| LogHead::new(label, specs, settings.seed, kind);
        let (mut clients, mut servers) = (vec![ends.client], vec![ends.server]);
        let (mut second_client, mut second_server) = (None, None);
        if let Some(SecondPair { client, server }) = ends.second {
            clients.push(client.0);
            servers.push(server.0);
            (second_client, second_server) = (Some(client.1), Some(server.1));
        }
        let watched: Vec<_> = clients.iter().chain(&servers).map(AsFd::as_fd).collect();
        let (wait, stop) = Wait::new(&watched)?;
        let logs = settings.logs.map(|(down, up)| {
            [
                (down, head("down", settings.down)),
                (up, head("up", settings.up)),
            ]
        });
        let down = direction(settings.down, "down")?;
        let up = direction(settings.up, "up")?;
        let mut up = Lane::new(up, true, second_server);
        up.windows = settings.windows.map(WindowWatch::storing_in);
        let path = Self {
            up,
            down: Lane::new(down, false, second_client),
            clients,
            servers,
            wait,
            watch: settings.watch,
            links: [settings.down, settings.up]
                .map(|specs| specs.iter().map(StageSpec::is_link).collect()),
            logs,
            summary_reset: SummaryReset::default(),
            capture: settings.capture,
            lost_before: outside::Baseline::default(),
        };
        Ok((path, stop))
    }

    /// Returns a handle with which another thread restarts the summary.
    pub fn summary_reset(&self) -> SummaryReset {
        self.summary_reset.clone()
    }

    /// Moves packets until the stopper is used. `realtime` is whether the calling thread has
    /// real-time priority, with which it may wait for a release without sleeping.
    ///
    /// # Errors
    /// When waiting or reading fails, which ends the lab.
    pub fn run(mut self, realtime: bool) -> Result<PathSummary, Error> {
        let start = monotonic_now();
        self.begin(start, realtime);
        let mut pace = Pace::new(start, realtime);
        let mut ready = [false; WATCHED_MAX];
        let mut turns = 0;
        loop {
            self.reset_if_requested();
            if self.up.is_dense() || self.down.is_dense() {
                if self.wait.pause(SLOT)? {
                    break;
                }
                self.take_turn(&mut ready)?;
                continue;
            }
            let now = monotonic_now();
            self.write_due(now, &mut ready);
            let due = self.due();
            let busy = ready.iter().any(|ready| *ready);
            turns += 1;
            if !busy || turns >= TURNS_MAX {
                turns = 0;
                let timeout = pace.timeout(monotonic_now(), due, busy);
                if self.wait.wait(timeout, &mut ready)? {
                    break;
                }
                pace.on_wake(monotonic_now());
            }
            self.read_arrivals(&mut ready, true)?;
            self.publish();
        }
        self.read_rest()?;
        Ok(self.end())
    }

    /// Ends a slot of a dense stream: reads all that has arrived and writes what is due.
    fn take_turn(&mut self, ready: &mut [bool; WATCHED_MAX]) -> Result<(), Error> {
        let now = monotonic_now();
        // Only of existing devices: readiness of another one would never be cleared.
        let devices = self.clients.len() + self.servers.len();
        ready[..devices].fill(true);
        for _ in 0..TURNS_MAX {
            self.read_arrivals(ready, false)?;
            if !ready[..devices].contains(&true) {
                break;
            }
        }
        self.write_due(now, ready);
        self.publish();
        Ok(())
    }

    fn begin(&mut self, start: Instant, realtime: bool) {
        let capture = self.capture.take().map(Capture::start);
        let capture = capture.map(|capture| Arc::new(Mutex::new(capture)));
        self.up.capture = capture.clone();
        self.down.capture = capture;
        self.up.direction.start(start);
        self.down.direction.start(start);
        self.down.direction.observer_mut().timeline = Some(Timeline::default());
        if let Some([down, up]) = self.logs.take() {
            for (lane, (file, head)) in [(&mut self.down, down), (&mut self.up, up)] {
                let line = head.line(start, realtime);
                lane.direction.observer_mut().log = Some(Log::start(file, &line));
            }
        }
    }

    fn reset_if_requested(&mut self) {
        if self.summary_reset.take_request() {
            self.up.restart();
            self.down.restart();
            self.lost_before = outside::Baseline::now(&mut self.clients, &mut self.servers);
        }
    }

    /// Writes what is due, together with what the other direction deferred. The receiver may answer
    /// at once, so the first device of its side becomes `ready` to be read.
    fn write_due(&mut self, now: Instant, ready: &mut [bool; WATCHED_MAX]) {
        if self.due().is_some_and(|due| due.at <= now) {
            let (of_clients, of_servers) = ready.split_at_mut(self.clients.len());
            let up = self.up.certain_until(now, &self.clients, of_clients);
            let down = self.down.certain_until(now, &self.servers, of_servers);
            if self.up.may_leave(up) && self.up.write_due(up, &mut self.servers) {
                of_servers[0] = true;
            }
            if self.down.may_leave(down) && self.down.write_due(down, &mut self.clients) {
                of_clients[0] = true;
            }
        }
        for lane in [&mut self.up, &mut self.down] {
            if let Some(log) = &mut lane.direction.observer_mut().log {
                log.submit_late(now);
            }
        }
    }

    fn due(&self) -> Option<Due> {
        let dues = [self.up.due(), self.down.due()];
        dues.into_iter().flatten().min_by_key(|due| due.at)
    }

    fn read_arrivals(
        &mut self,
        ready: &mut [bool; WATCHED_MAX],
        unless_due: bool,
    ) -> Result<(), Error> {
        let (of_clients, of_servers) = ready.split_at_mut(self.clients.len());
        for (ready, server) in of_servers.iter_mut().zip(&mut self.servers) {
            if *ready {
                *ready = self.down.read_arrivals(server, unless_due)?;
            }
        }
        for (ready, client) in of_clients.iter_mut().zip(&mut self.clients) {
            if *ready {
                *ready = self.up.read_arrivals(client, unless_due)?;
            }
        }
        Ok(())
    }

    /// Reads what was sent before the stop: whether a command's last packets are counted must not
    /// depend on a race between this thread and the one that stops it.
    fn read_rest(&mut self) -> Result<(), Error> {
        let mut ready = [true; WATCHED_MAX];
        for _ in 0..LAST_TURNS_MAX {
            self.read_arrivals(&mut ready, true)?;
            self.write_due(monotonic_now(), &mut ready);
            if !ready[..self.clients.len() + self.servers.len()].contains(&true) {
                break;
            }
        }
        self.publish();
        Ok(())
    }

    fn publish(&self) {
        if let Some(watch) = &self.watch {
            watch.publish(&PathState {
                down: state(&self.down, &self.links[0]),
                up: state(&self.up, &self.links[1]),
            });
        }
    }

    fn end(mut self) -> PathSummary {
        self.reset_if_requested();
        let unwritten = (self.down.unwritten(), self.up.unwritten());
        let (clients, servers) = (&mut self.clients, &mut self.servers);
        let lost_outside = self.lost_before.since(clients, servers, unwritten);
        let capture = self.up.capture.take();
        drop(self.down.capture.take());
        // Both lanes have dropped it.
        let capture = capture.and_then(Arc::into_inner);
        let capture = capture.and_then(|capture| capture.into_inner().ok());
        let capture = capture.map(Capture::finish);
        PathSummary {
            lost_outside,
            capture_packets: capture.as_ref().map(|capture| capture.packets),
            capture_lost_packets: capture.as_ref().map(|capture| capture.lost),
            capture_failure: capture.and_then(|capture| capture.failure),
            connections: connections(&self.down.marks, &self.up.marks),
            down: DirectionSummary::from_lane(self.down),
            up: DirectionSummary::from_lane(self.up),
        }
    }
}

fn state(lane: &Lane, links: &[bool]) -> DirectionState {
    let (tap, counts) = (lane.direction.observer(), &lane.counts);
    let (queue_packets, queue_bytes) = tap.queued(lane.direction.counters(), links);
    DirectionState {
        packets: counts.packets,
        bytes: counts.bytes,
        released_packets: counts.released,
        released_bytes: counts.released_bytes,
        dropped_packets: tap.dropped_packets,
        marked_packets: tap.marked_packets,
        held_packets: lane.held(),
        queue_packets,
        queue_bytes,
        queue_delay_us: tap.queue_delay_ns / 1000,
        lateness_us: counts.lateness_ns / 1000,
    }
}

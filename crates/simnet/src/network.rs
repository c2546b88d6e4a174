use eyelevel_link::{Direction, Observer, Packet};
use eyelevel_units::Instant;

/// The most steps at one instant before an endpoint is considered stuck in a loop.
const STEPS_PER_INSTANT_MAX: u32 = 1_000_000;

/// One side of a network: a state machine without clock or socket. `P` is a packet's payload.
pub trait Endpoint<P> {
    /// Handles a packet that arrives.
    fn handle_datagram(&mut self, now: Instant, datagram: Packet<P>);

    /// Returns the next packet to send at `now`; called until it is `None`.
    fn poll_transmit(&mut self, now: Instant) -> Option<Packet<P>>;

    /// Returns when to call [`handle_timeout`](Self::handle_timeout); `None` for never.
    fn poll_timeout(&self) -> Option<Instant>;

    /// Handles the timeout of [`poll_timeout`](Self::poll_timeout). It must set a later one, or
    /// none.
    fn handle_timeout(&mut self, now: Instant);
}

/// Two endpoints and the path between them.
///
/// At one instant: due timeouts are handled first (the client's before the server's), then each
/// endpoint sends (the client first), then the packets that the links release are delivered, and so
/// on until nothing more happens at that instant.
#[derive(Debug)]
pub struct Network<C, S, P, O = ()> {
    /// The side that sends over `up`.
    pub client: C,
    /// The side that sends over `down`.
    pub server: S,
    /// The direction from client to server.
    pub up: Direction<P, O>,
    /// The direction from server to client.
    pub down: Direction<P, O>,
    now: Instant,
}

impl<C, S, P, O> Network<C, S, P, O>
where
    C: Endpoint<P>,
    S: Endpoint<P>,
    P: Clone,
    O: Observer<P>,
{
    /// Joins two endpoints; the time is [`Instant::ZERO`].
    pub fn new(client: C, server: S, up: Direction<P, O>, down: Direction<P, O>) -> Self {
        Self {
            client,
            server,
            up,
            down,
            now: Instant::ZERO,
        }
    }

    /// Returns the virtual time.
    pub fn now(&self) -> Instant {
        self.now
    }

    /// Runs everything up to and including `end`; the time is `end` afterwards.
    pub fn run_until(&mut self, end: Instant) {
        self.run_until_or(end, |_| false);
    }

    /// Runs as [`run_until`](Self::run_until) does, but stops after the first instant at which
    /// `done` is true. Returns whether it did.
    pub fn run_until_or(&mut self, end: Instant, done: impl Fn(&Self) -> bool) -> bool {
        loop {
            self.settle();
            if done(self) {
                return true;
            }
            match self.poll_timeout() {
                Some(next) if next <= end => self.now = self.now.max(next),
                _ => break,
            }
        }
        self.now = self.now.max(end);
        false
    }

    /// Returns the next instant at which something happens; `None` if nothing will.
    pub fn poll_timeout(&self) -> Option<Instant> {
        let wishes = [
            self.client.poll_timeout(),
            self.server.poll_timeout(),
            self.up.poll_timeout(),
            self.down.poll_timeout(),
        ];
        wishes.into_iter().flatten().min()
    }

    /// Handles everything at the current instant.
    fn settle(&mut self) {
        let now = self.now;
        for _ in 0..STEPS_PER_INSTANT_MAX {
            let mut progress = false;
            progress |= fire(&mut self.client, now);
            progress |= fire(&mut self.server, now);
            progress |= send(&mut self.client, &mut self.up, now);
            progress |= send(&mut self.server, &mut self.down, now);
            progress |= deliver(&mut self.up, &mut self.server, now);
            progress |= deliver(&mut self.down, &mut self.client, now);
            if !progress {
                return;
            }
        }
        panic!(
            "{STEPS_PER_INSTANT_MAX} steps at {now} s: an endpoint asks for a timeout in the past"
        );
    }
}

fn fire<P>(endpoint: &mut impl Endpoint<P>, now: Instant) -> bool {
    let due = endpoint.poll_timeout().is_some_and(|at| at <= now);
    if due {
        endpoint.handle_timeout(now);
    }
    due
}

fn send<P: Clone, O: Observer<P>>(
    from: &mut impl Endpoint<P>,
    link: &mut Direction<P, O>,
    now: Instant,
) -> bool {
    let mut progress = false;
    for _ in 0..STEPS_PER_INSTANT_MAX {
        let Some(packet) = from.poll_transmit(now) else {
            return progress;
        };
        link.handle_packet(now, packet);
        progress = true;
    }
    panic!("{STEPS_PER_INSTANT_MAX} packets at {now} s: an endpoint never stops sending");
}

fn deliver<P: Clone, O: Observer<P>>(
    link: &mut Direction<P, O>,
    to: &mut impl Endpoint<P>,
    now: Instant,
) -> bool {
    let mut progress = false;
    while let Some(release) = link.poll_transmit(now) {
        to.handle_datagram(now, release.packet);
        progress = true;
    }
    progress
}

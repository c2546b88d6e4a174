use eyelevel_link::{Direction, Observer, Packet};
use eyelevel_units::Instant;

/// How much may happen at one instant before an endpoint is taken to be stuck in a loop.
const STEPS_PER_INSTANT_MAX: u32 = 1_000_000;

/// One side of a network: a state machine without clock or socket. `P` is what a packet carries.
pub trait Endpoint<P> {
    /// A packet arrives.
    fn handle_datagram(&mut self, now: Instant, datagram: Packet<P>);

    /// The next packet to send at `now`; asked until it is None.
    fn poll_transmit(&mut self, now: Instant) -> Option<Packet<P>>;

    /// When [`handle_timeout`](Self::handle_timeout) shall be called; None for never.
    fn poll_timeout(&self) -> Option<Instant>;

    /// The time of [`poll_timeout`](Self::poll_timeout) has come. It must ask for a later one, or
    /// for none.
    fn handle_timeout(&mut self, now: Instant);
}

/// Two endpoints and the path between them.
///
/// At one instant: due timeouts are handled first (the client's before the server's), then each
/// endpoint sends (the client first), then what the links release is delivered, and so on until
/// nothing happens any more at that instant.
#[derive(Debug)]
pub struct Network<C, S, P, O = ()> {
    /// The side that `up` leads away from.
    pub client: C,
    /// The side that `down` leads away from.
    pub server: S,
    /// From client to server.
    pub up: Direction<P, O>,
    /// From server to client.
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

    /// The virtual time.
    pub fn now(&self) -> Instant {
        self.now
    }

    /// Runs everything up to and including `end`; the time is `end` afterwards.
    pub fn run_until(&mut self, end: Instant) {
        self.run_until_or(end, |_| false);
    }

    /// As [`run_until`](Self::run_until), but stops after the first instant at which `done` holds.
    /// Returns whether it did.
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

    /// The next instant at which something happens; None when all is quiet for good.
    pub fn poll_timeout(&self) -> Option<Instant> {
        let wishes = [
            self.client.poll_timeout(),
            self.server.poll_timeout(),
            self.up.poll_timeout(),
            self.down.poll_timeout(),
        ];
        wishes.into_iter().flatten().min()
    }

    /// Lets happen all that happens at the present instant.
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

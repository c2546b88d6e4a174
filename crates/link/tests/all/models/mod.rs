//! Plain reference models of queue disciplines, written independently of the crate: vectors that
//! are searched, timers that tick one by one, no attention to speed.

mod cell;
mod codel;
mod dualpi2;
mod fifo;
mod fq_codel;
mod known_cell;
mod pie;
mod red;

pub use cell::Cell;
pub use codel::Codel;
pub use dualpi2::DualPi2;
pub use fifo::{DropHead, DropTail};
pub use fq_codel::FqCodel;
pub use known_cell::{IDLE_MS, Known, Link};
pub use pie::Pie;
pub use red::Red;

use crate::common::{Arrival, Outcome};
use eyelevel_link::{DropReason, Ecn};

/// A queued packet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Waiting {
    pub number: u64,
    pub entered: u64,
    pub bytes: u32,
    pub flow: u32,
    pub ecn: Ecn,
}

/// Drops, in order.
pub type Drops = Vec<(u64, u64, DropReason)>;

/// A queue discipline in its plainest form.
pub trait Model {
    fn enqueue(&mut self, at: u64, packet: Waiting, drops: &mut Drops);
    fn dequeue(&mut self, at: u64, drops: &mut Drops) -> Option<Waiting>;
    /// Returns the next tick of the discipline's timer, if it has one.
    fn tick_next(&self) -> u64 {
        u64::MAX
    }
    fn tick(&mut self, _at: u64) {}
}

/// Runs a link of constant rate in front of which the model queues. Times are exact fractions:
/// `busy` is in nanoseconds times bits per second.
pub fn link(model: &mut dyn Model, rate: u64, arrivals: &[Arrival]) -> Outcome {
    let mut outcome = Outcome::default();
    let mut sending: Option<Waiting> = None;
    let mut busy: u128 = 0;
    let work = |packet: &Waiting| u128::from(packet.bytes) * 8 * 1_000_000_000;
    let floor = |busy: u128| u64::try_from(busy / u128::from(rate)).unwrap();
    let mut pending = arrivals.iter().enumerate().peekable();
    loop {
        let departure = sending.map_or(u64::MAX, |_| floor(busy));
        let arrival = pending.peek().map_or(u64::MAX, |(_, arrival)| arrival.at);
        let tick = model.tick_next();
        if departure == u64::MAX && arrival == u64::MAX {
            return outcome;
        }
        if tick <= departure.min(arrival) {
            model.tick(tick);
        } else if departure <= arrival {
            let sent = sending.take().unwrap();
            outcome.released.push((sent.number, departure, sent.ecn));
            sending = model.dequeue(departure, &mut outcome.dropped);
            busy += sending.as_ref().map_or(0, work);
        } else {
            let (number, arrival) = pending.next().unwrap();
            let packet = Waiting {
                number: number as u64,
                entered: arrival.at,
                bytes: arrival.bytes,
                flow: arrival.flow,
                ecn: arrival.ecn,
            };
            model.enqueue(arrival.at, packet, &mut outcome.dropped);
            if sending.is_none() {
                sending = model.dequeue(arrival.at, &mut outcome.dropped);
                if arrival.at > floor(busy) {
                    busy = u128::from(arrival.at) * u128::from(rate);
                }
                busy += sending.as_ref().map_or(0, work);
            }
        }
    }
}

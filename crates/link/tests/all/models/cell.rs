use crate::common::{Arrival, Outcome};
use eyelevel_link::LightTrain;

const MS: f64 = 1e6;

/// The stage `cell` in its plainest form: all packets one by one, all opportunities in lists that
/// are searched, no events. Its link has no limit, its packets at most 1500 bytes.
pub struct Cell {
    pub light: Vec<LightTrain>,
    pub heavy: Vec<u64>,
    pub idle: u64,
}

impl Cell {
    fn delay(&self, at: u64) -> (usize, u64) {
        let times: Vec<u64> = self.light.iter().map(|t| (t.at_ms * MS) as u64).collect();
        let delays: Vec<u64> = self
            .light
            .iter()
            .map(|t| (t.delay_ms * MS) as u64)
            .collect();
        let within = at % times[times.len() - 1];
        if within < times[0] {
            return (0, delays[0]);
        }
        let n = (0..times.len()).rfind(|n| times[*n] <= within).unwrap();
        let (span, passed) = (times[n + 1] - times[n], within - times[n]);
        let weighted = u128::from(delays[n]) * u128::from(span - passed)
            + u128::from(delays[n + 1]) * u128::from(passed);
        (n, (weighted / u128::from(span)) as u64)
    }

    /// Returns the outcome of the packets. The link's opportunities are used in order, each by
    /// whole packets and parts of them that arrived before it.
    pub fn carry(&self, arrivals: &[Arrival]) -> Outcome {
        let mut outcome = Outcome::default();
        let (mut began, mut delay, mut train, mut index, mut credit) = (0, 0, None, 0, 0);
        // The end of the last packet's delay, and when packets arrived at the link and left it.
        let (mut due_last, mut on_link) = (0_u64, Vec::<(u64, u64)>::new());
        // The last opportunity of the link that was used, and the bytes left of it.
        let (mut used, mut rest) = (-1_i64, 0_u64);
        for (number, arrival) in arrivals.iter().enumerate() {
            let (now, bytes) = (arrival.at, u64::from(arrival.bytes));
            let busy = on_link
                .iter()
                .any(|(came, left)| *came <= now && *left > now);
            let left = on_link
                .iter()
                .map(|(_, left)| *left)
                .filter(|left| *left <= now);
            let last = left.fold(due_last, u64::max);
            if train.is_none() || (!busy && now + delay > last + self.idle) {
                let (place, interpolated) = self.delay(now);
                (train, began, delay, index, credit) = (Some(place), now, interpolated, 0, 1500);
            }
            let recorded = &self.light[train.unwrap()].opportunities_ms;
            let at = |n: usize| (recorded[n] * MS) as u64;
            while index < recorded.len() && (at(index) < now - began || credit < bytes) {
                (index, credit) = (index + 1, 1500);
            }
            let of_train = (index < recorded.len()).then(|| began + delay + at(index));
            credit -= if of_train.is_some() { bytes } else { 0 };
            let due = of_train.unwrap_or(now + delay);
            let alone = of_train.is_some() && due >= due_last;
            due_last = due.max(due_last);
            let mut leaves = due_last;
            if !alone || on_link.iter().any(|(_, left)| *left > due_last) {
                leaves = self.link(due_last, bytes, &mut used, &mut rest);
                on_link.push((due_last, leaves));
            }
            outcome.released.push((number as u64, leaves, arrival.ecn));
        }
        outcome
    }

    /// Returns when a packet that arrives at the link at `came` leaves it.
    fn link(&self, came: u64, mut needed: u64, used: &mut i64, rest: &mut u64) -> u64 {
        let (count, length) = (self.heavy.len() as u64, self.heavy[self.heavy.len() - 1]);
        let time = |n: i64| {
            let n = u64::try_from(n).unwrap();
            (n / count * length + self.heavy[(n % count) as usize]) * 1_000_000
        };
        loop {
            if *rest > 0 && time(*used) > came {
                let taken = needed.min(*rest);
                (needed, *rest) = (needed - taken, *rest - taken);
                if needed == 0 {
                    return time(*used);
                }
            }
            *used += 1;
            while time(*used) <= came {
                *used += 1;
            }
            *rest = 1500;
        }
    }
}

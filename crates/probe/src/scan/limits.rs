use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::{Mutex as Turn, OwnedMutexGuard};
use tokio::time::Instant;

/// A limit of the connections per second: beginnings are on a grid, so that no burst follows a
/// pause.
#[derive(Debug)]
pub(super) struct Rate {
    gap: Duration,
    next: Mutex<Option<Instant>>,
}

impl Rate {
    pub(super) fn new(per_s: f64) -> Self {
        Self {
            gap: Duration::from_secs_f64(1.0 / per_s),
            next: Mutex::new(None),
        }
    }

    /// Waits until another connection may begin.
    pub(super) async fn wait_for_turn(&self) {
        let at = self.reserve(Instant::now());
        tokio::time::sleep_until(at).await;
    }

    fn reserve(&self, now: Instant) -> Instant {
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        let at = next.map_or(now, |next| next.max(now));
        *next = Some(at + self.gap);
        at
    }
}

/// A limit of the connections per server address to one at a time. An address is stored only while
/// it is in use.
#[derive(Debug, Default)]
pub(super) struct Addresses {
    turns: Mutex<HashMap<IpAddr, Arc<Turn<()>>>>,
}

/// The exclusive use of an address, until it is dropped.
pub(super) struct AddressGuard<'a> {
    addresses: &'a Addresses,
    address: IpAddr,
    guard: Option<OwnedMutexGuard<()>>,
}

impl Addresses {
    pub(super) async fn hold(&self, address: IpAddr) -> AddressGuard<'_> {
        let turn = {
            let mut turns = self.turns.lock().unwrap_or_else(PoisonError::into_inner);
            turns.entry(address).or_default().clone()
        };
        AddressGuard {
            addresses: self,
            address,
            guard: Some(turn.lock_owned().await),
        }
    }
}

impl Drop for AddressGuard<'_> {
    fn drop(&mut self) {
        drop(self.guard.take());
        let turns = &self.addresses.turns;
        let mut turns = turns.lock().unwrap_or_else(PoisonError::into_inner);
        // A waiting task has a reference in addition to the table's own.
        if turns
            .get(&self.address)
            .is_some_and(|turn| Arc::strong_count(turn) == 1)
        {
            turns.remove(&self.address);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_begin_on_a_grid_and_a_silence_saves_nothing_up() {
        let rate = Rate::new(10.0);
        let began = Instant::now();
        let last = (0..5).map(|_| rate.reserve(began)).last().unwrap();
        assert_eq!((last - began).as_millis(), 400);
        let later = began + Duration::from_secs(60);
        let last = (0..3).map(|_| rate.reserve(later)).last().unwrap();
        assert_eq!((last - later).as_millis(), 200);
    }

    #[tokio::test]
    async fn an_address_is_held_by_one_and_forgotten_by_all() {
        let addresses = Addresses::default();
        let address = IpAddr::from([192, 0, 2, 1]);
        let first = addresses.hold(address).await;
        let mut second = Box::pin(addresses.hold(address));
        let waiting = polled_once(second.as_mut()).await;
        assert!(waiting.is_none(), "the address is held");
        drop(addresses.hold([192, 0, 2, 2].into()).await);
        drop(first);
        drop(second.await);
        assert!(addresses.turns.lock().unwrap().is_empty());
    }

    async fn polled_once<F: Future + Unpin>(mut future: F) -> Option<F::Output> {
        std::future::poll_fn(|context| {
            std::task::Poll::Ready(match std::pin::Pin::new(&mut future).poll(context) {
                std::task::Poll::Ready(value) => Some(value),
                std::task::Poll::Pending => None,
            })
        })
        .await
    }
}

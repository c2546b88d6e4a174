//! A noq runtime on tokio, with timers as precise as the kernel's.

use crate::kernel_timer::KernelTimer;
use noq::{AsyncTimer, AsyncUdpSocket, Runtime, TokioRuntime};
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use tokio::time::{Sleep, sleep_until};

/// The shortest wait for tokio's timers, which count whole milliseconds and expire up to 2 ms late:
/// here that is a small share of the wait, and they cost no system call.
const COARSE_FROM: Duration = Duration::from_millis(20);
/// The shortest time between two expiries. The kernel's pacing releases at least what it sends in
/// this time once 64 kB are its limit (`tcp_tso_autosize`: 64 kB at 2 Gbit/s, which is slow start
/// at 1 Gbit/s), and more below; so ours is no coarser, and a connection wakes 4000 times per
/// second at most.
const EXPIRIES_APART_MIN: Duration = Duration::from_micros(250);

/// A runtime of tokio with [`PacingTimer`]s.
#[derive(Debug)]
pub(super) struct PacingRuntime;

impl Runtime for PacingRuntime {
    fn new_timer(&self, deadline: Instant) -> Pin<Box<dyn AsyncTimer>> {
        Box::pin(PacingTimer::new(deadline))
    }

    fn spawn(&self, future: Pin<Box<dyn Future<Output = ()> + Send>>) {
        TokioRuntime.spawn(future);
    }

    fn wrap_udp_socket(&self, socket: std::net::UdpSocket) -> io::Result<Box<dyn AsyncUdpSocket>> {
        TokioRuntime.wrap_udp_socket(socket)
    }

    fn now(&self) -> Instant {
        TokioRuntime.now()
    }
}

/// One connection's timer: near deadlines use the kernel, far ones tokio.
///
/// noq's deadline is the nearest of all its timers, and most often that of its pacer. With tokio's
/// alone a paced connection sends once in 1 to 2 ms, whatever its rate.
#[derive(Debug)]
struct PacingTimer {
    schedule: Schedule,
    /// Created with the first near deadline; stays absent if the process has no descriptor left.
    near: Near,
    /// Created with the first far deadline.
    far: Option<Pin<Box<Sleep>>>,
}

#[derive(Debug)]
enum Near {
    Unused,
    Kernel(KernelTimer),
    Refused,
}

impl PacingTimer {
    fn new(deadline: Instant) -> Self {
        Self {
            schedule: Schedule::new(deadline),
            near: Near::Unused,
            far: None,
        }
    }

    /// Polls the kernel's timer; `None` if it cannot be created.
    fn poll_near(&mut self, context: &mut Context<'_>) -> Option<Poll<()>> {
        if matches!(self.near, Near::Unused) {
            self.near = KernelTimer::new().map_or(Near::Refused, Near::Kernel);
        }
        let Near::Kernel(timer) = &self.near else {
            return None;
        };
        loop {
            match self.schedule.next(Instant::now()) {
                Next::Expired => return Some(Poll::Ready(())),
                Next::Set(wait) => timer.set(wait).ok()?,
                Next::Wait => {}
            }
            match timer.poll_expiry(context) {
                Poll::Pending => return Some(Poll::Pending),
                // The clock decides, in the next turn.
                Poll::Ready(expired) => {
                    expired.ok()?;
                    self.schedule.on_expiry();
                }
            }
        }
    }
}

impl AsyncTimer for PacingTimer {
    fn reset(mut self: Pin<&mut Self>, deadline: Instant) {
        self.schedule.reset(Instant::now(), deadline);
    }

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        let due = this.schedule.due;
        if due.saturating_duration_since(Instant::now()) < COARSE_FROM
            && let Some(polled) = this.poll_near(context)
        {
            return polled;
        }
        let far = this
            .far
            .get_or_insert_with(|| Box::pin(sleep_until(due.into())));
        if far.deadline() != due.into() {
            Sleep::reset(far.as_mut(), due.into());
        }
        Future::poll(far.as_mut(), context)
    }
}

/// The next action on the kernel's timer.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Next {
    /// The deadline has passed.
    Expired,
    /// Set it to expire after this time.
    Set(Duration),
    /// Keep its setting.
    Wait,
}

/// The schedule of a timer, which expires at its deadline, but at least [`EXPIRIES_APART_MIN`]
/// after its last expiry.
#[derive(Debug)]
struct Schedule {
    due: Instant,
    is_set: bool,
    expired_at: Option<Instant>,
}

impl Schedule {
    fn new(deadline: Instant) -> Self {
        Self {
            due: deadline,
            is_set: false,
            expired_at: None,
        }
    }

    fn reset(&mut self, now: Instant, deadline: Instant) {
        // noq checks the clock first, so that most expiries are seen here alone.
        if self.is_set && self.due <= now {
            self.expired_at = Some(self.due);
        }
        let earliest = self.expired_at.map(|at| at + EXPIRIES_APART_MIN);
        self.due = earliest.map_or(deadline, |earliest| earliest.max(deadline));
        self.is_set = false;
    }

    /// Records that the kernel's timer expired, and is no longer set.
    fn on_expiry(&mut self) {
        self.is_set = false;
    }

    fn next(&mut self, now: Instant) -> Next {
        if self.due <= now {
            self.expired_at = Some(self.due);
            self.is_set = false;
            return Next::Expired;
        }
        if self.is_set {
            return Next::Wait;
        }
        self.is_set = true;
        Next::Set(self.due.saturating_duration_since(now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::poll_fn;

    const APART: Duration = EXPIRIES_APART_MIN;

    fn after(start: Instant, microseconds: u64) -> Instant {
        start + Duration::from_micros(microseconds)
    }

    #[test]
    fn a_deadline_is_met_to_the_microsecond() {
        let start = Instant::now();
        let mut schedule = Schedule::new(after(start, 130));
        assert_eq!(
            schedule.next(start),
            Next::Set(Duration::from_micros(130)),
            "a whole millisecond would be eight packets at 100 Mbit/s"
        );
        assert_eq!(schedule.next(after(start, 50)), Next::Wait, "set once");
        schedule.reset(after(start, 50), after(start, 170));
        assert_eq!(
            schedule.next(after(start, 50)),
            Next::Set(Duration::from_micros(120))
        );
        assert_eq!(schedule.next(after(start, 169)), Next::Wait);
        assert_eq!(schedule.next(after(start, 170)), Next::Expired);
    }

    #[test]
    fn a_timer_set_for_each_packet_expires_no_more_often_than_the_minimum_apart() {
        let start = Instant::now();
        let mut schedule = Schedule::new(after(start, 12));
        let (mut now, mut expiries) = (start, 0);
        // At 1 Gbit/s a packet is due every 12 us.
        while now < after(start, 10_000) {
            match schedule.next(now) {
                Next::Expired => {
                    expiries += 1;
                    schedule.reset(now, after(now, 12));
                }
                Next::Set(wait) => now += wait,
                Next::Wait => unreachable!("the clock stands at what was set"),
            }
        }
        let most = Duration::from_millis(10).as_nanos() / APART.as_nanos() + 1;
        assert!((most - 2..=most).contains(&expiries), "{expiries}");
    }

    #[test]
    fn an_expiry_ahead_of_the_clock_is_set_again() {
        let start = Instant::now();
        let mut schedule = Schedule::new(after(start, 100));
        assert!(matches!(schedule.next(start), Next::Set(_)));
        schedule.on_expiry();
        assert!(matches!(schedule.next(after(start, 99)), Next::Set(_)));
    }

    fn poll_once(timer: &mut PacingTimer, context: &mut Context<'_>) -> Poll<()> {
        Pin::new(timer).poll(context)
    }

    #[test]
    fn near_deadlines_are_the_kernels_and_far_ones_tokios() {
        // Without tokio's own timers: using one panics.
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .build()
            .expect("a runtime");
        runtime.block_on(async {
            let mut timer = PacingTimer::new(Instant::now());
            for microseconds in [300, 2000] {
                let deadline = after(Instant::now(), microseconds);
                Pin::new(&mut timer).reset(deadline);
                poll_fn(|context| poll_once(&mut timer, context)).await;
                assert!(Instant::now() >= deadline);
            }
            assert!(matches!(timer.near, Near::Kernel(_)) && timer.far.is_none());
        });
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .expect("a runtime");
        runtime.block_on(async {
            let mut timer = PacingTimer::new(Instant::now() + Duration::from_secs(30));
            let polled = poll_fn(|context| Poll::Ready(poll_once(&mut timer, context))).await;
            assert!(polled.is_pending() && matches!(timer.near, Near::Unused));
        });
    }
}

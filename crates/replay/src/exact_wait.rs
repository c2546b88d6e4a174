//! A wait that ends on time. tokio's timers count whole milliseconds and end up to 2 ms late, a
//! delay that a page with dependent requests would suffer with each of them.

use crate::kernel_timer::KernelTimer;
use std::future::poll_fn;
use std::io;
use std::time::{Duration, Instant};
use tokio::time::sleep_until;

/// The last part of a wait, which uses the kernel's timer: more than tokio's timer may be late.
const EXACT: Duration = Duration::from_millis(3);

/// Waits for `wait`, to a tenth of a millisecond on a machine with a spare processor; if the
/// process has no descriptor left for a timer, with tokio's precision.
pub(crate) async fn wait_exactly(wait: Duration) {
    let due = Instant::now() + wait;
    if wait > EXACT {
        sleep_until((due - EXACT).into()).await;
    }
    if wait_by_kernel(due).await.is_err() {
        sleep_until(due.into()).await;
    }
}

async fn wait_by_kernel(due: Instant) -> io::Result<()> {
    let timer = KernelTimer::new()?;
    loop {
        let left = due.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(());
        }
        timer.set(left)?;
        poll_fn(|context| timer.poll_expiry(context)).await?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Waits on a runtime without tokio's own timers, on which using one panics.
    fn measure_wait(wait: Duration) -> Duration {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .build()
            .unwrap();
        let began = Instant::now();
        runtime.block_on(wait_exactly(wait));
        began.elapsed()
    }

    #[test]
    fn the_end_of_a_wait_is_the_kernels() {
        for wait in [Duration::ZERO, Duration::from_micros(300), EXACT] {
            assert!(measure_wait(wait) >= wait);
        }
    }

    #[test]
    #[should_panic(expected = "timers are disabled")]
    fn the_first_part_of_a_long_wait_uses_tokio() {
        measure_wait(EXACT + Duration::from_millis(1));
    }
}

use crate::socket_times::monotonic_ns;
use eyelevel_units::Instant;

/// The machine's monotonic clock, the one from which every duration of a lab comes.
pub fn monotonic_now() -> Instant {
    Instant::from_nanos(monotonic_ns())
}

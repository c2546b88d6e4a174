use crate::socket_times::monotonic_ns;
use eyelevel_units::Instant;

/// Reads the machine's monotonic clock, from which every duration of a lab comes.
pub fn monotonic_now() -> Instant {
    Instant::from_nanos(monotonic_ns())
}

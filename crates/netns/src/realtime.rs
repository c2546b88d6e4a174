use rustix::thread::{gettid, set_current_timer_slack};
use std::fs::read_to_string;
use std::num::NonZeroU64;

/// The real-time priorities: above every normal process, in this order among themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RealtimePriority {
    /// Servers, resolvers and probes at the ends of a path: they stand for separate machines, where
    /// no browser would delay them.
    Endpoint,
    /// The threads that release packets on time; they go before everything at the path's ends.
    Path,
}

/// The time slices of threads that may not have real-time priority, in the same order: a thread
/// that wakes runs before any with a longer slice. The path's is the shortest that the kernel
/// grants (`kernel/sched/syscalls.c`); by default slices last 0.7 ms and more.
const PATH_SLICE_NS: u64 = 100_000;
const ENDPOINT_SLICE_NS: u64 = 400_000;

/// Puts the calling thread, and what it starts from then on, under a real-time scheduler. Returns
/// whether that was allowed. If it was not, they get short time slices if the kernel supports them.
///
/// On a busy machine a user-space emulator at normal priority was up to 27 ms late, with
/// `SCHED_FIFO` 0.73 ms at most.
///
/// An endpoint may be a third-party program in an endless loop: it gets the priority only if the
/// kernel reserves a share for others (`sched_rt_runtime_us`, by default 95 % at most).
pub fn request_realtime(priority: RealtimePriority) -> bool {
    let (scheduler, sched_priority, slice_ns) = match priority {
        RealtimePriority::Endpoint => (libc::SCHED_RR, 1, ENDPOINT_SLICE_NS),
        RealtimePriority::Path => (libc::SCHED_FIFO, 2, PATH_SLICE_NS),
    };
    let parameters = libc::sched_param { sched_priority };
    let is_kept_in_bounds = priority == RealtimePriority::Path || is_bounded_by_kernel();
    // SAFETY: `parameters` outlives the call; thread 0 is the calling thread.
    let allowed =
        is_kept_in_bounds && unsafe { libc::sched_setscheduler(0, scheduler, &parameters) == 0 };
    if !allowed {
        request_time_slices(slice_ns);
    }
    allowed
}

/// Requests time slices of that length for the calling thread, and for what it starts from then on.
/// Returns whether the kernel grants them: Linux does from 6.12 on, without a privilege. Otherwise
/// they keep their slices.
///
/// A thread that has used less than its share runs, as it wakes, before one whose slice is longer
/// (Documentation/scheduler/sched-eevdf.rst). During this project's build a wait of 1 ms ended 1.2
/// to 2.8 ms late at the 99th percentile with slices of 3 ms (six times; median 1.5), and 0.1 to
/// 1.3 ms with slices of 0.1 ms (median 0.2).
fn request_time_slices(slice_ns: u64) -> bool {
    let size = size_of::<libc::sched_attr>() as u32;
    // SAFETY: plain integers, of which none is a reference.
    let mut attributes: libc::sched_attr = unsafe { std::mem::zeroed() };
    let read = |attributes: &mut libc::sched_attr| {
        // SAFETY: the kernel writes no more than `size`; thread 0 is the calling thread.
        unsafe { libc::syscall(libc::SYS_sched_getattr, 0, &raw mut *attributes, size, 0) == 0 }
    };
    // Its niceness is set along with the slice, so it must be known.
    if !read(&mut attributes) || attributes.sched_policy != libc::SCHED_OTHER as u32 {
        return false;
    }
    attributes.sched_runtime = slice_ns;
    // SAFETY: `attributes` outlives the call and contains its own size.
    let set = unsafe { libc::syscall(libc::SYS_sched_setattr, 0, &raw const attributes, 0) == 0 };
    set && read(&mut attributes) && attributes.sched_runtime == slice_ns
}

/// Whether the kernel reserves a share of every processor for threads without real-time priority.
fn is_bounded_by_kernel() -> bool {
    let of = |name: &str| -> Option<i64> {
        let text = read_to_string(format!("/proc/sys/kernel/{name}")).ok()?;
        text.trim().parse().ok()
    };
    of("sched_rt_runtime_us")
        .zip(of("sched_rt_period_us"))
        .is_some_and(|(runtime, period)| (0..period).contains(&runtime))
}

/// Sets the calling thread's timer slack to the minimum; the kernel's default is 50 us.
pub fn set_timer_slack_minimum() {
    // An error leaves the default, which only adds lateness.
    let _ = set_current_timer_slack(NonZeroU64::new(1));
}

/// Returns the calling thread's id in its own process namespace.
pub fn current_thread_id() -> u32 {
    gettid().as_raw_pid() as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::process::{getpriority_process, setpriority_process};

    /// Runs `asked` in a separate thread, since other tests may share this one.
    fn run_in_thread<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
        std::thread::spawn(work).join().expect("no panic")
    }

    #[test]
    fn short_slices_leave_niceness_and_scheduler_unchanged() {
        run_in_thread(|| {
            setpriority_process(None, 5).unwrap();
            request_time_slices(PATH_SLICE_NS);
            assert_eq!(getpriority_process(None), Ok(5));
            // SAFETY: takes an integer; thread 0 is the calling thread.
            assert_eq!(unsafe { libc::sched_getscheduler(0) }, libc::SCHED_OTHER);
        });
    }
}

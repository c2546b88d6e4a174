use rustix::thread::{gettid, set_current_timer_slack};
use std::fs::read_to_string;
use std::num::NonZeroU64;

/// Who asks for real-time priority: above every normal process, in this order among themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RealtimePriority {
    /// Servers, resolvers and probes at the ends of a path: they stand for machines of their own,
    /// which no browser would keep waiting for a processor.
    Endpoint,
    /// The threads that release packets on time; they go before everything at the path's ends.
    Path,
}

/// How long a turn at a processor threads ask for that may not have real-time priority, in the same
/// order: who wakes goes before any thread with a longer turn. The path's is the shortest that the
/// kernel grants (`kernel/sched/syscalls.c`); by default turns last 0.7 ms and more.
const PATH_TURN_NS: u64 = 100_000;
const ENDPOINT_TURN_NS: u64 = 400_000;

/// Puts the calling thread under a real-time scheduler, and what it starts from then on too.
/// Returns whether that was allowed. If it was not, they have short turns where the kernel has these.
///
/// On a busy machine a user-space emulator at normal priority was up to 27 ms late, with
/// `SCHED_FIFO` 0.73 ms at most.
///
/// An endpoint may be somebody's program in an endless loop: it gets the priority only where the
/// kernel leaves the others their share (`sched_rt_runtime_us`, by default 95 % at most).
pub fn request_realtime(priority: RealtimePriority) -> bool {
    let (scheduler, sched_priority, turn_ns) = match priority {
        RealtimePriority::Endpoint => (libc::SCHED_RR, 1, ENDPOINT_TURN_NS),
        RealtimePriority::Path => (libc::SCHED_FIFO, 2, PATH_TURN_NS),
    };
    let parameters = libc::sched_param { sched_priority };
    let is_kept_in_bounds = priority == RealtimePriority::Path || is_bounded_by_kernel();
    // SAFETY: `parameters` outlives the call; thread 0 is the calling thread.
    let allowed =
        is_kept_in_bounds && unsafe { libc::sched_setscheduler(0, scheduler, &parameters) == 0 };
    if !allowed {
        request_turns(turn_ns);
    }
    allowed
}

/// Asks for turns of that length for the calling thread, and for what it starts from then on.
/// Returns whether the kernel grants that: Linux does from 6.12 on, and nobody needs a right for it.
/// Others keep the turns that they had.
///
/// A thread that has used less than its share goes, as it wakes, before one whose turn is longer
/// (Documentation/scheduler/sched-eevdf.rst). Beside this project's build a wait of 1 ms ended 1.2 to
/// 2.8 ms late at the 99th percentile with turns of 3 ms (six times; median 1.5), and 0.1 to 1.3 ms
/// with turns of 0.1 ms (median 0.2).
fn request_turns(turn_ns: u64) -> bool {
    let size = size_of::<libc::sched_attr>() as u32;
    // SAFETY: plain integers, of which none is a reference.
    let mut attributes: libc::sched_attr = unsafe { std::mem::zeroed() };
    let read = |attributes: &mut libc::sched_attr| {
        // SAFETY: the kernel writes no more than `size`; thread 0 is the calling thread.
        unsafe { libc::syscall(libc::SYS_sched_getattr, 0, &raw mut *attributes, size, 0) == 0 }
    };
    // Its niceness is set with the turns, so it must be known.
    if !read(&mut attributes) || attributes.sched_policy != libc::SCHED_OTHER as u32 {
        return false;
    }
    attributes.sched_runtime = turn_ns;
    // SAFETY: `attributes` outlives the call and says its own size.
    let set = unsafe { libc::syscall(libc::SYS_sched_setattr, 0, &raw const attributes, 0) == 0 };
    set && read(&mut attributes) && attributes.sched_runtime == turn_ns
}

/// Whether the kernel keeps a share of every processor for threads without real-time priority.
fn is_bounded_by_kernel() -> bool {
    let of = |name: &str| -> Option<i64> {
        let text = read_to_string(format!("/proc/sys/kernel/{name}")).ok()?;
        text.trim().parse().ok()
    };
    of("sched_rt_runtime_us")
        .zip(of("sched_rt_period_us"))
        .is_some_and(|(runtime, period)| (0..period).contains(&runtime))
}

/// Lets the calling thread's timers fire without the kernel's default slack of 50 us.
pub fn set_timer_slack_minimum() {
    // An error leaves the default, which only adds lateness.
    let _ = set_current_timer_slack(NonZeroU64::new(1));
}

/// The calling thread's id, as the kernel numbers it in its own process namespace.
pub fn current_thread_id() -> u32 {
    gettid().as_raw_pid() as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::process::{getpriority_process, setpriority_process};

    /// In a thread of its own, since other tests may share this one.
    fn in_a_thread<T: Send + 'static>(asked: impl FnOnce() -> T + Send + 'static) -> T {
        std::thread::spawn(asked).join().expect("no panic")
    }

    #[test]
    fn short_turns_leave_niceness_and_scheduler_as_they_were() {
        in_a_thread(|| {
            setpriority_process(None, 5).unwrap();
            request_turns(PATH_TURN_NS);
            assert_eq!(getpriority_process(None), Ok(5));
            // SAFETY: takes an integer; thread 0 is the calling thread.
            assert_eq!(unsafe { libc::sched_getscheduler(0) }, libc::SCHED_OTHER);
        });
    }
}

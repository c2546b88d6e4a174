use std::fs::read_to_string;

/// Who asks for real-time priority: above every normal process, in this order among themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RealtimePriority {
    /// Servers, resolvers and probes at the ends of a path: they stand for machines of their own,
    /// which no browser would keep waiting for a processor.
    Endpoint,
    /// What releases packets on time. It goes before everything at the path's ends.
    Path,
}

/// Puts the calling thread under a real-time scheduler, and what it starts from then on too.
/// Returns whether that was allowed.
///
/// On a busy machine a user-space emulator at normal priority was up to 27 ms late, with
/// `SCHED_FIFO` 0.73 ms at most.
///
/// An endpoint may be somebody's program in an endless loop: it gets the priority only where the
/// kernel leaves the others their share (`sched_rt_runtime_us`, by default 95 % at most).
pub fn request_realtime(priority: RealtimePriority) -> bool {
    let (scheduler, sched_priority) = match priority {
        RealtimePriority::Endpoint if !is_bounded_by_kernel() => return false,
        RealtimePriority::Endpoint => (libc::SCHED_RR, 1),
        RealtimePriority::Path => (libc::SCHED_FIFO, 2),
    };
    let parameters = libc::sched_param { sched_priority };
    // SAFETY: `parameters` outlives the call; thread 0 is the calling thread.
    unsafe { libc::sched_setscheduler(0, scheduler, &parameters) == 0 }
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
    // SAFETY: takes one integer; an error leaves the default, which only adds lateness.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1, 0, 0, 0) };
}

/// The calling thread's id, as the kernel numbers it in its own process namespace.
pub fn current_thread_id() -> u32 {
    // SAFETY: takes no argument and cannot fail.
    unsafe { libc::syscall(libc::SYS_gettid) as u32 }
}

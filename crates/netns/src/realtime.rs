/// Lowest real-time priority: above every normal process, below everything that asked for more.
const PRIORITY: libc::c_int = 1;

/// Puts the calling thread under `SCHED_FIFO`. Returns whether the kernel allowed it.
///
/// On a busy machine a user-space emulator at normal priority was up to 27 ms late, with
/// `SCHED_FIFO` 0.73 ms at most.
pub fn request_realtime() -> bool {
    let parameters = libc::sched_param {
        sched_priority: PRIORITY,
    };
    // SAFETY: `parameters` outlives the call; thread 0 is the calling thread.
    unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &parameters) == 0 }
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

//! A kernel timer as a descriptor (timerfd_create(2)), which no crate of ours wraps: an hrtimer,
//! whereas tokio's own timers count milliseconds.

#![allow(unsafe_code)]

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::ptr::null_mut;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// A timer that wakes its task as precisely as the kernel can.
#[derive(Debug)]
pub(crate) struct KernelTimer(AsyncFd<OwnedFd>);

impl KernelTimer {
    /// Creates a timer that is not set; must be called inside a runtime.
    pub fn new() -> io::Result<Self> {
        let flags = libc::TFD_NONBLOCK | libc::TFD_CLOEXEC;
        // SAFETY: creates a descriptor and touches no memory of ours.
        let descriptor = unsafe { libc::timerfd_create(libc::CLOCK_MONOTONIC, flags) };
        if descriptor < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the descriptor is new and has no other owner; its owner lives in the registration
        // and is never exchanged.
        let registered = unsafe {
            let owner = OwnedFd::from_raw_fd(descriptor);
            AsyncFd::register_with_interest(owner, Interest::READABLE)
        };
        Ok(Self(registered?))
    }

    /// Sets the timer to expire once after `wait`, at once if that is zero; replaces an earlier
    /// setting.
    pub fn set(&self, wait: Duration) -> io::Result<()> {
        // A time of zero would disarm it.
        let wait = wait.max(Duration::from_nanos(1));
        let never = libc::timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        let setting = libc::itimerspec {
            it_interval: never,
            it_value: libc::timespec {
                tv_sec: libc::time_t::try_from(wait.as_secs()).unwrap_or(libc::time_t::MAX),
                tv_nsec: wait.subsec_nanos().into(),
            },
        };
        // SAFETY: the setting outlives the call; the old one is not requested.
        let failed = unsafe { libc::timerfd_settime(self.0.as_raw_fd(), 0, &setting, null_mut()) };
        if failed == 0 {
            Ok(())
        } else {
            Err(io::Error::last_os_error())
        }
    }

    /// Returns ready once for an expiry since the timer was set; else wakes the task at the next
    /// one.
    pub fn poll_expiry(&self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        loop {
            let mut readable = ready!(self.0.poll_read_ready(context))?;
            // An earlier setting may have made it readable: the read decides, and the next turn
            // waits.
            if let Ok(read) = readable.try_io(|timer| take_expiries(timer.get_ref())) {
                return Poll::Ready(read);
            }
        }
    }
}

/// Consumes the expiries; `WouldBlock` if there was none since the timer was set.
fn take_expiries(timer: &OwnedFd) -> io::Result<()> {
    let mut expiries = [0u8; 8];
    // SAFETY: the kernel writes at most the eight bytes of a live buffer.
    let count = unsafe {
        libc::read(
            timer.as_raw_fd(),
            expiries.as_mut_ptr().cast(),
            expiries.len(),
        )
    };
    if count < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

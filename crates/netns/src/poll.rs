use crate::Error;
use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd, poll};
use rustix::io::Errno;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::time::Duration;

/// The most descriptors that a [`Wait`] watches: two ends and a second one of each.
pub const WATCHED_MAX: usize = 4;

/// A wait for one of a few descriptors to be readable, a stop request or a deadline, with the
/// kernel's nanosecond timers.
pub struct Wait {
    /// The stop's descriptor, then the watched ones.
    descriptors: Vec<PollFd<'static>>,
    _stop: OwnedFd,
}

impl Wait {
    /// Watches up to [`WATCHED_MAX`] descriptors, which must outlive it. The returned [`Stop`] ends
    /// the wait from another thread.
    pub fn new(watched: &[BorrowedFd<'_>]) -> Result<(Self, Stop), Error> {
        assert!(watched.len() <= WATCHED_MAX, "more devices than a path has");
        let stop = eventfd(0, EventfdFlags::CLOEXEC)
            .map_err(|e| Error::new("create an event descriptor", e))?;
        // SAFETY: the stop is stored along with its entry, and the watched ones outlive both. If
        // one were closed, poll would report it, and nothing else uses them.
        let watch = |fd: BorrowedFd<'_>| unsafe {
            PollFd::from_borrowed_fd(BorrowedFd::borrow_raw(fd.as_raw_fd()), PollFlags::IN)
        };
        let handle = stop
            .try_clone()
            .map_err(|e| Error::new("share an event descriptor", e))?;
        let descriptors = [stop.as_fd()]
            .into_iter()
            .chain(watched.iter().copied())
            .map(watch)
            .collect();
        Ok((
            Self {
                descriptors,
                _stop: stop,
            },
            Stop(handle),
        ))
    }

    /// Sleeps for `time`, even if a descriptor is readable. Returns whether a stop was requested.
    pub fn pause(&mut self, time: Duration) -> Result<bool, Error> {
        self.poll(1, Some(time))?;
        Ok(!self.descriptors[0].revents().is_empty())
    }

    /// Waits at most `timeout`, or forever without one. Sets `ready` for each watched descriptor
    /// that is readable and does not clear it for others. Returns whether a stop was requested.
    pub fn wait(
        &mut self,
        timeout: Option<Duration>,
        ready: &mut [bool; WATCHED_MAX],
    ) -> Result<bool, Error> {
        if !self.poll(self.descriptors.len(), timeout)? {
            return Ok(false);
        }
        let (stop, watched) = self.descriptors.split_at(1);
        for (ready, descriptor) in ready.iter_mut().zip(watched) {
            *ready |= !descriptor.revents().is_empty();
        }
        Ok(!stop[0].revents().is_empty())
    }

    /// Polls the first `count` descriptors. Returns false if a signal interrupted it.
    fn poll(&mut self, count: usize, timeout: Option<Duration>) -> Result<bool, Error> {
        // A timeout that is too long for the kernel's clock never expires.
        let time = timeout.and_then(|timeout| timeout.try_into().ok());
        match poll(&mut self.descriptors[..count], time.as_ref()) {
            Ok(_) => Ok(true),
            Err(Errno::INTR) => Ok(false),
            Err(error) => Err(Error::new("wait for packets", error)),
        }
    }
}

/// A handle that ends a [`Wait`] from another thread.
pub struct Stop(OwnedFd);

impl Stop {
    /// Makes the current and every later wait return true.
    pub fn stop(&self) {
        // It fails only if the counter would overflow.
        let _ = rustix::io::write(&self.0, &1u64.to_ne_bytes());
    }
}

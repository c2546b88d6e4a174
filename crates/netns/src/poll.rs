use crate::Error;
use crate::error::check;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::time::Duration;

/// The most descriptors that a [`Wait`] watches: two ends and a second one of each.
pub const WATCHED_MAX: usize = 4;

/// Sleeps until one of a few descriptors can be read, a stop is asked for or a deadline passes,
/// with the kernel's nanosecond timers.
pub struct Wait {
    /// The stop's own, then the watched ones.
    descriptors: Vec<libc::pollfd>,
    _stop: OwnedFd,
}

impl Wait {
    /// Watches up to [`WATCHED_MAX`] descriptors, which must outlive it. The returned [`Stop`] ends the
    /// wait from another thread.
    pub fn new(watched: &[BorrowedFd<'_>]) -> Result<(Self, Stop), Error> {
        assert!(watched.len() <= WATCHED_MAX, "more devices than a path has");
        // SAFETY: creates a descriptor; ownership is taken at once.
        let stop = unsafe {
            OwnedFd::from_raw_fd(check(libc::eventfd(0, libc::EFD_CLOEXEC), || {
                "create an event descriptor".into()
            })?)
        };
        let watch = |fd: i32| libc::pollfd {
            fd,
            events: libc::POLLIN,
            revents: 0,
        };
        let handle = stop
            .try_clone()
            .map_err(|e| Error::new("share an event descriptor", e))?;
        let descriptors = [stop.as_raw_fd()]
            .into_iter()
            .chain(watched.iter().map(AsRawFd::as_raw_fd))
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

    /// Sleeps for `time`, whatever can be read meanwhile. Returns whether the stop was asked for.
    pub fn pause(&mut self, time: Duration) -> Result<bool, Error> {
        self.poll(1, Some(time))?;
        Ok(self.descriptors[0].revents != 0)
    }

    /// Waits at most `timeout`, for ever without one. Sets `ready` for each watched descriptor that can
    /// be read and leaves it for the others. Returns whether the stop was asked for.
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
            *ready |= descriptor.revents != 0;
        }
        Ok(stop[0].revents != 0)
    }

    /// Polls the first `count` descriptors. Returns false where a signal ended it.
    fn poll(&mut self, count: usize, timeout: Option<Duration>) -> Result<bool, Error> {
        let time = timeout.map(|t| libc::timespec {
            tv_sec: t.as_secs() as libc::time_t,
            tv_nsec: t.subsec_nanos().into(),
        });
        let time_pointer = time.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
        // SAFETY: descriptors and time outlive the call; the count is at most the list's length.
        let count = unsafe {
            libc::ppoll(
                self.descriptors.as_mut_ptr(),
                count as libc::nfds_t,
                time_pointer,
                std::ptr::null(),
            )
        };
        if count < 0 {
            let error = std::io::Error::last_os_error();
            if error.kind() == std::io::ErrorKind::Interrupted {
                return Ok(false);
            }
            return Err(Error::new("wait for packets", error));
        }
        Ok(true)
    }
}

/// Ends a [`Wait`] from another thread.
pub struct Stop(OwnedFd);

impl Stop {
    /// Makes the present and every later wait return true.
    pub fn stop(&self) {
        let one = 1u64.to_ne_bytes();
        // SAFETY: eight bytes from a live buffer, as an eventfd wants them.
        unsafe { libc::write(self.0.as_raw_fd(), one.as_ptr().cast(), one.len()) };
    }
}

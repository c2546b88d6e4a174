use crate::Error;
use crate::error::check;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::time::Duration;

/// Which of the two watched descriptors can be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Readiness {
    /// The first descriptor has data.
    pub first: bool,
    /// The second descriptor has data.
    pub second: bool,
    /// The path was asked to end.
    pub stopped: bool,
}

/// Sleeps until one of two descriptors can be read, a stop is asked for or a deadline passes,
/// with the kernel's nanosecond timers.
pub struct Wait {
    descriptors: [libc::pollfd; 3],
    _stop: OwnedFd,
}

impl Wait {
    /// Watches `first` and `second`. The returned [`Stop`] ends the wait from another thread.
    pub fn new(first: BorrowedFd<'_>, second: BorrowedFd<'_>) -> Result<(Self, Stop), Error> {
        // SAFETY: creates a descriptor; ownership is taken at once.
        let stop = unsafe {
            OwnedFd::from_raw_fd(check(libc::eventfd(0, libc::EFD_CLOEXEC), || {
                "create an event descriptor".into()
            })?)
        };
        let watched = |fd: i32| libc::pollfd {
            fd,
            events: libc::POLLIN,
            revents: 0,
        };
        let handle = stop
            .try_clone()
            .map_err(|e| Error::new("share an event descriptor", e))?;
        let descriptors = [
            watched(first.as_raw_fd()),
            watched(second.as_raw_fd()),
            watched(stop.as_raw_fd()),
        ];
        Ok((
            Self {
                descriptors,
                _stop: stop,
            },
            Stop(handle),
        ))
    }

    /// Waits at most `timeout`, for ever without one.
    pub fn wait(&mut self, timeout: Option<Duration>) -> Result<Readiness, Error> {
        let time = timeout.map(|t| libc::timespec {
            tv_sec: t.as_secs() as libc::time_t,
            tv_nsec: t.subsec_nanos().into(),
        });
        let time_pointer = time.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
        // SAFETY: descriptors and time outlive the call; the count is the array's length.
        let ready = unsafe {
            libc::ppoll(
                self.descriptors.as_mut_ptr(),
                3,
                time_pointer,
                std::ptr::null(),
            )
        };
        if ready < 0 {
            let error = std::io::Error::last_os_error();
            if error.kind() == std::io::ErrorKind::Interrupted {
                return Ok(Readiness::default());
            }
            return Err(Error::new("wait for packets", error));
        }
        let set = |d: &libc::pollfd| d.revents != 0;
        let [first, second, stop] = &self.descriptors;
        Ok(Readiness {
            first: set(first),
            second: set(second),
            stopped: set(stop),
        })
    }
}

/// Ends a [`Wait`] from another thread.
pub struct Stop(OwnedFd);

impl Stop {
    /// Makes the present and every later wait return with `stopped`.
    pub fn stop(&self) {
        let one = 1u64.to_ne_bytes();
        // SAFETY: eight bytes from a live buffer, as an eventfd wants them.
        unsafe { libc::write(self.0.as_raw_fd(), one.as_ptr().cast(), one.len()) };
    }
}

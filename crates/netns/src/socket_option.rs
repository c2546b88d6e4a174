use crate::Error;
use crate::error::check;
use std::mem::size_of;
use std::os::fd::{AsFd, AsRawFd};

/// Sets a socket option of any type that the kernel reads as plain memory.
pub(crate) fn set_option<T>(
    socket: impl AsFd,
    level: libc::c_int,
    option: libc::c_int,
    value: &T,
) -> Result<(), Error> {
    // SAFETY: the value outlives the call, and the length is its own.
    let result = unsafe {
        libc::setsockopt(
            socket.as_fd().as_raw_fd(),
            level,
            option,
            std::ptr::from_ref(value).cast(),
            size_of::<T>() as libc::socklen_t,
        )
    };
    check(result, || format!("set option {option} of a socket")).map(drop)
}

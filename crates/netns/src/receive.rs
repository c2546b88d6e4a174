use crate::error::check;
use std::io;
use std::net::UdpSocket;
use std::os::fd::AsRawFd;

/// Asks the kernel to note when each datagram of `socket` came.
///
/// # Errors
/// Where the kernel refuses.
pub fn note_receive_times(socket: &UdpSocket) -> Result<(), crate::Error> {
    let on: libc::c_int = 1;
    // SAFETY: the value outlives the call, the length is its own.
    let result = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_TIMESTAMPNS,
            (&raw const on).cast(),
            size_of::<libc::c_int>() as libc::socklen_t,
        )
    };
    check(result, || "ask for receive times".into()).map(drop)
}

/// Receives one datagram. Returns its length and the kernel's time of its reception, turned from
/// the wall clock to `CLOCK_MONOTONIC` by reading both clocks right after.
///
/// # Errors
/// Where nothing comes within the socket's limit, or no time came with it.
pub fn receive_with_time(socket: &UdpSocket, buffer: &mut [u8]) -> io::Result<(usize, u64)> {
    let mut part = libc::iovec {
        iov_base: buffer.as_mut_ptr().cast(),
        iov_len: buffer.len(),
    };
    // Room for one timespec with its header, aligned as control messages are.
    let mut control = [0u64; 8];
    // SAFETY: an all-zero msghdr is valid.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    message.msg_iov = &raw mut part;
    message.msg_iovlen = 1;
    message.msg_control = control.as_mut_ptr().cast();
    message.msg_controllen = size_of_val(&control) as _;
    // SAFETY: the message and all that it points to outlive the call.
    let length = unsafe { libc::recvmsg(socket.as_raw_fd(), &mut message, 0) };
    if length < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel has filled the control messages that the macros walk.
    let noted = unsafe {
        let header = libc::CMSG_FIRSTHDR(&message);
        (!header.is_null() && (*header).cmsg_type == libc::SCM_TIMESTAMPNS).then(|| {
            libc::CMSG_DATA(header)
                .cast::<libc::timespec>()
                .read_unaligned()
        })
    };
    let noted = noted.ok_or_else(|| io::Error::other("the kernel gave no receive time"))?;
    let age = nanos_now(libc::CLOCK_REALTIME).saturating_sub(nanos(&noted));
    Ok((
        length as usize,
        nanos_now(libc::CLOCK_MONOTONIC).saturating_sub(age),
    ))
}

fn nanos_now(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `time` is valid for writes.
    unsafe { libc::clock_gettime(clock, &mut time) };
    nanos(&time)
}

fn nanos(time: &libc::timespec) -> u64 {
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

//! Socket information that Rust's standard library does not expose: the arrival time of packets,
//! and the round trip of TCP's handshake.

use crate::socket_option::set_option;
use rustix::time::{ClockId, clock_gettime};
use std::io;
use std::mem::{size_of, zeroed};
use std::os::fd::{AsRawFd, BorrowedFd};

/// The oldest valid kernel timestamp, ns: for an older one the wall clock was set meanwhile.
const STAMP_AGE_NS_MAX: i128 = 60_000_000_000;

const CONTROL_BYTES: usize = 128;

/// Returns `CLOCK_MONOTONIC` in nanoseconds.
pub fn monotonic_ns() -> u64 {
    clock_ns(ClockId::Monotonic)
}

/// Returns Unix time in nanoseconds: a label, never part of a duration.
pub fn unix_ns() -> u64 {
    clock_ns(ClockId::Realtime)
}

#[inline]
fn clock_ns(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Enables receive timestamps (`SO_TIMESTAMPNS`, socket(7)), for UDP and TCP.
///
/// # Errors
///
/// Returns the kernel's error; callers then use the reader's own clock.
pub fn enable_timestamps(socket: BorrowedFd<'_>) -> io::Result<()> {
    let on: libc::c_int = 1;
    set_option(socket, libc::SOL_SOCKET, libc::SO_TIMESTAMPNS, &on).map_err(|error| error.source)
}

/// The result of a read, with the arrival time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Received {
    /// The number of bytes; 0 at a stream's end.
    pub bytes: usize,
    /// When the bytes arrived: the kernel's timestamp, converted to `CLOCK_MONOTONIC`, or the
    /// reader's clock.
    pub at_ns: u64,
    /// When the read returned.
    pub read_ns: u64,
    /// Whether `at_ns` is the kernel's timestamp.
    pub stamped: bool,
}

/// Reads once from a non-blocking socket, with the arrival time of the last byte read.
///
/// # Errors
///
/// Returns the kernel's error, including `WouldBlock`.
pub fn receive(socket: BorrowedFd<'_>, buffer: &mut [u8]) -> io::Result<Received> {
    let (bytes, stamp_ns) = receive_stamped(socket, buffer)?;
    let read_ns = monotonic_ns();
    let arrived = stamp_ns.and_then(|stamp_ns| {
        let age_ns = i128::from(unix_ns()) - i128::from(stamp_ns);
        (0..STAMP_AGE_NS_MAX)
            .contains(&age_ns)
            .then(|| monotonic_ns().saturating_sub(age_ns as u64))
    });
    Ok(Received {
        bytes,
        at_ns: arrived.unwrap_or(read_ns).min(read_ns),
        read_ns,
        stamped: arrived.is_some(),
    })
}

/// Reads once from a non-blocking socket; returns the number of bytes, and the kernel's timestamp
/// of the last one as Unix time, if there is one.
pub(crate) fn receive_stamped(
    socket: BorrowedFd<'_>,
    buffer: &mut [u8],
) -> io::Result<(usize, Option<u64>)> {
    let mut control = [0_u64; CONTROL_BYTES / 8];
    let mut part = libc::iovec {
        iov_base: buffer.as_mut_ptr().cast(),
        iov_len: buffer.len(),
    };
    // SAFETY: all-zero is a valid `msghdr`: null pointers with zero lengths.
    let mut message: libc::msghdr = unsafe { zeroed() };
    message.msg_iov = &raw mut part;
    message.msg_iovlen = 1;
    message.msg_control = control.as_mut_ptr().cast();
    message.msg_controllen = CONTROL_BYTES as _;
    // SAFETY: the descriptor is open; every pointer in `message` outlives the call and its length
    // is that of the memory behind it.
    let bytes = unsafe { libc::recvmsg(socket.as_raw_fd(), &raw mut message, 0) };
    if bytes < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok((bytes as usize, read_stamp(&message)))
}

/// Returns the `SCM_TIMESTAMPNS` of a message that `recvmsg` has filled in, as Unix time.
fn read_stamp(message: &libc::msghdr) -> Option<u64> {
    // SAFETY: `message` was filled in by recvmsg, its control buffer is alive and aligned for
    // `cmsghdr`; the macros stay inside `msg_controllen`. The payload is read unaligned.
    unsafe {
        let mut header = libc::CMSG_FIRSTHDR(message);
        while !header.is_null() {
            if (*header).cmsg_level == libc::SOL_SOCKET
                && (*header).cmsg_type == libc::SCM_TIMESTAMPNS
            {
                let time: libc::timespec = libc::CMSG_DATA(header)
                    .cast::<libc::timespec>()
                    .read_unaligned();
                // TCP returns zeros if the packet had no timestamp.
                return (time.tv_sec > 0)
                    .then(|| time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64);
            }
            header = libc::CMSG_NXTHDR(message, header);
        }
    }
    None
}

/// TCP's own measurements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TcpMeasurements {
    /// The smoothed round trip; right after the handshake it is the handshake's own.
    pub rtt_us: u32,
    /// Retransmitted segments; during the handshake, SYNs.
    pub retransmitted: u32,
}

/// Reads `TCP_INFO` of a connected socket.
pub fn read_tcp_info(socket: BorrowedFd<'_>) -> Option<TcpMeasurements> {
    // SAFETY: all-zero is a valid `tcp_info`: it is numbers only.
    let mut info: libc::tcp_info = unsafe { zeroed() };
    let mut length = size_of::<libc::tcp_info>() as libc::socklen_t;
    // SAFETY: the descriptor is open; the kernel writes at most `length` bytes into `info`.
    let status = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            (&raw mut info).cast(),
            &raw mut length,
        )
    };
    (status == 0).then_some(TcpMeasurements {
        rtt_us: info.tcpi_rtt,
        retransmitted: info.tcpi_total_retrans,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::UdpSocket;
    use std::os::fd::AsFd;

    #[test]
    fn datagrams_carry_the_kernels_stamp_between_sending_and_reading() {
        let (a, b) = (
            UdpSocket::bind("127.0.0.1:0").unwrap(),
            UdpSocket::bind("127.0.0.1:0").unwrap(),
        );
        enable_timestamps(b.as_fd()).unwrap();
        let before_ns = monotonic_ns();
        a.send_to(b"hello", b.local_addr().unwrap()).unwrap();
        let mut buffer = [0; 16];
        let received = receive(b.as_fd(), &mut buffer).unwrap();
        assert_eq!(&buffer[..received.bytes], b"hello");
        assert!(received.stamped);
        // The two clocks are read one after the other, so the timestamp is exact to some
        // microseconds.
        assert!(received.at_ns + 1_000_000 > before_ns && received.at_ns <= received.read_ns);
    }
}

//! Socket options that no crate of ours wraps.

#![allow(unsafe_code)]

use serde::Serialize;
use std::io;
use std::mem::size_of;
use std::os::fd::{AsFd, AsRawFd};

/// Offsets in the kernel's `struct tcp_info` (include/uapi/linux/tcp.h), which only ever grows.
const SND_MSS_AT: usize = 16;
const UNACKED_AT: usize = 24;
const SACKED_AT: usize = 28;
const LOST_AT: usize = 32;
const RETRANS_AT: usize = 36;
const RTT_AT: usize = 68;
const SND_SSTHRESH_AT: usize = 76;
const SND_CWND_AT: usize = 80;
const TOTAL_RETRANS_AT: usize = 100;
const PACING_RATE_AT: usize = 104;
const BYTES_ACKED_AT: usize = 120;
const BYTES_RECEIVED_AT: usize = 128;
const NOTSENT_BYTES_AT: usize = 144;
const MIN_RTT_AT: usize = 148;
const DATA_SEGS_OUT_AT: usize = 156;
const RWND_LIMITED_AT: usize = 176;
const SNDBUF_LIMITED_AT: usize = 184;
const BYTES_SENT_AT: usize = 200;
/// `TCP_INFINITE_SSTHRESH`: slow start has not ended yet.
const SSTHRESH_INFINITE: u32 = 0x7fff_ffff;
/// A buffer larger than any kernel's structure so far.
const TCP_INFO_BYTES: usize = 512;
/// The value of `SO_MAX_PACING_RATE` of a socket that is not paced.
const UNPACED: u64 = u64::MAX;

/// The kernel's state of a TCP connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TcpInfo {
    /// Bytes of a full segment.
    pub segment_bytes: u32,
    /// The congestion window, in segments.
    pub window_packets: u32,
    /// Segments assumed to be in flight (RFC 6675's pipe).
    pub in_flight_packets: u32,
    /// The slow start threshold, in segments; `None` until slow start has ended.
    pub slow_start_threshold_packets: Option<u32>,
    /// Bytes that the socket holds and has not sent.
    pub not_sent_bytes: u32,
    /// Segments retransmitted.
    pub retransmitted_packets: u32,
    /// The pacing rate, bytes per second; `None` if the socket is not paced.
    pub pacing_rate_bytes_s: Option<u64>,
    /// Segments with data, retransmissions included.
    pub sent_packets: u32,
    /// Bytes of data sent, retransmissions included.
    pub sent_bytes: u64,
    /// Bytes of data acknowledged.
    pub acknowledged_bytes: u64,
    /// Bytes of data received in order.
    pub received_bytes: u64,
    /// Time in which the receiver's window alone held data back, in microseconds.
    pub receive_window_limited_us: u64,
    /// Time in which everything was sent and the application could not write more, in microseconds.
    pub send_buffer_limited_us: u64,
    /// Smoothed round-trip time; `None` without a sample.
    pub rtt_us_smoothed: Option<u32>,
    /// Smallest round-trip time; `None` without a sample.
    pub rtt_us_min: Option<u32>,
}

/// Reads `TCP_INFO`.
///
/// # Errors
/// The kernel's error; `Unsupported` if it lacks the fields.
pub fn tcp_info(socket: &impl AsFd) -> io::Result<TcpInfo> {
    let mut buffer = [0; TCP_INFO_BYTES];
    let length = get(socket, libc::IPPROTO_TCP, libc::TCP_INFO, &mut buffer)?;
    let field = |at: usize| {
        let bytes = buffer[..length].get(at..at + 4)?;
        Some(u32::from_ne_bytes(bytes.try_into().ok()?))
    };
    let wide = |at: usize| {
        let bytes = buffer[..length].get(at..at + 8)?;
        Some(u64::from_ne_bytes(bytes.try_into().ok()?))
    };
    let in_flight = || {
        let [unacked, sacked, lost, again] =
            [UNACKED_AT, SACKED_AT, LOST_AT, RETRANS_AT].map(field);
        Some((unacked? + again?).saturating_sub(sacked? + lost?))
    };
    let known = || {
        Some(TcpInfo {
            segment_bytes: field(SND_MSS_AT)?,
            window_packets: field(SND_CWND_AT)?,
            in_flight_packets: in_flight()?,
            slow_start_threshold_packets: field(SND_SSTHRESH_AT)
                .filter(|threshold| *threshold < SSTHRESH_INFINITE),
            not_sent_bytes: field(NOTSENT_BYTES_AT)?,
            retransmitted_packets: field(TOTAL_RETRANS_AT)?,
            pacing_rate_bytes_s: wide(PACING_RATE_AT).filter(|rate| *rate != UNPACED),
            sent_packets: field(DATA_SEGS_OUT_AT)?,
            sent_bytes: wide(BYTES_SENT_AT)?,
            acknowledged_bytes: wide(BYTES_ACKED_AT)?,
            received_bytes: wide(BYTES_RECEIVED_AT)?,
            receive_window_limited_us: wide(RWND_LIMITED_AT)?,
            send_buffer_limited_us: wide(SNDBUF_LIMITED_AT)?,
            rtt_us_smoothed: field(RTT_AT).filter(|rtt| *rtt != 0),
            rtt_us_min: field(MIN_RTT_AT).filter(|rtt| *rtt != u32::MAX && *rtt != 0),
        })
    };
    known().ok_or_else(|| io::ErrorKind::Unsupported.into())
}

/// Sets `SO_MAX_PACING_RATE`, bytes per second. A finite one makes the kernel pace the socket,
/// whatever the queueing discipline of its device is.
///
/// # Errors
/// The kernel's error.
pub fn set_pacing_rate_max(socket: &impl AsFd, bytes_s: u64) -> io::Result<()> {
    let value = bytes_s.to_ne_bytes();
    // SAFETY: the descriptor is borrowed, so open; the pointer and length describe `value`.
    let result = unsafe {
        libc::setsockopt(
            socket.as_fd().as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_MAX_PACING_RATE,
            value.as_ptr().cast(),
            size_of::<u64>() as libc::socklen_t,
        )
    };
    if result == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

/// Sets the receive buffer, beyond `rmem_max` if the socket's namespace is ours.
///
/// # Errors
/// The kernel's error.
pub fn set_receive_buffer(socket: &impl AsFd, bytes: i32) -> io::Result<()> {
    let set = |name| {
        // SAFETY: the descriptor is borrowed, so open; the pointer and length describe `bytes`.
        let result = unsafe {
            libc::setsockopt(
                socket.as_fd().as_raw_fd(),
                libc::SOL_SOCKET,
                name,
                (&raw const bytes).cast(),
                size_of::<i32>() as libc::socklen_t,
            )
        };
        if result == 0 {
            Ok(())
        } else {
            Err(io::Error::last_os_error())
        }
    };
    set(libc::SO_RCVBUFFORCE).or_else(|_| set(libc::SO_RCVBUF))
}

/// Reads `SO_MAX_PACING_RATE`, bytes per second; `None` if the socket is not paced.
///
/// # Errors
/// The kernel's error.
pub fn pacing_rate_max(socket: &impl AsFd) -> io::Result<Option<u64>> {
    let mut buffer = [0; size_of::<u64>()];
    let length = get(
        socket,
        libc::SOL_SOCKET,
        libc::SO_MAX_PACING_RATE,
        &mut buffer,
    )?;
    if length != buffer.len() {
        return Err(io::ErrorKind::Unsupported.into());
    }
    let rate = u64::from_ne_bytes(buffer);
    Ok((rate != UNPACED).then_some(rate))
}

/// `SIOCOUTQNSD` (linux/sockios.h): bytes that a socket holds and has not sent.
const SIOCOUTQNSD: u64 = 0x894b;

/// Returns the bytes that a socket holds and has never sent.
///
/// # Errors
/// The kernel's error.
pub(super) fn not_sent_bytes(socket: &impl AsFd) -> io::Result<usize> {
    let mut bytes: libc::c_int = 0;
    // SAFETY: the descriptor is borrowed, so open; the kernel writes one integer.
    let result =
        unsafe { libc::ioctl(socket.as_fd().as_raw_fd(), SIOCOUTQNSD as _, &raw mut bytes) };
    if result == 0 {
        Ok(usize::try_from(bytes).unwrap_or(0))
    } else {
        Err(io::Error::last_os_error())
    }
}

/// Returns whether the kernel reports a socket as writable: less than half of `TCP_NOTSENT_LOWAT`
/// is unsent. If it is not, the kernel will notify when it is (because of this poll(2); without it,
/// and without a refused write, it stays silent).
pub(super) fn is_writable(socket: &impl AsFd) -> bool {
    let mut poll_descriptor = libc::pollfd {
        fd: socket.as_fd().as_raw_fd(),
        events: libc::POLLOUT,
        revents: 0,
    };
    // SAFETY: one whole pollfd, whose descriptor is borrowed, so open; no wait.
    let ready = unsafe { libc::poll(&raw mut poll_descriptor, 1, 0) };
    ready == 1
}

/// Returns the last number of one of TCP's sysctls, in the thread's network namespace.
pub(super) fn sysctl(name: &str) -> Option<u64> {
    let text = std::fs::read_to_string(format!("/proc/sys/net/ipv4/{name}")).ok()?;
    text.split_whitespace().next_back()?.parse().ok()
}

fn get(socket: &impl AsFd, level: i32, name: i32, buffer: &mut [u8]) -> io::Result<usize> {
    let mut length = buffer.len() as libc::socklen_t;
    // SAFETY: the descriptor is borrowed, so open; the kernel writes at most `length` bytes, which
    // `buffer` has, and returns how many it wrote.
    let result = unsafe {
        libc::getsockopt(
            socket.as_fd().as_raw_fd(),
            level,
            name,
            buffer.as_mut_ptr().cast(),
            &raw mut length,
        )
    };
    if result == 0 {
        Ok(length as usize)
    } else {
        Err(io::Error::last_os_error())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn the_kernel_reports_options_and_state() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        assert_eq!(pacing_rate_max(&listener).unwrap(), None);
        set_pacing_rate_max(&listener, 12_500_000_000).unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (accepted, _) = listener.accept().unwrap();
        assert_eq!(pacing_rate_max(&accepted).unwrap(), Some(12_500_000_000));
        let info = tcp_info(&accepted).unwrap();
        assert!(
            info.window_packets >= 2 && info.segment_bytes >= 500,
            "{info:?}"
        );
        assert_eq!(info.retransmitted_packets, 0);
        assert_eq!(not_sent_bytes(&accepted).unwrap(), 0);
        assert!(is_writable(&accepted));
        drop(client);
    }
}

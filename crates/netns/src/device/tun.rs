use crate::clock::monotonic_now;
use crate::device::arrivals::Arrivals;
use crate::device::packet_ring::{PacketRing, TRANSMIT_QUEUE_PACKETS};
use crate::device::packet_socket::control_socket;
use crate::device::read_packet::ReadPacket;
use crate::error::check;
use crate::netlink::Netlink;
use crate::{Error, OFFLOAD_HEADER_BYTES};
use eyelevel_units::Instant;
use std::ffi::CString;
use std::fs::{File, OpenOptions};
use std::io::{self, IoSlice, Read, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::fs::OpenOptionsExt;

/// `TUNSETOFFLOAD` and its bits (linux/if_tun.h): checksums, TCP over IPv4 and IPv6 with ECN, UDP.
const TUNSETOFFLOAD: libc::c_ulong = 0x4004_54d0;
const OFFLOAD_TCP: libc::c_ulong = 0x01 | 0x02 | 0x04 | 0x08;
const OFFLOAD_UDP: libc::c_ulong = 0x20 | 0x40;

/// One end of the emulated path: an interface of the namespace in which it was created, whose
/// packets are read and written as whole IP packets. It is removed on drop.
pub struct Tun {
    file: File,
    /// The arrival times, which TUN itself does not report; `None` if the kernel refuses packet
    /// sockets.
    arrivals: Option<Arrivals<PacketRing>>,
    discipline: Option<String>,
}

/// The queueing discipline before the device: first in, first out; nothing is dropped, marked or
/// delayed except when the queue is full. The host's default differs between hosts: `fq_codel`
/// drops and marks, `fq` delays packets until the time that a server set for them (SO_TXTIME).
/// Every kernel with disciplines has this one.
const DISCIPLINE: &str = "pfifo_fast";

impl Tun {
    /// Creates the device in the calling thread's network namespace.
    ///
    /// # Errors
    ///
    /// Fails if `/dev/net/tun` is missing, this user may not open it, or the name is taken.
    pub fn create(name: &str) -> Result<Self, Error> {
        let attempt = || format!("create the TUN device {name}");
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .custom_flags(libc::O_NONBLOCK | libc::O_CLOEXEC)
            .open("/dev/net/tun")
            .map_err(|e| {
                Error::new(attempt(), e).remedy("as root: modprobe tun; chmod 0666 /dev/net/tun")
            })?;
        let mut request = create_request(name);
        request.ifr_ifru.ifru_flags =
            (libc::IFF_TUN | libc::IFF_NO_PI | libc::IFF_VNET_HDR) as libc::c_short;
        // SAFETY: `request` is a complete ifreq and outlives the call.
        check(
            unsafe { libc::ioctl(file.as_raw_fd(), libc::TUNSETIFF, &mut request) },
            attempt,
        )?;
        set_transmit_queue(name)?;
        enable_super_packets(&file)?;
        let index = crate::netlink::interface_index(name);
        let discipline = index.as_ref().ok().and_then(|index| set_discipline(*index));
        let ring = index.and_then(PacketRing::open);
        let mut tun = Self {
            file,
            arrivals: ring.ok().map(Arrivals::new),
            discipline,
        };
        tun.read_clocks();
        Ok(tun)
    }

    /// Like [`crate::Device::queueing_discipline`].
    pub fn queueing_discipline(&self) -> Option<&str> {
        self.discipline.as_deref()
    }

    /// Like [`crate::Device::read_clocks`].
    pub fn read_clocks(&mut self) {
        if let Some(arrivals) = &mut self.arrivals {
            arrivals.read_clocks();
        }
    }

    /// Reads one packet, preceded by its offload header. Returns `Ok(None)` if none is waiting.
    #[inline]
    pub fn read(&mut self, buffer: &mut [u8]) -> io::Result<Option<ReadPacket>> {
        loop {
            let waits = self.oldest_waiting().is_some();
            match self.file.read(buffer) {
                Ok(length) => {
                    let at = monotonic_now();
                    let packet = buffer.get(OFFLOAD_HEADER_BYTES..length).unwrap_or_default();
                    let arrivals = self.arrivals.as_mut();
                    let came = arrivals.and_then(|arrivals| arrivals.time_of(packet));
                    return Ok(Some(ReadPacket { length, at, came }));
                }
                Err(e) if e.kind() != io::ErrorKind::WouldBlock => return Err(e),
                Err(_) if !waits => return Ok(None),
                Err(_) => {
                    if let Some(arrivals) = &mut self.arrivals {
                        arrivals.skip_next();
                    }
                }
            }
        }
    }

    /// Like [`crate::Device::may_have_packets`].
    #[inline]
    pub fn may_have_packets(&self) -> bool {
        let nothing_came = |arrivals: &Arrivals<_>| arrivals.oldest().is_none();
        !self.arrivals.as_ref().is_some_and(nothing_came)
    }

    /// Returns when the oldest waiting packet arrived, or `None` if none waits or it is unknown.
    #[inline]
    pub fn oldest_waiting(&self) -> Option<Instant> {
        self.arrivals.as_ref()?.oldest()
    }

    /// Sends one packet, its offload header first, to the namespace.
    #[inline]
    pub fn write(&mut self, parts: &[IoSlice<'_>]) -> io::Result<()> {
        self.file.write_vectored(parts).map(drop)
    }
}

/// Sets the discipline, and returns the one that the kernel then reports; `None` if it has none to
/// set.
fn set_discipline(index: u32) -> Option<String> {
    let mut netlink = Netlink::open().ok()?;
    let _ = netlink.set_queueing_discipline(index, DISCIPLINE);
    netlink.queueing_discipline(index)
}

/// Enables super-packets as the stack produces them. Those of UDP came with Linux 6.2; if refused,
/// the kernel segments them itself.
fn enable_super_packets(file: &File) -> Result<(), Error> {
    // SAFETY: takes an integer by value.
    let ask =
        |bits: libc::c_ulong| unsafe { libc::ioctl(file.as_raw_fd(), TUNSETOFFLOAD as _, bits) };
    if ask(OFFLOAD_TCP | OFFLOAD_UDP) == 0 {
        return Ok(());
    }
    check(ask(OFFLOAD_TCP), || {
        "ask the TUN device for segmentation offload".into()
    })
    .map(drop)
}

impl AsFd for Tun {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

fn set_transmit_queue(name: &str) -> Result<(), Error> {
    let socket = control_socket()?;
    let mut request = create_request(name);
    request.ifr_ifru.ifru_metric = TRANSMIT_QUEUE_PACKETS;
    // SAFETY: `request` is a complete ifreq whose union the kernel reads as the queue length.
    let result = unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFTXQLEN as _, &request) };
    check(result, || format!("set the transmit queue of {name}")).map(drop)
}

/// Creates an ifreq for the device `name`.
pub(crate) fn create_request(name: &str) -> libc::ifreq {
    // SAFETY: an all-zero ifreq is valid.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    let name = CString::new(name).expect("device names are literals without NUL");
    let bytes = name.as_bytes_with_nul();
    assert!(
        bytes.len() <= libc::IFNAMSIZ,
        "device name longer than the kernel's limit"
    );
    for (slot, byte) in request.ifr_name.iter_mut().zip(bytes) {
        *slot = *byte as libc::c_char;
    }
    request
}

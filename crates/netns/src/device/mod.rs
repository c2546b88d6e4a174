mod arrivals;
pub(crate) mod losses;
mod packet_ring;
mod packet_socket;
pub(crate) mod read_packet;
mod tun;
mod veth;

use crate::Error;
use crate::device::losses::{Losses, Lost};
use crate::device::read_packet::ReadPacket;
use crate::device::tun::Tun;
use crate::device::veth::Veth;
use eyelevel_units::Instant;
use std::io::{self, IoSlice};
use std::os::fd::{AsFd, BorrowedFd};

/// One end of an emulated path: an interface of a namespace whose packets are read and written as a
/// whole. It is a TUN device or, if the user may not open that, a virtual Ethernet pair.
pub struct Device {
    end: End,
    losses: Option<Losses>,
}

enum End {
    Tun(Tun),
    /// A virtual Ethernet pair with a packet socket.
    Veth(Veth),
}

impl Device {
    /// Creates the interface `name` in the calling thread's network namespace.
    ///
    /// # Errors
    ///
    /// Fails if neither kind can be created, with the error of the TUN device, which names the
    /// remedy.
    pub fn create(name: &str) -> Result<Self, Error> {
        let end = match Tun::create(name) {
            Ok(tun) => End::Tun(tun),
            Err(error) => Veth::create(name).map(End::Veth).map_err(|_| error)?,
        };
        let devices = vec![name.to_owned(), veth::port_name(name)];
        let losses = Losses::open(devices).ok();
        Ok(Self { end, losses })
    }

    /// Returns the kind for records: `tun` or `veth`.
    pub fn kind(&self) -> &'static str {
        match self.end {
            End::Tun(_) => "tun",
            End::Veth(_) => "veth",
        }
    }

    /// Returns the queueing discipline before the device, as the kernel reports it; `None` for a
    /// virtual Ethernet pair, which has none, and if the kernel does not report it.
    pub fn queueing_discipline(&self) -> Option<&str> {
        match &self.end {
            End::Tun(tun) => tun.queueing_discipline(),
            End::Veth(_) => None,
        }
    }

    /// Whether packets may have pending segmentation or checksums.
    pub fn has_offload(&self) -> bool {
        matches!(self.end, End::Tun(_))
    }

    /// Returns the packets that the namespace has lost outside the emulated path, by source: in the
    /// device, between it and the reader, in socket queues. `None` if the counters cannot be read.
    pub fn lost(&mut self) -> Option<Lost> {
        let mut lost = self.losses.as_mut()?.read().ok()?;
        if let End::Veth(veth) = &mut self.end {
            lost.insert("packet_socket", veth.lost());
        }
        Some(lost)
    }

    /// Synchronises the clock of the kernel's timestamps with the lab's; call it before packets are
    /// read.
    #[inline]
    pub fn read_clocks(&mut self) {
        match &mut self.end {
            End::Tun(tun) => tun.read_clocks(),
            End::Veth(veth) => veth.read_clocks(),
        }
    }

    /// Whether a packet may be waiting; a false result costs no system call.
    #[inline]
    pub fn may_have_packets(&self) -> bool {
        match &self.end {
            End::Tun(tun) => tun.may_have_packets(),
            End::Veth(_) => true,
        }
    }

    /// Returns the time, at most `now`, until which every arrived packet has been read, if the last
    /// one read arrived at `latest`. `ready`: a further read may succeed.
    #[inline]
    pub fn all_read_until(&self, now: Instant, latest: Instant, ready: bool) -> Instant {
        match &self.end {
            End::Tun(tun) => tun.oldest_waiting().map_or(now, |oldest| oldest.min(now)),
            End::Veth(_) if ready => latest.min(now),
            End::Veth(_) => now,
        }
    }

    /// Reads one packet, preceded by its [`crate::OffloadHeader`], into a buffer of at least
    /// [`crate::READ_BYTES_MAX`]. Returns `Ok(None)` if none is waiting.
    #[inline]
    pub fn read(&mut self, buffer: &mut [u8]) -> io::Result<Option<ReadPacket>> {
        let read = match &mut self.end {
            End::Tun(tun) => tun.read(buffer)?,
            End::Veth(veth) => veth.read(buffer)?,
        };
        Ok(read.map(ReadPacket::drop_invalid_stamp))
    }

    /// Sends one packet to the namespace: its offload header first (empty if the device has no
    /// offload), then its bytes, with the IP header in one part.
    #[inline]
    pub fn write(&mut self, parts: &[IoSlice<'_>]) -> io::Result<()> {
        match &mut self.end {
            End::Tun(tun) => tun.write(parts),
            End::Veth(veth) => veth.write(parts),
        }
    }
}

impl AsFd for Device {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match &self.end {
            End::Tun(tun) => tun.as_fd(),
            End::Veth(veth) => veth.as_fd(),
        }
    }
}

use crate::Error;
use crate::tun::Tun;
use crate::veth::Veth;
use std::io::{self, IoSlice};
use std::os::fd::{AsFd, BorrowedFd};

/// One end of an emulated path: an interface of a namespace whose packets are read and written
/// whole, a TUN device or, where those are closed to the user, a virtual Ethernet pair.
pub enum Device {
    /// A TUN device.
    Tun(Tun),
    /// A virtual Ethernet pair with a packet socket.
    Veth(Veth),
}

impl Device {
    /// Creates the interface `name` in the calling thread's network namespace.
    ///
    /// # Errors
    /// Where neither kind can be made: the error is that of the TUN device, which names the remedy.
    pub fn create(name: &str) -> Result<Self, Error> {
        match Tun::create(name) {
            Ok(tun) => Ok(Self::Tun(tun)),
            Err(error) => Veth::create(name).map(Self::Veth).map_err(|_| error),
        }
    }

    /// What kind it is, for records: `tun` or `veth`.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Tun(_) => "tun",
            Self::Veth(_) => "veth",
        }
    }

    /// Whether it takes and gives packets that are still to be cut or summed.
    pub fn has_offload(&self) -> bool {
        matches!(self, Self::Tun(_))
    }

    /// Reads one packet, its [`crate::OffloadHeader`] before it, into a buffer of at least
    /// [`crate::READ_BYTES_MAX`]. `Ok(None)`: none is waiting.
    #[inline]
    pub fn read(&mut self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        match self {
            Self::Tun(tun) => tun.read(buffer),
            Self::Veth(veth) => veth.read(buffer),
        }
    }

    /// Hands one packet to the namespace: its offload header first (empty where the device has no
    /// offload), then its bytes, the IP header in one part.
    #[inline]
    pub fn write(&mut self, parts: &[IoSlice<'_>]) -> io::Result<()> {
        match self {
            Self::Tun(tun) => tun.write(parts),
            Self::Veth(veth) => veth.write(parts),
        }
    }
}

impl AsFd for Device {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Tun(tun) => tun.as_fd(),
            Self::Veth(veth) => veth.as_fd(),
        }
    }
}

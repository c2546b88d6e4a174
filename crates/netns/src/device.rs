use crate::Error;
use crate::tun::Tun;
use crate::veth::Veth;
use std::io;
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

    /// Reads one packet. `Ok(None)`: none is waiting.
    pub fn read(&mut self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        match self {
            Self::Tun(tun) => tun.read(buffer),
            Self::Veth(veth) => veth.read(buffer),
        }
    }

    /// Hands one packet to the namespace.
    pub fn write(&mut self, packet: &[u8]) -> io::Result<()> {
        match self {
            Self::Tun(tun) => tun.write(packet),
            Self::Veth(veth) => veth.write(packet),
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

//! Sockets that receive every packet of one device (packet(7)).

use crate::Error;
use crate::error::check;
use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with};
use std::mem::size_of;
use std::os::fd::{AsRawFd, OwnedFd};

/// Opens a socket that receives nothing until it is bound, so that it never gets packets of other
/// devices.
pub(crate) fn open() -> Result<OwnedFd, Error> {
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    socket_with(AddressFamily::PACKET, SocketType::DGRAM, flags, None)
        .map_err(|e| Error::new("open a packet socket", e))
}

/// Opens a socket for device ioctls; any kind serves.
pub(crate) fn control_socket() -> Result<OwnedFd, Error> {
    let flags = SocketFlags::CLOEXEC;
    socket_with(AddressFamily::INET, SocketType::DGRAM, flags, None)
        .map_err(|e| Error::new("open a socket", e))
}

/// Binds the socket to the device `index`, so that it receives its packets from now on.
pub(crate) fn listen(socket: &OwnedFd, index: u32) -> Result<(), Error> {
    let address = link_address(index, libc::ETH_P_ALL, [0; 8]);
    // SAFETY: the address outlives the call, the length is its own.
    let bound = unsafe {
        libc::bind(
            socket.as_raw_fd(),
            (&raw const address).cast(),
            size_of::<libc::sockaddr_ll>() as libc::socklen_t,
        )
    };
    check(bound, || "listen on the lab's device".into()).map(drop)
}

pub(crate) fn link_address(
    index: u32,
    protocol: libc::c_int,
    hardware: [u8; 8],
) -> libc::sockaddr_ll {
    libc::sockaddr_ll {
        sll_family: libc::AF_PACKET as u16,
        sll_protocol: (protocol as u16).to_be(),
        sll_ifindex: index as i32,
        sll_hatype: 0,
        sll_pkttype: 0,
        sll_halen: 6,
        sll_addr: hardware,
    }
}

//! Sockets that hear every packet of one device (packet(7)).

use crate::Error;
use crate::error::check;
use std::mem::size_of;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// A socket that hears nothing until it is bound, so that no packet of another device can slip in.
pub(crate) fn open() -> Result<OwnedFd, Error> {
    let kind = libc::SOCK_DGRAM | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
    // SAFETY: takes integers; the descriptor is owned at once.
    unsafe {
        let descriptor = check(libc::socket(libc::AF_PACKET, kind, 0), || {
            "open a packet socket".into()
        })?;
        Ok(OwnedFd::from_raw_fd(descriptor))
    }
}

/// Lets it hear the device `index` from now on.
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

/// Sets an option of any type that the kernel reads as plain memory.
pub(crate) fn set<T>(
    socket: &OwnedFd,
    level: libc::c_int,
    option: libc::c_int,
    value: &T,
) -> Result<(), Error> {
    // SAFETY: the value outlives the call, the length is its own.
    let result = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            level,
            option,
            std::ptr::from_ref(value).cast(),
            size_of::<T>() as libc::socklen_t,
        )
    };
    check(result, || format!("set option {option} of a packet socket")).map(drop)
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

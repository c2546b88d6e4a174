use crate::Error;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Returns the addresses of all interfaces in the calling thread's network namespace.
///
/// # Errors
///
/// Fails if the kernel refuses.
pub fn local_addresses() -> Result<Vec<IpAddr>, Error> {
    let mut first: *mut libc::ifaddrs = std::ptr::null_mut();
    // SAFETY: `first` is valid for writes.
    if unsafe { libc::getifaddrs(&mut first) } != 0 {
        let error = io::Error::last_os_error();
        return Err(Error::new("list the addresses of this machine", error));
    }
    let mut found = Vec::new();
    let mut next = first;
    while !next.is_null() {
        // SAFETY: the list is valid until it is freed below.
        let entry = unsafe { &*next };
        // SAFETY: null, or an address of the family that it names.
        found.extend(unsafe { address(entry.ifa_addr) });
        next = entry.ifa_next;
    }
    // SAFETY: `first` is from getifaddrs and freed once; nothing points into it any more.
    unsafe { libc::freeifaddrs(first) };
    Ok(found)
}

/// # Safety
/// `socket_address` is null or points to an address of the family that it names.
unsafe fn address(socket_address: *const libc::sockaddr) -> Option<IpAddr> {
    if socket_address.is_null() {
        return None;
    }
    // SAFETY: by the function's contract; the casts follow the family.
    unsafe {
        match i32::from((*socket_address).sa_family) {
            libc::AF_INET => {
                let v4 = &*socket_address.cast::<libc::sockaddr_in>();
                Some(Ipv4Addr::from(u32::from_be(v4.sin_addr.s_addr)).into())
            }
            libc::AF_INET6 => {
                let v6 = &*socket_address.cast::<libc::sockaddr_in6>();
                Some(Ipv6Addr::from(v6.sin6_addr.s6_addr).into())
            }
            _ => None,
        }
    }
}

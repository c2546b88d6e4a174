use crate::error::check;
use crate::{Error, Netlink, OFFLOAD_HEADER_BYTES};
use std::io::{self, IoSlice};
use std::mem::size_of;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

/// What the socket may hold before it is read: the kernel caps it, and doubles it for its own use.
const RECEIVE_BUFFER_BYTES: libc::c_int = 4 << 20;
/// `SIOCETHTOOL` and its commands (linux/sockios.h, linux/ethtool.h): offloads that would give
/// this end packets larger than the wire's, or with a checksum still to be filled in.
const SIOCETHTOOL: libc::c_ulong = 0x8946;
const OFFLOADS_OFF: [(u32, &str); 4] = [
    (0x17, "transmit checksums"),
    (0x19, "scatter and gather"),
    (0x1f, "TCP segmentation"),
    (0x24, "generic segmentation"),
];

/// One end of the emulated path where `/dev/net/tun` is closed to the user: a pair of virtual
/// Ethernet devices, of which the namespace uses one and a packet socket reads and writes the other.
pub struct Veth {
    socket: OwnedFd,
    port_index: u32,
    hardware_address: [u8; 8],
}

impl Veth {
    /// Creates the pair in the calling thread's network namespace; its packets go to `name`.
    pub fn create(name: &str) -> Result<Self, Error> {
        let port = format!("{name}-port");
        let mut netlink = Netlink::open()?;
        netlink.add_veth(name, &port)?;
        let index = netlink.link_index(name)?;
        let port_index = netlink.link_index(&port)?;
        let _ = crate::set_sysctl(&format!("net.ipv6.conf.{port}.disable_ipv6"), "1");
        let control = socket(libc::AF_INET, libc::SOCK_DGRAM, 0)?;
        for (command, what) in OFFLOADS_OFF {
            switch_off(&control, name, command)
                .map_err(|e| Error::new(format!("switch off {what} of {name}"), e))?;
        }
        let hardware_address = hardware_address(&control, name)?;
        netlink.set_up_without_arp(index)?;
        netlink.set_up(port_index, None)?;
        let socket = packet_socket(port_index)?;
        Ok(Self {
            socket,
            port_index,
            hardware_address,
        })
    }

    /// Reads one packet behind an empty offload header. `Ok(None)`: none is waiting.
    pub fn read(&mut self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        let (header, packet) = buffer.split_at_mut(OFFLOAD_HEADER_BYTES);
        header.fill(0);
        // SAFETY: the buffer is valid for its length.
        let length = unsafe {
            libc::recv(
                self.socket.as_raw_fd(),
                packet.as_mut_ptr().cast(),
                packet.len(),
                0,
            )
        };
        if length >= 0 {
            return Ok(Some(OFFLOAD_HEADER_BYTES + length as usize));
        }
        let error = io::Error::last_os_error();
        if error.kind() == io::ErrorKind::WouldBlock {
            Ok(None)
        } else {
            Err(error)
        }
    }

    /// Hands one packet to the namespace. The first part is its offload header, which must be empty
    /// and stays here; the second begins with the IP header.
    pub fn write(&mut self, parts: &[IoSlice<'_>]) -> io::Result<()> {
        let packet = &parts[1..];
        let protocol = match packet[0].first().map(|byte| byte >> 4) {
            Some(6) => libc::ETH_P_IPV6,
            _ => libc::ETH_P_IP,
        };
        let mut address = link_address(self.port_index, protocol, self.hardware_address);
        // SAFETY: an all-zero msghdr is valid.
        let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
        message.msg_name = (&raw mut address).cast();
        message.msg_namelen = size_of::<libc::sockaddr_ll>() as libc::socklen_t;
        // IoSlice has the layout of iovec; the kernel does not write to what is sent.
        message.msg_iov = packet.as_ptr().cast_mut().cast();
        message.msg_iovlen = packet.len() as _;
        // SAFETY: the message and all that it points to outlive the call.
        let sent = unsafe { libc::sendmsg(self.socket.as_raw_fd(), &message, 0) };
        if sent < 0 {
            Err(io::Error::last_os_error())
        } else {
            Ok(())
        }
    }
}

impl AsFd for Veth {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

fn socket(family: libc::c_int, kind: libc::c_int, protocol: libc::c_int) -> Result<OwnedFd, Error> {
    // SAFETY: takes integers; the descriptor is owned at once.
    unsafe {
        let descriptor = check(
            libc::socket(family, kind | libc::SOCK_CLOEXEC, protocol),
            || "open a socket".into(),
        )?;
        Ok(OwnedFd::from_raw_fd(descriptor))
    }
}

fn packet_socket(port_index: u32) -> Result<OwnedFd, Error> {
    // Protocol 0 hears nothing until it is bound: no packet of another device can slip in.
    let socket = socket(libc::AF_PACKET, libc::SOCK_DGRAM | libc::SOCK_NONBLOCK, 0)?;
    set_option(
        &socket,
        libc::SOL_SOCKET,
        libc::SO_RCVBUF,
        RECEIVE_BUFFER_BYTES,
    )?;
    // What this end sends must not come back to it.
    set_option(&socket, libc::SOL_PACKET, libc::PACKET_IGNORE_OUTGOING, 1)?;
    let address = link_address(port_index, libc::ETH_P_ALL, [0; 8]);
    // SAFETY: the address outlives the call, the length is its own.
    let bound = unsafe {
        libc::bind(
            socket.as_raw_fd(),
            (&raw const address).cast(),
            size_of::<libc::sockaddr_ll>() as libc::socklen_t,
        )
    };
    check(bound, || "listen on the lab's device".into())?;
    Ok(socket)
}

fn set_option(
    socket: &OwnedFd,
    level: libc::c_int,
    option: libc::c_int,
    value: libc::c_int,
) -> Result<(), Error> {
    // SAFETY: the value outlives the call, the length is its own.
    let result = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            level,
            option,
            (&raw const value).cast(),
            size_of::<libc::c_int>() as libc::socklen_t,
        )
    };
    check(result, || format!("set option {option} of a packet socket")).map(drop)
}

fn link_address(index: u32, protocol: libc::c_int, hardware: [u8; 8]) -> libc::sockaddr_ll {
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

#[repr(C)]
struct EthtoolValue {
    command: u32,
    data: u32,
}

fn switch_off(control: &OwnedFd, name: &str, command: u32) -> io::Result<()> {
    let mut value = EthtoolValue { command, data: 0 };
    let mut request = crate::tun::named_request(name);
    request.ifr_ifru.ifru_data = (&raw mut value).cast();
    // SAFETY: `request` and the value that it points to outlive the call.
    let result = unsafe { libc::ioctl(control.as_raw_fd(), SIOCETHTOOL as _, &request) };
    if result < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(())
    }
}

fn hardware_address(control: &OwnedFd, name: &str) -> Result<[u8; 8], Error> {
    let mut request = crate::tun::named_request(name);
    // SAFETY: `request` is a whole ifreq, which the kernel fills in.
    let result =
        unsafe { libc::ioctl(control.as_raw_fd(), libc::SIOCGIFHWADDR as _, &mut request) };
    check(result, || format!("read the hardware address of {name}"))?;
    // SAFETY: the call above filled this member of the union.
    let data = unsafe { request.ifr_ifru.ifru_hwaddr.sa_data };
    let mut address = [0; 8];
    for (to, from) in address.iter_mut().zip(&data[..6]) {
        *to = *from as u8;
    }
    Ok(address)
}

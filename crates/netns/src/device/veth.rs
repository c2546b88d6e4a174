use crate::clock::monotonic_now;
use crate::device::packet_socket::{self, control_socket, link_address};
use crate::device::read_packet::ReadPacket;
use crate::error::check;
use crate::socket_option::set_option;
use crate::socket_times::receive_stamped;
use crate::wall_clock::WallClock;
use crate::{Error, Netlink, OFFLOAD_HEADER_BYTES};
use std::io::{self, IoSlice};
use std::mem::size_of;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

/// The receive buffer of the socket; the kernel caps it, and doubles it for its own use.
const RECEIVE_BUFFER_BYTES: libc::c_int = 4 << 20;
/// `SIOCETHTOOL` and its commands (linux/sockios.h, linux/ethtool.h): offloads that would give this
/// end packets larger than the wire's, or with an incomplete checksum.
const SIOCETHTOOL: libc::c_ulong = 0x8946;
const OFFLOADS_OFF: [(u32, &str); 4] = [
    (0x17, "transmit checksums"),
    (0x19, "scatter and gather"),
    (0x1f, "TCP segmentation"),
    (0x24, "generic segmentation"),
];

/// One end of the emulated path if the user may not open `/dev/net/tun`: a pair of virtual Ethernet
/// devices, of which the namespace uses one and a packet socket reads and writes the other.
pub struct Veth {
    socket: OwnedFd,
    port_index: u32,
    hardware_address: [u8; 8],
    clock: WallClock,
    lost: u64,
}

impl Veth {
    /// Creates the pair in the calling thread's network namespace; its packets go to `name`.
    pub fn create(name: &str) -> Result<Self, Error> {
        let port = port_name(name);
        let mut netlink = Netlink::open()?;
        netlink.add_veth(name, &port)?;
        let index = netlink.link_index(name)?;
        let port_index = netlink.link_index(&port)?;
        let _ = crate::set_sysctl(&format!("net.ipv6.conf.{port}.disable_ipv6"), "1");
        let control = control_socket()?;
        for (command, what) in OFFLOADS_OFF {
            switch_off(&control, name, command)
                .map_err(|e| Error::new(format!("switch off {what} of {name}"), e))?;
        }
        let hardware_address = hardware_address(&control, name)?;
        netlink.set_up_without_arp(index)?;
        netlink.set_up(port_index, None)?;
        let socket = packet_socket(port_index)?;
        let mut veth = Self {
            socket,
            port_index,
            hardware_address,
            clock: WallClock::default(),
            lost: 0,
        };
        veth.read_clocks();
        Ok(veth)
    }

    /// Returns the number of packets that did not fit into the packet socket's buffer so far.
    pub fn lost(&mut self) -> u64 {
        // SAFETY: all-zero is a valid `tpacket_stats`: it is two numbers.
        let mut counts: libc::tpacket_stats = unsafe { std::mem::zeroed() };
        let mut length = size_of::<libc::tpacket_stats>() as libc::socklen_t;
        // SAFETY: the descriptor is open; the kernel writes at most `length` bytes into `counts`.
        let status = unsafe {
            libc::getsockopt(
                self.socket.as_raw_fd(),
                libc::SOL_PACKET,
                libc::PACKET_STATISTICS,
                (&raw mut counts).cast(),
                &raw mut length,
            )
        };
        // The kernel resets the counter on each read.
        if status == 0 {
            self.lost += u64::from(counts.tp_drops);
        }
        self.lost
    }

    /// Like [`crate::Device::read_clocks`].
    pub fn read_clocks(&mut self) {
        self.clock.read();
    }

    /// Reads one packet after an empty offload header. Returns `Ok(None)` if none is waiting.
    pub fn read(&mut self, buffer: &mut [u8]) -> io::Result<Option<ReadPacket>> {
        let (header, packet) = buffer.split_at_mut(OFFLOAD_HEADER_BYTES);
        header.fill(0);
        match receive_stamped(self.socket.as_fd(), packet) {
            Ok((length, stamp_ns)) => Ok(Some(ReadPacket {
                length: OFFLOAD_HEADER_BYTES + length,
                at: monotonic_now(),
                came: stamp_ns.map(|wall_ns| self.clock.monotonic(wall_ns)),
            })),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Sends one packet to the namespace. The first part is its offload header, which must be empty
    /// and is not sent; the second begins with the IP header.
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

/// Returns the name of the other end of the pair whose first one is `name`.
pub(crate) fn port_name(name: &str) -> String {
    format!("{name}-port")
}

impl AsFd for Veth {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

fn packet_socket(port_index: u32) -> Result<OwnedFd, Error> {
    let socket = packet_socket::open()?;
    let bytes = RECEIVE_BUFFER_BYTES;
    // Beyond the machine's own limit, if this is root of the machine.
    set_option(&socket, libc::SOL_SOCKET, libc::SO_RCVBUFFORCE, &bytes)
        .or_else(|_| set_option(&socket, libc::SOL_SOCKET, libc::SO_RCVBUF, &bytes))?;
    // Packets that this end sends must not return to it.
    let on: libc::c_int = 1;
    set_option(&socket, libc::SOL_PACKET, libc::PACKET_IGNORE_OUTGOING, &on)?;
    set_option(&socket, libc::SOL_SOCKET, libc::SO_TIMESTAMPNS, &on)?;
    packet_socket::listen(&socket, port_index)?;
    Ok(socket)
}

#[repr(C)]
struct EthtoolValue {
    command: u32,
    data: u32,
}

fn switch_off(control: &OwnedFd, name: &str, command: u32) -> io::Result<()> {
    let mut value = EthtoolValue { command, data: 0 };
    let mut request = crate::device::tun::create_request(name);
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
    let mut request = crate::device::tun::create_request(name);
    // SAFETY: `request` is a complete ifreq, which the kernel fills in.
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

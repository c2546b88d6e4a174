use crate::Error;
use netlink_packet_core::{
    NLM_F_ACK, NLM_F_CREATE, NLM_F_DUMP, NLM_F_EXCL, NLM_F_REPLACE, NLM_F_REQUEST, NetlinkMessage,
    NetlinkPayload,
};
use netlink_packet_route::AddressFamily;
use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::address::{AddressAttribute, AddressHeaderFlags, AddressMessage};
use netlink_packet_route::link::{
    InfoData, InfoKind, InfoVeth, LinkAttribute, LinkFlags, LinkInfo, LinkMessage,
};
use netlink_packet_route::tc::{TcAttribute, TcHandle, TcMessage};
use netlink_sys::{Socket, SocketAddr, protocols::NETLINK_ROUTE};
use std::io;
use std::net::IpAddr;
use std::os::fd::AsRawFd;

/// The largest acknowledgement that the kernel sends for one request.
const ANSWER_BYTES_MAX: usize = 8192;
/// The largest part of a list from the kernel (NLMSG_GOODSIZE, and more for larger buffers).
const DUMP_BYTES_MAX: usize = 32 * 1024;

/// A netlink socket that configures links, addresses and, in `routes.rs`, routes of the network
/// namespace in which it was opened.
pub struct Netlink {
    socket: Socket,
    sequence: u32,
}

impl Netlink {
    /// Opens a socket in the calling thread's network namespace.
    pub fn open() -> Result<Self, Error> {
        let open = || -> io::Result<Socket> {
            let mut socket = Socket::new(NETLINK_ROUTE)?;
            socket.bind_auto()?;
            socket.connect(&SocketAddr::new(0, 0))?;
            Ok(socket)
        };
        let socket = open().map_err(|e| Error::new("open a netlink socket", e))?;
        Ok(Self {
            socket,
            sequence: 0,
        })
    }

    /// Returns the index of the interface `name`.
    pub fn link_index(&self, name: &str) -> Result<u32, Error> {
        interface_index(name)
    }

    /// Sets the interface up, with this MTU.
    pub fn set_up(&mut self, index: u32, mtu: Option<u32>) -> Result<(), Error> {
        let mut message = LinkMessage::default();
        message.header.index = index;
        message.header.flags = LinkFlags::Up;
        message.header.change_mask = LinkFlags::Up;
        message.attributes.extend(mtu.map(LinkAttribute::Mtu));
        self.request(RouteNetlinkMessage::SetLink(message), 0, || {
            format!("set link {index} up")
        })
    }

    /// Disables multicast on the interface, so that the kernel joins no groups there, which it
    /// would announce in packets of its own.
    pub fn end_multicast(&mut self, index: u32) -> Result<(), Error> {
        let mut message = LinkMessage::default();
        message.header.index = index;
        message.header.change_mask = LinkFlags::Multicast;
        self.request(RouteNetlinkMessage::SetLink(message), 0, || {
            format!("end multicast on link {index}")
        })
    }

    /// Sets the interface up without address resolution, since there is only one peer.
    pub(crate) fn set_up_without_arp(&mut self, index: u32) -> Result<(), Error> {
        let mut message = LinkMessage::default();
        message.header.index = index;
        message.header.flags = LinkFlags::Up | LinkFlags::Noarp;
        message.header.change_mask = LinkFlags::Up | LinkFlags::Noarp;
        self.request(RouteNetlinkMessage::SetLink(message), 0, || {
            format!("set link {index} up")
        })
    }

    /// Creates a pair of virtual Ethernet devices.
    pub(crate) fn add_veth(&mut self, name: &str, peer: &str) -> Result<(), Error> {
        let named = |name: &str| {
            let mut message = LinkMessage::default();
            message
                .attributes
                .push(LinkAttribute::IfName(name.to_owned()));
            message
        };
        let mut message = named(name);
        message.attributes.push(LinkAttribute::LinkInfo(vec![
            LinkInfo::Kind(InfoKind::Veth),
            LinkInfo::Data(InfoData::Veth(InfoVeth::Peer(named(peer)))),
        ]));
        self.create(RouteNetlinkMessage::NewLink(message), || {
            format!("create the virtual Ethernet pair {name}")
        })
    }

    /// Creates a pair of virtual Ethernet devices: `name` here, `peer` in another namespace.
    pub fn add_veth_into(
        &mut self,
        name: &str,
        peer: &str,
        namespace: &std::fs::File,
    ) -> Result<(), Error> {
        let mut other = LinkMessage::default();
        other.attributes = vec![
            LinkAttribute::IfName(peer.to_owned()),
            LinkAttribute::NetNsFd(namespace.as_raw_fd()),
        ];
        let mut message = LinkMessage::default();
        message.attributes = vec![
            LinkAttribute::IfName(name.to_owned()),
            LinkAttribute::LinkInfo(vec![
                LinkInfo::Kind(InfoKind::Veth),
                LinkInfo::Data(InfoData::Veth(InfoVeth::Peer(other))),
            ]),
        ];
        self.create(RouteNetlinkMessage::NewLink(message), || {
            format!("create the virtual Ethernet pair {name}")
        })
    }

    /// Adds an address to the interface, usable at once (no duplicate address detection).
    pub fn add_address(&mut self, index: u32, address: IpAddr) -> Result<(), Error> {
        let mut message = AddressMessage::default();
        message.header.family = family(address);
        message.header.prefix_len = host_prefix(address);
        message.header.index = index;
        message.header.flags = AddressHeaderFlags::Nodad;
        message.attributes.push(AddressAttribute::Address(address));
        message.attributes.push(AddressAttribute::Local(address));
        self.create(RouteNetlinkMessage::NewAddress(message), || {
            format!("add the address {address}")
        })
    }

    /// Sets the queueing discipline of a device.
    ///
    /// # Errors
    ///
    /// Fails if the kernel has none of that name, or no disciplines at all.
    pub(crate) fn set_queueing_discipline(&mut self, index: u32, name: &str) -> Result<(), Error> {
        let mut message = TcMessage::with_index(index as i32);
        message.header.parent = TcHandle::ROOT;
        message.attributes.push(TcAttribute::Kind(name.to_owned()));
        let flags = NLM_F_CREATE | NLM_F_REPLACE;
        self.request(
            RouteNetlinkMessage::NewQueueDiscipline(message),
            flags,
            || format!("set the queueing discipline {name} of link {index}"),
        )
    }

    /// Returns the name of a device's queueing discipline, or `None` if the kernel does not report
    /// it.
    pub(crate) fn queueing_discipline(&mut self, index: u32) -> Option<String> {
        let message = TcMessage::with_index(index as i32);
        let mut request = NetlinkMessage::from(RouteNetlinkMessage::GetQueueDiscipline(message));
        request.header.flags = NLM_F_REQUEST | NLM_F_DUMP;
        request.finalize();
        let mut bytes = vec![0; request.buffer_len()];
        request.serialize(&mut bytes);
        self.socket.send(&bytes, 0).ok()?;
        let (mut found, mut answer) = (None, vec![0; DUMP_BYTES_MAX]);
        loop {
            let length = self.socket.recv(&mut &mut answer[..], 0).ok()?;
            let mut rest = &answer[..length];
            while !rest.is_empty() {
                let message = NetlinkMessage::<RouteNetlinkMessage>::deserialize(rest).ok()?;
                rest = rest.get(message.header.length.next_multiple_of(4) as usize..)?;
                match message.payload {
                    NetlinkPayload::InnerMessage(RouteNetlinkMessage::NewQueueDiscipline(of)) => {
                        let is_root = of.header.parent == TcHandle::ROOT;
                        if is_root && of.header.index == index as i32 {
                            found = of.attributes.into_iter().find_map(|each| match each {
                                TcAttribute::Kind(name) => Some(name),
                                _ => None,
                            });
                        }
                    }
                    NetlinkPayload::Done(_) => return found,
                    NetlinkPayload::Error(_) => return None,
                    _ => (),
                }
            }
        }
    }

    pub(crate) fn create(
        &mut self,
        message: RouteNetlinkMessage,
        attempt: impl FnOnce() -> String,
    ) -> Result<(), Error> {
        self.request(message, NLM_F_CREATE | NLM_F_EXCL, attempt)
    }

    fn request(
        &mut self,
        message: RouteNetlinkMessage,
        flags: u16,
        attempt: impl FnOnce() -> String,
    ) -> Result<(), Error> {
        self.sequence += 1;
        let mut message = NetlinkMessage::from(message);
        message.header.flags = NLM_F_REQUEST | NLM_F_ACK | flags;
        message.header.sequence_number = self.sequence;
        message.finalize();
        let mut bytes = vec![0; message.buffer_len()];
        message.serialize(&mut bytes);
        self.exchange(&bytes).map_err(|e| Error::new(attempt(), e))
    }

    fn exchange(&self, request: &[u8]) -> io::Result<()> {
        self.socket.send(request, 0)?;
        let mut answer = vec![0; ANSWER_BYTES_MAX];
        let length = self.socket.recv(&mut &mut answer[..], 0)?;
        let message = NetlinkMessage::<RouteNetlinkMessage>::deserialize(&answer[..length])
            .map_err(|e| io::Error::new(io::ErrorKind::InvalidData, e.to_string()))?;
        match message.payload {
            NetlinkPayload::Error(error) if error.code.is_some() => Err(error.to_io()),
            _ => Ok(()),
        }
    }
}

/// Returns the index of the interface `name` in the calling thread's network namespace.
pub(crate) fn interface_index(name: &str) -> Result<u32, Error> {
    let name = std::ffi::CString::new(name).expect("device names are literals without NUL");
    // SAFETY: `name` is NUL-terminated and outlives the call.
    let index = unsafe { libc::if_nametoindex(name.as_ptr()) };
    if index == 0 {
        Err(Error::last(format!("find the interface {name:?}")))
    } else {
        Ok(index)
    }
}

pub(crate) fn family(address: IpAddr) -> AddressFamily {
    if address.is_ipv4() {
        AddressFamily::Inet
    } else {
        AddressFamily::Inet6
    }
}

pub(crate) fn host_prefix(address: IpAddr) -> u8 {
    if address.is_ipv4() { 32 } else { 128 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sandbox::unshare_network;

    #[test]
    fn a_device_has_the_queueing_discipline_that_it_was_given() {
        let in_a_namespace = || {
            unshare_network().ok()?;
            let mut netlink = Netlink::open().expect("a socket in a namespace");
            netlink.add_veth("one", "two").ok()?;
            let index = netlink.link_index("one").expect("it was made");
            for name in ["pfifo", "pfifo_fast", "bfifo", "pfifo_fast"] {
                netlink.set_queueing_discipline(index, name).expect(name);
                assert_eq!(netlink.queueing_discipline(index).as_deref(), Some(name));
            }
            let refused = netlink.set_queueing_discipline(index, "no-such-discipline");
            assert!(refused.is_err());
            assert_eq!(
                netlink.queueing_discipline(index).as_deref(),
                Some("pfifo_fast")
            );
            assert_eq!(netlink.queueing_discipline(99_999), None);
            Some(())
        };
        // Runs in a separate thread, whose namespace ends with it.
        let done = std::thread::spawn(in_a_namespace).join().expect("no panic");
        if done.is_none() {
            println!("skipped: no right to make network namespaces and devices");
        }
    }
}

use crate::Error;
use netlink_sys::{Socket, SocketAddr, protocols::NETLINK_NETFILTER};
use std::io;
use std::net::IpAddr;

// linux/netfilter/nfnetlink.h and nf_tables.h.
const SUBSYSTEM: u16 = 10 << 8;
const BATCH_BEGIN: u16 = 0x10;
const BATCH_END: u16 = 0x11;
const NEW_TABLE: u16 = SUBSYSTEM;
const NEW_CHAIN: u16 = SUBSYSTEM | 3;
const NEW_RULE: u16 = SUBSYSTEM | 6;
const NESTED: u16 = 0x8000;
const REQUEST: u16 = 0x01;
const ACKNOWLEDGE: u16 = 0x04;
const CREATE: u16 = 0x400;
const APPEND: u16 = 0x800;
/// `NFT_TABLE_F_OWNER`: the table is removed when the socket that created it closes (Linux 5.12).
const TABLE_OF_SOCKET: u32 = 2;
const HOOK_POSTROUTING: u32 = 4;
/// `NF_IP_PRI_NAT_SRC`.
const PRIORITY_SOURCE: u32 = 100;

const TABLE: &str = "eyelevel";
const ANSWER_BYTES_MAX: usize = 8192;

/// Address translation for one network, in the network namespace in which it was created. It exists
/// as long as this value: the kernel removes it with the socket, however the process ends.
pub struct Masquerade {
    _socket: Socket,
}

impl Masquerade {
    /// Makes packets from the network of `first`, a /24 of IPv4 or a /64 of IPv6, leave this
    /// namespace with its own addresses. `name` distinguishes it from other labs'.
    ///
    /// # Errors
    ///
    /// Fails if the kernel has no nf_tables with masquerading.
    pub fn for_network(first: IpAddr, name: &str) -> Result<Self, Error> {
        let fail =
            |error| {
                Error::new(format!("translate the addresses of {first}'s network"), error).remedy(
                "the kernel needs nf_tables with NAT: modprobe nft_masq nft_chain_nat, Linux 5.12",
            )
            };
        let socket = open().map_err(fail)?;
        let table = format!("{TABLE}-{name}");
        let network = Network::for_network(first);
        let requests = [
            new_table(&table),
            new_chain(&table),
            new_rule(&table, &network),
        ];
        exchange(&socket, network.family, &requests).map_err(fail)?;
        Ok(Self { _socket: socket })
    }
}

fn open() -> io::Result<Socket> {
    let mut socket = Socket::new(NETLINK_NETFILTER)?;
    socket.bind_auto()?;
    socket.connect(&SocketAddr::new(0, 0))?;
    Ok(socket)
}

/// Sends one batch and waits for an answer to each of its requests.
fn exchange(socket: &Socket, family: u8, requests: &[Message]) -> io::Result<()> {
    let mut batch = frame(BATCH_BEGIN, REQUEST, 0, 0, 10, &[]);
    for (number, request) in requests.iter().enumerate() {
        let flags = REQUEST | ACKNOWLEDGE | CREATE | request.flags;
        let sequence = number as u32 + 1;
        batch.extend(frame(
            request.kind,
            flags,
            sequence,
            family,
            0,
            &request.body,
        ));
    }
    let last = requests.len() as u32 + 1;
    batch.extend(frame(BATCH_END, REQUEST, last, 0, 10, &[]));
    socket.send(&batch, 0)?;
    let mut answered = 0;
    let mut answer = vec![0; ANSWER_BYTES_MAX];
    while answered < requests.len() {
        let length = socket.recv(&mut &mut answer[..], 0)?;
        for error in errors(&answer[..length]) {
            answered += 1;
            if error != 0 {
                return Err(io::Error::from_raw_os_error(-error));
            }
        }
    }
    Ok(())
}

/// Returns the error numbers of the answers in a datagram, 0 or negative.
fn errors(mut datagram: &[u8]) -> Vec<i32> {
    let mut found = Vec::new();
    while let Some(length) = datagram.get(..4) {
        let length = u32::from_ne_bytes(length.try_into().expect("four bytes")) as usize;
        let Some(message) = datagram.get(..length).filter(|m| m.len() >= 20) else {
            break;
        };
        found.push(i32::from_ne_bytes(
            message[16..20].try_into().expect("four bytes"),
        ));
        datagram = datagram
            .get(length.next_multiple_of(4)..)
            .unwrap_or_default();
    }
    found
}

struct Message {
    kind: u16,
    flags: u16,
    body: Vec<u8>,
}

fn new_table(table: &str) -> Message {
    let body = [text(1, table), attribute(2, &TABLE_OF_SOCKET.to_be_bytes())].concat();
    Message {
        kind: NEW_TABLE,
        flags: 0,
        body,
    }
}

fn new_chain(table: &str) -> Message {
    let hook = [
        attribute(1, &HOOK_POSTROUTING.to_be_bytes()),
        attribute(2, &PRIORITY_SOURCE.to_be_bytes()),
    ]
    .concat();
    let body = [
        text(1, table),
        text(3, "out"),
        attribute(4 | NESTED, &hook),
        text(7, "nat"),
    ]
    .concat();
    Message {
        kind: NEW_CHAIN,
        flags: 0,
        body,
    }
}

/// The position of a packet's source address (RFC 791, section 3.1; RFC 8200, section 3), and the
/// network's first bytes.
struct Network {
    family: u8,
    source_at: u32,
    prefix: Vec<u8>,
}

impl Network {
    fn for_network(first: IpAddr) -> Self {
        match first {
            IpAddr::V4(v4) => Self {
                family: libc::AF_INET as u8,
                source_at: 12,
                prefix: v4.octets()[..3].to_vec(),
            },
            IpAddr::V6(v6) => Self {
                family: libc::AF_INET6 as u8,
                source_at: 8,
                prefix: v6.octets()[..8].to_vec(),
            },
        }
    }
}

/// Creates the rule `saddr NETWORK masquerade`.
fn new_rule(table: &str, network: &Network) -> Message {
    const REGISTER: u32 = 8; // NFT_REG32_00
    const NETWORK_HEADER: u32 = 1;
    let prefix_bytes = network.prefix.len() as u32;
    let load = [
        attribute(1, &REGISTER.to_be_bytes()),
        attribute(2, &NETWORK_HEADER.to_be_bytes()),
        attribute(3, &network.source_at.to_be_bytes()),
        attribute(4, &prefix_bytes.to_be_bytes()),
    ]
    .concat();
    let compare = [
        attribute(1, &REGISTER.to_be_bytes()),
        attribute(2, &0u32.to_be_bytes()),
        attribute(3 | NESTED, &attribute(1, &network.prefix)),
    ]
    .concat();
    let expressions = [
        expression("payload", &load),
        expression("cmp", &compare),
        expression("masq", &[]),
    ]
    .concat();
    let body = [
        text(1, table),
        text(2, "out"),
        attribute(4 | NESTED, &expressions),
    ]
    .concat();
    Message {
        kind: NEW_RULE,
        flags: APPEND,
        body,
    }
}

fn expression(name: &str, data: &[u8]) -> Vec<u8> {
    let content = [text(1, name), attribute(2 | NESTED, data)].concat();
    attribute(1 | NESTED, &content)
}

fn text(kind: u16, value: &str) -> Vec<u8> {
    attribute(kind, &[value.as_bytes(), b"\0"].concat())
}

/// Encodes a netlink attribute, padded to four bytes.
fn attribute(kind: u16, value: &[u8]) -> Vec<u8> {
    let mut bytes = ((value.len() + 4) as u16).to_ne_bytes().to_vec();
    bytes.extend(kind.to_ne_bytes());
    bytes.extend(value);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes
}

/// Encodes a netlink message with netfilter's common header.
fn frame(kind: u16, flags: u16, sequence: u32, family: u8, resource: u16, body: &[u8]) -> Vec<u8> {
    let mut bytes = (20 + body.len() as u32).to_ne_bytes().to_vec();
    bytes.extend(kind.to_ne_bytes());
    bytes.extend(flags.to_ne_bytes());
    bytes.extend(sequence.to_ne_bytes());
    bytes.extend(0u32.to_ne_bytes());
    bytes.extend([family, 0]);
    bytes.extend(resource.to_be_bytes());
    bytes.extend(body);
    bytes
}

use super::hosts_file::{HostsFile, loopback};
use super::{Answer, HttpsRecord, RecordType, parse, query};
use crate::{Failure, FailureClass, kernel};
use aws_lc_rs::rand;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, SocketAddrV6};
use std::os::fd::AsFd;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt, Interest};
use tokio::net::{TcpStream, UdpSocket};
use tokio::time::{Instant, timeout};

/// The time limit of one try; glibc's of five seconds would make one lost packet a failure of the
/// host.
const TRY_TIMEOUT: Duration = Duration::from_secs(2);
const TRIES: u32 = 3;
/// The most wrong answers on one socket before the try fails.
const STRAYS_MAX: usize = 16;
const ANSWER_BYTES_MAX: usize = 4096;
const RESOLV_CONF: &str = "/etc/resolv.conf";
const HOSTS_FILE: &str = "/etc/hosts";
const DNS_PORT: u16 = 53;

/// A resolver that looks names up in this machine's own files, then at recursive resolvers, one
/// after the other. It caches no answer: every lookup is sent.
#[derive(Clone, Debug)]
pub struct Resolver {
    servers: Arc<[SocketAddr]>,
    hosts: Arc<HostsFile>,
}

/// The result of a lookup of addresses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Resolved {
    /// The addresses in the resolver's order.
    pub addresses: Vec<IpAddr>,
    /// Time from the first query to the answer's arrival, lost tries included; `None` if no server
    /// was queried.
    pub took_us: Option<u64>,
    /// The targets of the name's aliases, in order; `None` if no server was queried.
    pub cnames: Option<Vec<String>>,
}

/// Parses the name servers of a configuration, in order; one with `%` has an interface.
fn name_servers(text: &str) -> Vec<SocketAddr> {
    let words = text.lines().filter_map(|line| {
        let mut words = line.split_ascii_whitespace();
        (words.next() == Some("nameserver"))
            .then(|| words.next())
            .flatten()
    });
    words.filter_map(name_server).collect()
}

fn name_server(word: &str) -> Option<SocketAddr> {
    let Some((address, interface)) = word.split_once('%') else {
        return Some(SocketAddr::new(word.parse().ok()?, DNS_PORT));
    };
    let scope = interface.parse().ok().or_else(|| {
        let file = format!("/sys/class/net/{interface}/ifindex");
        std::fs::read_to_string(file).ok()?.trim().parse().ok()
    })?;
    Some(SocketAddrV6::new(address.parse().ok()?, DNS_PORT, 0, scope).into())
}

impl Resolver {
    /// Creates a resolver of these servers alone, without a hosts file.
    pub fn with_servers(servers: &[SocketAddr]) -> Self {
        Self {
            servers: servers.into(),
            hosts: Arc::default(),
        }
    }

    /// Creates a resolver with this machine's configuration: its hosts file, then all its name
    /// servers, by default one on the machine itself (`resolv.conf(5)`).
    pub fn from_system() -> Self {
        let text = std::fs::read_to_string(RESOLV_CONF).unwrap_or_default();
        let mut servers = name_servers(&text);
        if servers.is_empty() {
            servers.push((Ipv4Addr::LOCALHOST, DNS_PORT).into());
        }
        Self {
            servers: servers.into(),
            hosts: Arc::new(HostsFile::read(Path::new(HOSTS_FILE))),
        }
    }

    /// Looks up the addresses of one family, lost tries included within `limit`.
    ///
    /// # Errors
    /// A class that begins with `dns`.
    pub async fn addresses(
        &self,
        name: &str,
        is_v6: bool,
        limit: Duration,
    ) -> Result<Resolved, Failure> {
        let none = |of: &str| {
            let record = if is_v6 { "AAAA" } else { "A" };
            let detail = format!("no {record} record for {name}{of}");
            Err(Failure::new(FailureClass::DnsNoAddress, detail))
        };
        if let Some(known) = self.local_addresses(name) {
            let addresses: Vec<_> = known.into_iter().filter(|a| a.is_ipv6() == is_v6).collect();
            if addresses.is_empty() {
                return none(" in the hosts file");
            }
            return Ok(Resolved {
                addresses,
                ..Resolved::default()
            });
        }
        let kind = if is_v6 {
            RecordType::Aaaa
        } else {
            RecordType::A
        };
        let (answer, took_us) = self.query_servers(name, kind, limit).await?;
        if answer.addresses.is_empty() {
            return none("");
        }
        Ok(Resolved {
            addresses: answer.addresses,
            took_us: Some(took_us),
            cnames: Some(answer.cnames),
        })
    }

    /// Returns the addresses that this machine has without a server.
    fn local_addresses(&self, name: &str) -> Option<Vec<IpAddr>> {
        loopback(name)
            .map(Vec::from)
            .or_else(|| self.hosts.addresses(name).map(Vec::from))
    }

    /// Looks up the HTTPS records, lost tries included within `limit`; this machine's own names
    /// have none.
    ///
    /// # Errors
    /// A class that begins with `dns`.
    pub async fn https(&self, name: &str, limit: Duration) -> Result<Vec<HttpsRecord>, Failure> {
        if self.local_addresses(name).is_some() {
            return Ok(Vec::new());
        }
        Ok(self
            .query_servers(name, RecordType::Https, limit)
            .await?
            .0
            .https)
    }

    async fn query_servers(
        &self,
        name: &str,
        kind: RecordType,
        limit: Duration,
    ) -> Result<(Answer, u64), Failure> {
        let bytes = query(random_id(), name, kind)
            .ok_or_else(|| Failure::new(FailureClass::DnsNoSuchName, "no name for DNS"))?;
        let began_ns = kernel::monotonic_ns();
        let deadline = Instant::now() + limit;
        let servers: Vec<_> = self.servers.iter().map(ToString::to_string).collect();
        let silent = format!("no answer from {}", servers.join(", "));
        let mut last = Failure::new(FailureClass::DnsTimeout, silent);
        for _ in 0..TRIES {
            let mut is_any_left = false;
            for server in self.servers.iter() {
                let remaining = deadline.saturating_duration_since(Instant::now());
                if remaining.is_zero() {
                    return Err(last);
                }
                let attempt = query_once(*server, &bytes, kind);
                match timeout(remaining.min(TRY_TIMEOUT), attempt).await {
                    Ok(Ok((answer, at_ns))) => match check_code(answer, name, *server) {
                        // Another server may answer what this one could not.
                        Err(failure) if failure.class == FailureClass::DnsRefused => last = failure,
                        check_code => {
                            let took_us = at_ns.saturating_sub(began_ns) / 1000;
                            return check_code.map(|answer| (answer, took_us));
                        }
                    },
                    Ok(Err(error)) => {
                        let detail = format!("{server}: {error}");
                        last = Failure::new(FailureClass::DnsRefused, detail);
                        is_any_left = true;
                    }
                    Err(_) => is_any_left = true,
                }
            }
            if !is_any_left {
                break;
            }
        }
        Err(last)
    }
}

async fn query_once(
    server: SocketAddr,
    query_bytes: &[u8],
    kind: RecordType,
) -> io::Result<(Answer, u64)> {
    let bound: SocketAddr = match server {
        SocketAddr::V4(_) => ([0; 4], 0).into(),
        SocketAddr::V6(_) => ([0_u16; 8], 0).into(),
    };
    let socket = UdpSocket::bind(bound).await?;
    socket.connect(server).await?;
    let _ = kernel::enable_timestamps(socket.as_fd());
    socket.send(query_bytes).await?;
    let mut buffer = [0; ANSWER_BYTES_MAX];
    for _ in 0..STRAYS_MAX {
        // A closed port is an error of the socket, which ends the wait for its answer.
        let received = socket
            .async_io(Interest::READABLE.add(Interest::ERROR), || {
                kernel::receive(socket.as_fd(), &mut buffer)
            })
            .await?;
        match parse(&buffer[..received.bytes], query_bytes, kind) {
            Some(answer) if answer.is_truncated => {
                return over_tcp(server, query_bytes, kind).await;
            }
            Some(answer) => return Ok((answer, received.at_ns)),
            None => {}
        }
    }
    Err(io::Error::other("only answers to other questions"))
}

/// Queries over TCP, with two bytes of length before each message (RFC 7766).
async fn over_tcp(
    server: SocketAddr,
    query_bytes: &[u8],
    kind: RecordType,
) -> io::Result<(Answer, u64)> {
    let mut stream = TcpStream::connect(server).await?;
    let length = (query_bytes.len() as u16).to_be_bytes();
    stream.write_all(&[&length, query_bytes].concat()).await?;
    let mut bytes = vec![0; usize::from(stream.read_u16().await?)];
    stream.read_exact(&mut bytes).await?;
    let answer =
        parse(&bytes, query_bytes, kind).ok_or_else(|| io::Error::other("no DNS answer"))?;
    Ok((answer, kernel::monotonic_ns()))
}

fn check_code(answer: Answer, name: &str, server: SocketAddr) -> Result<Answer, Failure> {
    match answer.code {
        0 => Ok(answer),
        3 => Err(Failure::new(
            FailureClass::DnsNoSuchName,
            format!("no such name: {name}"),
        )),
        code => Err(Failure::new(
            FailureClass::DnsRefused,
            format!("{server}: RCODE {code}"),
        )),
    }
}

/// Returns an unpredictable identifier, as RFC 5452, section 9.2, requires; no measurement depends
/// on it.
fn random_id() -> u16 {
    let mut bytes = [0; 2];
    // Fails only without a source of entropy, and then TLS has failed before.
    let _ = rand::fill(&mut bytes);
    u16::from_be_bytes(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Duration = Duration::from_secs(60);
    const NO_ERROR: u8 = 0;
    const SERVER_FAILURE: u8 = 2;
    const NO_SUCH_NAME: u8 = 3;

    /// Starts a server that answers every query with a code, or with an address if the code is 0.
    async fn server(code: u8) -> SocketAddr {
        let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let address = socket.local_addr().unwrap();
        tokio::spawn(async move {
            let mut buffer = [0; 512];
            loop {
                let (length, from) = socket.recv_from(&mut buffer).await.unwrap();
                let mut answer = buffer[..length].to_vec();
                // The fixed OPT record after the question is not repeated.
                answer.truncate(length - 11);
                (answer[2], answer[3], answer[11]) = (0x81, 0x80 | code, 0);
                if code == NO_ERROR {
                    answer[7] = 1;
                    answer.extend([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 9, 0, 4, 192, 0, 2, 1]);
                }
                socket.send_to(&answer, from).await.unwrap();
            }
        });
        address
    }

    async fn look_up(servers: &[SocketAddr]) -> Result<Resolved, Failure> {
        let resolver = Resolver::with_servers(servers);
        resolver.addresses("a.test", false, LIMIT).await
    }

    async fn closed() -> SocketAddr {
        let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        socket.local_addr().unwrap()
    }

    #[test]
    fn every_name_server_is_read() {
        let text = "# nameserver 192.0.2.9\nnameserver 192.0.2.1 # a\n nameserver\t2001:db8::1\n\
                    search a.test\nnameserver fe80::1%7\nnameservers 192.0.2.8\nnameserver x\n";
        let found: Vec<_> = name_servers(text).iter().map(ToString::to_string).collect();
        let expected = ["192.0.2.1:53", "[2001:db8::1]:53", "[fe80::1%7]:53"];
        assert_eq!(found, expected);
    }

    #[tokio::test]
    async fn the_next_server_answers_what_the_first_could_not() {
        let good = server(NO_ERROR).await;
        for first in [closed().await, server(SERVER_FAILURE).await] {
            let found = look_up(&[first, good]).await.unwrap();
            assert_eq!(found.addresses, [IpAddr::from([192, 0, 2, 1])]);
            assert!(found.took_us.is_some() && found.cnames.is_some());
        }
        let absent = server(NO_SUCH_NAME).await;
        let found = look_up(&[absent, good]).await.unwrap_err();
        assert_eq!(found.class, FailureClass::DnsNoSuchName);
        let failing = server(SERVER_FAILURE).await;
        let found = look_up(&[failing]).await.unwrap_err();
        assert_eq!(found.detail, format!("{failing}: RCODE 2"));
    }

    #[tokio::test]
    async fn local_names_query_no_server() {
        let resolver = Resolver {
            servers: [closed().await].into(),
            hosts: Arc::new(HostsFile::parse("192.0.2.7 a.test\n")),
        };
        let found = resolver.addresses("A.test", false, LIMIT).await.unwrap();
        assert_eq!(found.addresses, [IpAddr::from([192, 0, 2, 7])]);
        assert_eq!((found.took_us, found.cnames), (None, None));
        let absent = resolver.addresses("a.test", true, LIMIT).await.unwrap_err();
        assert_eq!(absent.class, FailureClass::DnsNoAddress);
        let local = resolver
            .addresses("tags.localhost", true, LIMIT)
            .await
            .unwrap();
        assert!(local.addresses[0].is_loopback());
        assert_eq!(resolver.https("tags.localhost", LIMIT).await.unwrap(), []);
        let other = resolver
            .addresses("b.test", false, LIMIT)
            .await
            .unwrap_err();
        assert_eq!(other.class, FailureClass::DnsRefused);
    }
}

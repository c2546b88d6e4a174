//! A DNS forwarder for a network without a route to the caller's resolver: queries on its loopback
//! are forwarded unchanged to that resolver from the caller's own network.

use crate::Error;
use crate::emit::{ErrorEvent, emit};
use crate::threads::runtime;
use eyelevel_netns::{RealtimePriority, in_network_namespace, request_realtime};
use std::fs::{self, File};
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, UdpSocket};
use std::sync::Arc;
use std::thread;
use std::time::Duration;
use tokio::net::{self, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::timeout;

/// The address of the forwarder on the loopback.
pub const FORWARDER: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 53);
const PORT: u16 = 53;
/// The file in which systemd-resolved lists the real servers, while /etc/resolv.conf names itself.
const RESOLVED: &str = "/run/systemd/resolve/resolv.conf";
/// The most name servers, as in the C library.
const NAMESERVERS_MAX: usize = 3;
/// The wait for an answer, as in the C library (resolv.conf(5)).
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);
/// The most concurrent queries: a page of hundreds of hosts sends two for each, and repeats them
/// after a timeout.
const QUERIES_MAX: usize = 1024;
const CONNECTIONS_MAX: usize = 64;
/// The largest datagram.
const MESSAGE_BYTES_MAX: usize = 65_535;

/// Splits the caller's `resolv.conf` into the text for the inside, without name servers, and the
/// name servers.
pub fn split(resolv_conf: &str) -> (String, Vec<SocketAddr>) {
    let mut inside = format!("nameserver {}\n", FORWARDER.ip());
    let mut servers = Vec::new();
    for line in resolv_conf.lines() {
        match line.split_once(char::is_whitespace) {
            Some(("nameserver", rest)) => {
                let address = rest.trim().split('%').next().unwrap_or_default();
                servers.extend(address.parse().map(|ip: IpAddr| SocketAddr::new(ip, PORT)));
            }
            Some(("search" | "domain" | "options", _)) => {
                inside.push_str(line);
                inside.push('\n');
            }
            _ => (),
        }
    }
    if servers.is_empty() {
        // The default of resolv.conf(5) for a file that names none.
        servers.push(FORWARDER);
    }
    servers.truncate(NAMESERVERS_MAX);
    (inside, servers)
}

/// Returns a lab's `resolv.conf` and the caller's name servers that are only reachable on its
/// loopback.
pub fn resolver_config(in_a_lab: bool) -> (String, Vec<SocketAddr>) {
    let own = fs::read_to_string("/etc/resolv.conf").unwrap_or_default();
    choose_servers(own, in_a_lab, || fs::read_to_string(RESOLVED).ok())
}

/// Selects the name servers to forward to, because the caller's loopback is not reachable inside a
/// lab. An outer lab's own resolver is forwarded to: its names bypass all paths, as in that lab
/// itself. A machine's local resolver is replaced by the servers behind it (`resolved`), whose
/// answers pass the path like all packets.
fn choose_servers(
    own: String,
    in_a_lab: bool,
    resolved: impl FnOnce() -> Option<String>,
) -> (String, Vec<SocketAddr>) {
    let (inside, servers) = split(&own);
    let on_loopback = servers.iter().all(|server| server.ip().is_loopback());
    match (on_loopback, in_a_lab) {
        (true, true) => (inside, servers),
        (true, false) => (resolved().unwrap_or(own), Vec::new()),
        (false, _) => (own, Vec::new()),
    }
}

/// The sockets on the loopback.
pub struct Forwarder {
    datagrams: UdpSocket,
    streams: TcpListener,
}

impl Forwarder {
    /// Listens in the calling thread's network namespace.
    pub fn listen() -> io::Result<Self> {
        Ok(Self {
            datagrams: UdpSocket::bind(FORWARDER)?,
            streams: TcpListener::bind(FORWARDER)?,
        })
    }

    /// Forwards queries until dropped; runs in a runtime whose threads are in the caller's network.
    pub async fn serve(self, servers: Vec<SocketAddr>) -> io::Result<()> {
        self.datagrams.set_nonblocking(true)?;
        self.streams.set_nonblocking(true)?;
        let datagrams = net::UdpSocket::from_std(self.datagrams)?;
        let streams = net::TcpListener::from_std(self.streams)?;
        let servers: Arc<[SocketAddr]> = servers.into();
        tokio::join!(
            answer_datagrams(datagrams.into(), servers.clone()),
            answer_streams(streams, servers)
        );
        Ok(())
    }
}

/// Forwards queries on the calling thread's loopback to servers of another network, until the
/// process ends.
///
/// # Errors
///
/// Fails if the port on that loopback is taken.
pub fn forward(network: File, servers: Vec<SocketAddr>, realtime: bool) -> Result<(), Error> {
    let failed = |error: io::Error| Error::Thread {
        part: "resolver",
        reason: error.to_string(),
    };
    let forwarder = Forwarder::listen().map_err(failed)?;
    let runtime = runtime()?;
    thread::spawn(move || {
        let _ = realtime && request_realtime(RealtimePriority::Endpoint);
        let served =
            in_network_namespace(&network, || Ok(runtime.block_on(forwarder.serve(servers))));
        let served = served.map_err(Error::from);
        if let Err(error) = served.and_then(|served| served.map_err(failed)) {
            emit(&ErrorEvent {
                message: error.to_string(),
            });
        }
    });
    Ok(())
}

async fn answer_datagrams(socket: Arc<net::UdpSocket>, servers: Arc<[SocketAddr]>) {
    let places = Arc::new(Semaphore::new(QUERIES_MAX));
    let mut buffer = vec![0; MESSAGE_BYTES_MAX];
    loop {
        let Ok((length, sender)) = socket.recv_from(&mut buffer).await else {
            continue;
        };
        // A query beyond the limit is dropped, as by any resolver; the client retries.
        let Ok(place) = places.clone().try_acquire_owned() else {
            continue;
        };
        let (question, socket, servers) =
            (buffer[..length].to_vec(), socket.clone(), servers.clone());
        tokio::spawn(async move {
            for server in &*servers {
                let answer = timeout(ANSWER_TIMEOUT, send_query(*server, &question)).await;
                if let Ok(Ok(answer)) = answer {
                    let _ = socket.send_to(&answer, sender).await;
                    break;
                }
            }
            drop(place);
        });
    }
}

/// Sends a query from a separate port, so that only a host that saw the query can answer.
async fn send_query(server: SocketAddr, question: &[u8]) -> io::Result<Vec<u8>> {
    let any: IpAddr = match server {
        SocketAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        SocketAddr::V6(_) => std::net::Ipv6Addr::UNSPECIFIED.into(),
    };
    let socket = net::UdpSocket::bind((any, 0)).await?;
    socket.connect(server).await?;
    socket.send(question).await?;
    let mut answer = vec![0; MESSAGE_BYTES_MAX];
    let length = socket.recv(&mut answer).await?;
    answer.truncate(length);
    Ok(answer)
}

async fn answer_streams(listener: net::TcpListener, servers: Arc<[SocketAddr]>) {
    let places = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    loop {
        let Ok(place) = places.clone().acquire_owned().await else {
            return;
        };
        let Ok((mut asking, _)) = listener.accept().await else {
            continue;
        };
        let servers = servers.clone();
        tokio::spawn(async move {
            for server in &*servers {
                if let Ok(Ok(mut answering)) =
                    timeout(ANSWER_TIMEOUT, TcpStream::connect(*server)).await
                {
                    let both = tokio::io::copy_bidirectional(&mut asking, &mut answering);
                    let _ = timeout(2 * ANSWER_TIMEOUT, both).await;
                    break;
                }
            }
            drop(place);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_name_servers_are_replaced() {
        let (inside, servers) = split(
            "# a comment\nnameserver 10.0.0.53\nsearch lan example\nnameserver fe80::1%eth0\n\
             options ndots:2\nnameserver 127.0.0.53\nnameserver 9.9.9.9\nnameserver x\n",
        );
        assert_eq!(
            inside,
            "nameserver 127.0.0.1\nsearch lan example\noptions ndots:2\n"
        );
        let expected = ["10.0.0.53:53", "[fe80::1]:53", "127.0.0.53:53"];
        assert_eq!(servers, expected.map(|each| each.parse().unwrap()));
        assert_eq!(split("").1, [FORWARDER]);
    }

    #[test]
    fn queries_go_to_a_labs_resolver_or_to_those_behind_a_machines() {
        let behind = || Some("nameserver 9.9.9.9\n".to_owned());
        let own = |address| format!("nameserver {address}\noptions ndots:2\n");
        let in_a_lab = choose_servers(own("127.0.0.53"), true, behind);
        let place = "127.0.0.53:53".parse().unwrap();
        assert_eq!(in_a_lab, (own("127.0.0.1"), vec![place]));
        let outside = choose_servers(own("127.0.0.53"), false, behind);
        assert_eq!(outside, ("nameserver 9.9.9.9\n".to_owned(), vec![]));
        for in_a_lab in [true, false] {
            let found = choose_servers(own("10.0.0.53"), in_a_lab, behind);
            assert_eq!(found, (own("10.0.0.53"), vec![]));
        }
    }

    #[test]
    fn queries_are_forwarded_unchanged_to_the_first_server_that_answers() {
        use std::io::{Read, Write};
        // Each server returns the query reversed; the first of the two servers is down.
        let any = SocketAddr::new(FORWARDER.ip(), 0);
        let datagrams = UdpSocket::bind(any).unwrap();
        let there = datagrams.local_addr().unwrap();
        let streams = TcpListener::bind(there).unwrap();
        let gone = UdpSocket::bind(any).unwrap().local_addr().unwrap();
        thread::spawn(move || {
            let mut question = [0; 100];
            while let Ok((length, sender)) = datagrams.recv_from(&mut question) {
                question[..length].reverse();
                datagrams.send_to(&question[..length], sender).unwrap();
            }
        });
        thread::spawn(move || {
            let (mut stream, _) = streams.accept().unwrap();
            let mut question = [0; 3];
            stream.read_exact(&mut question).unwrap();
            question.reverse();
            stream.write_all(&question).unwrap();
        });
        let forwarder = Forwarder {
            datagrams: UdpSocket::bind(any).unwrap(),
            streams: TcpListener::bind(any).unwrap(),
        };
        let by_udp = forwarder.datagrams.local_addr().unwrap();
        let by_tcp = forwarder.streams.local_addr().unwrap();
        thread::spawn(move || {
            let runtime = runtime().unwrap();
            runtime
                .block_on(forwarder.serve(vec![gone, there]))
                .unwrap();
        });
        let mut answer = [0; 100];
        let client = UdpSocket::bind(any).unwrap();
        client
            .set_read_timeout(Some(Duration::from_secs(60)))
            .unwrap();
        for question in [b"abc", b"xyz"] {
            client.send_to(question, by_udp).unwrap();
            let length = client.recv(&mut answer).unwrap();
            let turned: Vec<u8> = question.iter().rev().copied().collect();
            assert_eq!(answer[..length], turned);
        }
        let mut stream = std::net::TcpStream::connect(by_tcp).unwrap();
        stream.write_all(b"tcp").unwrap();
        let mut answer = [0; 3];
        stream.read_exact(&mut answer).unwrap();
        assert_eq!(&answer, b"pct");
    }
}

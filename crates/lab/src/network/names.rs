//! Names for a network without a route to the caller's resolver: what is asked on its loopback is
//! passed on to that resolver, byte for byte, from the caller's own network.

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

/// Where the loopback's side listens.
pub const PLACE: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 53);
const PORT: u16 = 53;
/// Where systemd-resolved names the real servers, while /etc/resolv.conf names itself.
const RESOLVED: &str = "/run/systemd/resolve/resolv.conf";
/// As many as the C library asks.
const NAMESERVERS_MAX: usize = 3;
/// As long as the C library waits for one of them (resolv.conf(5)).
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);
/// A page of hundreds of hosts asks twice for each, and again after a timeout.
const QUESTIONS_MAX: usize = 1024;
const TCP_MAX: usize = 64;
/// The largest datagram.
const MESSAGE_BYTES_MAX: usize = 65_535;

/// What of the caller's `resolv.conf` holds inside: all but who answers, and those who do.
pub fn split(resolv_conf: &str) -> (String, Vec<SocketAddr>) {
    let mut inside = format!("nameserver {}\n", PLACE.ip());
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
        // What resolv.conf(5) says of a file that names none.
        servers.push(PLACE);
    }
    servers.truncate(NAMESERVERS_MAX);
    (inside, servers)
}

/// What a lab's `resolv.conf` says, and to whom on the caller's loopback it leads.
pub fn around(in_a_lab: bool) -> (String, Vec<SocketAddr>) {
    let own = fs::read_to_string("/etc/resolv.conf").unwrap_or_default();
    chosen(own, in_a_lab, || fs::read_to_string(RESOLVED).ok())
}

/// The caller's loopback is not there inside a lab. A lab's own resolver is passed on to: its names
/// meet none of the paths inside, as they meet none in that lab itself. That of a machine has others
/// behind it (`resolved`), whose answers come the way of all packets.
fn chosen(
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

/// Sockets of the loopback's side.
pub struct Asked {
    datagrams: UdpSocket,
    streams: TcpListener,
}

impl Asked {
    /// Listens in the calling thread's network namespace.
    pub fn listen() -> io::Result<Self> {
        Ok(Self {
            datagrams: UdpSocket::bind(PLACE)?,
            streams: TcpListener::bind(PLACE)?,
        })
    }

    /// Passes questions on until it is dropped; in a runtime whose threads stand in the caller's
    /// network.
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

/// Passes what is asked on the calling thread's loopback on to servers of another network, until the
/// process ends.
///
/// # Errors
/// Where somebody else answers on that loopback.
pub fn pass_on(network: File, servers: Vec<SocketAddr>, realtime: bool) -> Result<(), Error> {
    let failed = |error: io::Error| Error::Thread {
        part: "resolver",
        reason: error.to_string(),
    };
    let asked = Asked::listen().map_err(failed)?;
    let runtime = runtime()?;
    thread::spawn(move || {
        let _ = realtime && request_realtime(RealtimePriority::Endpoint);
        let served = in_network_namespace(&network, || Ok(runtime.block_on(asked.serve(servers))));
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
    let places = Arc::new(Semaphore::new(QUESTIONS_MAX));
    let mut buffer = vec![0; MESSAGE_BYTES_MAX];
    loop {
        let Ok((length, sender)) = socket.recv_from(&mut buffer).await else {
            continue;
        };
        // One too many goes unanswered, as at any resolver; who asked asks again.
        let Ok(place) = places.clone().try_acquire_owned() else {
            continue;
        };
        let (question, socket, servers) =
            (buffer[..length].to_vec(), socket.clone(), servers.clone());
        tokio::spawn(async move {
            for server in &*servers {
                let asked = timeout(ANSWER_TIMEOUT, ask(*server, &question)).await;
                if let Ok(Ok(answer)) = asked {
                    let _ = socket.send_to(&answer, sender).await;
                    break;
                }
            }
            drop(place);
        });
    }
}

/// From a port of its own, so that nobody who did not see the question can answer it.
async fn ask(server: SocketAddr, question: &[u8]) -> io::Result<Vec<u8>> {
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
    let places = Arc::new(Semaphore::new(TCP_MAX));
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
    fn who_answers_is_replaced_and_all_else_stays() {
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
        assert_eq!(split("").1, [PLACE]);
    }

    #[test]
    fn a_labs_own_resolver_is_passed_on_to_and_a_machines_has_others_behind_it() {
        let behind = || Some("nameserver 9.9.9.9\n".to_owned());
        let own = |address| format!("nameserver {address}\noptions ndots:2\n");
        let in_a_lab = chosen(own("127.0.0.53"), true, behind);
        let place = "127.0.0.53:53".parse().unwrap();
        assert_eq!(in_a_lab, (own("127.0.0.1"), vec![place]));
        let outside = chosen(own("127.0.0.53"), false, behind);
        assert_eq!(outside, ("nameserver 9.9.9.9\n".to_owned(), vec![]));
        for in_a_lab in [true, false] {
            let found = chosen(own("10.0.0.53"), in_a_lab, behind);
            assert_eq!(found, (own("10.0.0.53"), vec![]));
        }
    }

    #[test]
    fn questions_are_passed_on_as_they_are_to_the_first_that_answers() {
        use std::io::{Read, Write};
        // Each answers with the question turned around; the first of the two servers is not there.
        let any = SocketAddr::new(PLACE.ip(), 0);
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
        let asked = Asked {
            datagrams: UdpSocket::bind(any).unwrap(),
            streams: TcpListener::bind(any).unwrap(),
        };
        let by_udp = asked.datagrams.local_addr().unwrap();
        let by_tcp = asked.streams.local_addr().unwrap();
        thread::spawn(move || {
            let runtime = runtime().unwrap();
            runtime.block_on(asked.serve(vec![gone, there])).unwrap();
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

use super::{Answer, HttpsRecord, RecordType, parse, query};
use crate::{Failure, FailureClass, kernel};
use aws_lc_rs::rand;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::AsFd;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt, Interest};
use tokio::net::{TcpStream, UdpSocket};
use tokio::time::{Instant, timeout};

/// glibc's: five seconds would make one lost packet a failure of the host.
const TRY_TIMEOUT: Duration = Duration::from_secs(2);
const TRIES: u32 = 3;
/// Wrong answers of one socket before the try is given up.
const STRAYS_MAX: usize = 16;
const ANSWER_BYTES_MAX: usize = 4096;
const RESOLV_CONF: &str = "/etc/resolv.conf";

/// Asks one recursive resolver. It keeps nothing: every lookup goes out.
#[derive(Clone, Copy, Debug)]
pub struct Resolver(pub SocketAddr);

/// What a lookup of addresses gave.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Resolved {
    /// In the resolver's order.
    pub addresses: Vec<IpAddr>,
    /// From the query to the answer's arrival, lost tries included.
    pub took_us: u64,
    /// The names that the one asked for stands for, in order.
    pub cnames: Vec<String>,
}

/// The first name server of this machine's configuration.
pub fn default_resolver() -> Option<SocketAddr> {
    let text = std::fs::read_to_string(RESOLV_CONF).ok()?;
    text.lines()
        .filter_map(|line| line.strip_prefix("nameserver"))
        .find_map(|rest| rest.trim().parse::<IpAddr>().ok())
        .map(|address| SocketAddr::new(address, 53))
}

impl Resolver {
    /// The addresses of one family, lost tries included within `limit`.
    ///
    /// # Errors
    /// A class that begins with `dns`.
    pub async fn addresses(
        &self,
        name: &str,
        is_v6: bool,
        limit: Duration,
    ) -> Result<Resolved, Failure> {
        let kind = if is_v6 {
            RecordType::Aaaa
        } else {
            RecordType::A
        };
        let (answer, took_us) = self.ask(name, kind, limit).await?;
        if answer.addresses.is_empty() {
            let record = if is_v6 { "AAAA" } else { "A" };
            let detail = format!("no {record} record for {name}");
            return Err(Failure::new(FailureClass::DnsNoAddress, detail));
        }
        Ok(Resolved {
            addresses: answer.addresses,
            took_us,
            cnames: answer.cnames,
        })
    }

    /// The HTTPS records, lost tries included within `limit`.
    ///
    /// # Errors
    /// A class that begins with `dns`.
    pub async fn https(&self, name: &str, limit: Duration) -> Result<Vec<HttpsRecord>, Failure> {
        Ok(self.ask(name, RecordType::Https, limit).await?.0.https)
    }

    async fn ask(
        &self,
        name: &str,
        kind: RecordType,
        limit: Duration,
    ) -> Result<(Answer, u64), Failure> {
        let began_ns = kernel::monotonic_ns();
        let deadline = Instant::now() + limit;
        let mut last = Failure::new(FailureClass::DnsTimeout, format!("{} is silent", self.0));
        for _ in 0..TRIES {
            let remaining = deadline.saturating_duration_since(Instant::now());
            if remaining.is_zero() {
                break;
            }
            let bytes = query(random_id(), name, kind)
                .ok_or_else(|| Failure::new(FailureClass::DnsNoSuchName, "no name for DNS"))?;
            match timeout(remaining.min(TRY_TIMEOUT), self.once(&bytes, kind)).await {
                Ok(Ok((answer, at_ns))) => {
                    let took_us = at_ns.saturating_sub(began_ns) / 1000;
                    return judged(answer, name).map(|answer| (answer, took_us));
                }
                Ok(Err(error)) => last = Failure::new(FailureClass::DnsRefused, error),
                Err(_) => {}
            }
        }
        Err(last)
    }

    async fn once(&self, asked: &[u8], kind: RecordType) -> io::Result<(Answer, u64)> {
        let bound: SocketAddr = match self.0 {
            SocketAddr::V4(_) => ([0; 4], 0).into(),
            SocketAddr::V6(_) => ([0_u16; 8], 0).into(),
        };
        let socket = UdpSocket::bind(bound).await?;
        socket.connect(self.0).await?;
        let _ = kernel::ask_for_stamps(socket.as_fd());
        socket.send(asked).await?;
        let mut buffer = [0; ANSWER_BYTES_MAX];
        for _ in 0..STRAYS_MAX {
            let received = socket
                .async_io(Interest::READABLE, || {
                    kernel::receive(socket.as_fd(), &mut buffer)
                })
                .await?;
            match parse(&buffer[..received.bytes], asked, kind) {
                Some(answer) if answer.is_truncated => return self.over_tcp(asked, kind).await,
                Some(answer) => return Ok((answer, received.at_ns)),
                None => {}
            }
        }
        Err(io::Error::other("only answers to other questions"))
    }

    /// RFC 7766: two bytes of length before each message.
    async fn over_tcp(&self, asked: &[u8], kind: RecordType) -> io::Result<(Answer, u64)> {
        let mut stream = TcpStream::connect(self.0).await?;
        let length = (asked.len() as u16).to_be_bytes();
        stream.write_all(&[&length, asked].concat()).await?;
        let mut bytes = vec![0; usize::from(stream.read_u16().await?)];
        stream.read_exact(&mut bytes).await?;
        let answer = parse(&bytes, asked, kind).ok_or_else(|| io::Error::other("no DNS answer"))?;
        Ok((answer, kernel::monotonic_ns()))
    }
}

fn judged(answer: Answer, name: &str) -> Result<Answer, Failure> {
    match answer.code {
        0 => Ok(answer),
        3 => Err(Failure::new(
            FailureClass::DnsNoSuchName,
            format!("no such name: {name}"),
        )),
        code => Err(Failure::new(
            FailureClass::DnsRefused,
            format!("RCODE {code}"),
        )),
    }
}

/// Unpredictable, as RFC 5452, section 9.2, wants it; no measurement depends on it.
fn random_id() -> u16 {
    let mut bytes = [0; 2];
    // Fails without a source of entropy only, and then TLS has failed before.
    let _ = rand::fill(&mut bytes);
    u16::from_be_bytes(bytes)
}

use super::answer::{Subject, answer_and_subject};
use super::{MESSAGE_BYTES_MAX, Table};
use crate::ReplayError;
use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::net::UdpSocket;

/// The largest number of distinct unknown names counted by name; a browser queries a dozen.
const UNKNOWN_NAMES_MAX: usize = 1000;
/// The pause after a socket error, so that a persistent one does not cause a busy loop.
const ERROR_REST_MS: u64 = 10;

/// The queries received so far.
#[derive(Clone, Debug, Default)]
pub struct DnsCounts {
    /// Queries for recorded names, of any type.
    pub known: u64,
    /// Queries for other names, of any type.
    pub unknown: u64,
    /// Messages that could not be parsed.
    pub malformed: u64,
    /// The number of queries for each unknown name; the first thousand names.
    pub unknown_names: BTreeMap<String, u64>,
}

/// A resolver on one UDP socket.
#[derive(Debug)]
pub struct Responder {
    socket: UdpSocket,
    table: Arc<Table>,
    counts: Arc<Mutex<DnsCounts>>,
}

impl Responder {
    /// Binds the socket, in the calling thread's network namespace and runtime.
    ///
    /// # Errors
    /// [`ReplayError::Socket`] when the address cannot be bound.
    pub async fn bind(address: SocketAddr, table: Table) -> Result<Self, ReplayError> {
        let socket = UdpSocket::bind(address)
            .await
            .map_err(ReplayError::socket("binding the resolver", address))?;
        Ok(Self {
            socket,
            table: Arc::new(table),
            counts: Arc::default(),
        })
    }

    /// Returns the bound address; the kernel chooses the port if 0 was requested.
    pub fn local_address(&self) -> Option<SocketAddr> {
        self.socket.local_addr().ok()
    }

    /// Returns a function that reads the counts while [`Responder::run`] runs.
    pub fn counts(&self) -> impl Fn() -> DnsCounts + Send + 'static {
        let counts = self.counts.clone();
        move || {
            counts
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .clone()
        }
    }

    /// Answers queries until it is dropped.
    pub async fn run(self) {
        let mut buffer = [0; MESSAGE_BYTES_MAX];
        loop {
            let Ok((length, from)) = self.socket.recv_from(&mut buffer).await else {
                // An ICMP error of an earlier answer is reported here; the next query is served.
                tokio::time::sleep(std::time::Duration::from_millis(ERROR_REST_MS)).await;
                continue;
            };
            let (answer, subject) = answer_and_subject(&buffer[..length], &self.table);
            self.count(subject);
            if let Some(answer) = answer {
                let _ = self.socket.send_to(&answer, from).await;
            }
        }
    }

    fn count(&self, subject: Subject) {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        match subject {
            Subject::Known => counts.known += 1,
            Subject::Malformed => counts.malformed += 1,
            Subject::Unknown(name) => {
                counts.unknown += 1;
                let room = counts.unknown_names.len() < UNKNOWN_NAMES_MAX;
                if room || counts.unknown_names.contains_key(&name) {
                    *counts.unknown_names.entry(name).or_default() += 1;
                }
            }
        }
    }
}

/// Returns the table of a site's origins: each host with the addresses where the lab serves it.
pub fn table<'a>(origins: impl IntoIterator<Item = (&'a str, IpAddr)>) -> Table {
    let mut table = Table::new();
    for (host, address) in origins {
        let addresses = table.entry(host.to_ascii_lowercase()).or_default();
        if !addresses.contains(&address) {
            addresses.push(address);
        }
    }
    table
}

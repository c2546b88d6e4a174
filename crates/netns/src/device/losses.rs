//! Packets that a namespace lost outside the emulated path, from the kernel's counters: full queues
//! of its device and of its sockets.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Seek};

/// The number of lost packets by source.
pub type Lost = BTreeMap<&'static str, u64>;

/// The sources: name, file below `/proc/net`, and the counters to add up.
const SOURCES: [(&str, Table, &[&str]); 7] = [
    (
        "udp_receive_buffer",
        Table::Snmp,
        &["Udp:RcvbufErrors", "Udp:MemErrors"],
    ),
    (
        "udp_receive_buffer",
        Table::Snmp6,
        &["Udp6RcvbufErrors", "Udp6MemErrors"],
    ),
    ("tcp_backlog", Table::Netstat, &["TcpExt:TCPBacklogDrop"]),
    (
        "tcp_receive_buffer",
        Table::Netstat,
        &[
            "TcpExt:TCPRcvQDrop",
            "TcpExt:RcvPruned",
            "TcpExt:OfoPruned",
            "TcpExt:TCPZeroWindowDrop",
        ],
    ),
    ("tcp_accept_queue", Table::Netstat, &["TcpExt:ListenDrops"]),
    ("memory", Table::Netstat, &["TcpExt:PFMemallocDrop"]),
    ("device", Table::Dev, &[]),
];
/// The position of transmit drops among a device's counters in `/proc/net/dev`: packets that its
/// namespace sent to it.
const DEV_TRANSMIT_DROPPED: usize = 11;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Table {
    Dev,
    Snmp,
    Snmp6,
    Netstat,
}

/// The counters of one namespace, readable from any other.
pub(crate) struct Losses {
    files: Vec<(Table, File)>,
    devices: Vec<String>,
}

impl Losses {
    /// Opens the counters of the calling thread's network namespace and of some devices in it.
    pub(crate) fn open(devices: Vec<String>) -> io::Result<Self> {
        let mut files = Vec::new();
        for (table, name) in [
            (Table::Dev, "dev"),
            (Table::Snmp, "snmp"),
            (Table::Netstat, "netstat"),
        ] {
            files.push((table, File::open(format!("/proc/thread-self/net/{name}"))?));
        }
        // Missing if the kernel has no IPv6.
        if let Ok(file) = File::open("/proc/thread-self/net/snmp6") {
            files.push((Table::Snmp6, file));
        }
        Ok(Self { files, devices })
    }

    /// Returns the losses since the namespace was created, with every source.
    pub(crate) fn read(&mut self) -> io::Result<Lost> {
        let mut lost: Lost = SOURCES.iter().map(|(name, _, _)| (*name, 0)).collect();
        for (table, file) in &mut self.files {
            let mut text = String::new();
            file.rewind()?;
            file.read_to_string(&mut text)?;
            add(&mut lost, *table, &text, &self.devices);
        }
        Ok(lost)
    }
}

fn add(lost: &mut Lost, table: Table, text: &str, devices: &[String]) {
    for (name, _, counters) in SOURCES.iter().filter(|(_, of, _)| *of == table) {
        let count: u64 = match table {
            Table::Dev => devices.iter().map(|name| read_dropped(text, name)).sum(),
            Table::Snmp6 => counters.iter().map(|name| read_listed(text, name)).sum(),
            Table::Snmp | Table::Netstat => {
                counters.iter().map(|name| read_paired(text, name)).sum()
            }
        };
        *lost.entry(name).or_default() += count;
    }
}

/// Reads a device's drops from a table of devices.
fn read_dropped(text: &str, device: &str) -> u64 {
    text.lines()
        .filter_map(|line| line.split_once(':'))
        .filter(|(name, _)| name.trim() == device)
        .find_map(|(_, counters)| counters.split_whitespace().nth(DEV_TRANSMIT_DROPPED))
        .map_or(0, parse_counter)
}

/// Reads a counter from lines with a name and a number each.
fn read_listed(text: &str, name: &str) -> u64 {
    text.lines()
        .filter_map(|line| line.split_once(char::is_whitespace))
        .find(|(found, _)| *found == name)
        .map_or(0, |(_, value)| parse_counter(value))
}

/// Reads a counter from pairs of lines, one with names and one with numbers, after the same word.
fn read_paired(text: &str, name: &str) -> u64 {
    let (word, counter) = name.split_once(':').expect("a word and a name");
    let mut lines = text
        .lines()
        .filter_map(|line| line.split_once(": "))
        .filter(|(found, _)| *found == word);
    let (Some((_, names)), Some((_, values))) = (lines.next(), lines.next()) else {
        return 0;
    };
    let mut counters = names.split_whitespace().zip(values.split_whitespace());
    counters
        .find(|(found, _)| *found == counter)
        .map_or(0, |(_, value)| parse_counter(value))
}

/// Parses a counter; a missing or invalid one counts as 0.
fn parse_counter(text: &str) -> u64 {
    text.trim().parse().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEV: &str = "\
Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
    lo:     100      2    0    9    0     0          0         0      100       2    0    8    0     0       0          0
  lab0:     100      2    0    7    0     0          0         0      100       2    0    5    0     0       0          0
lab0-port: 100       2    0    0    0     0          0         0      100       2    0    6    0     0       0          0
";
    const SNMP: &str = "\
Ip: Forwarding DefaultTTL InDiscards
Ip: 2 64 4
Udp: InDatagrams InErrors RcvbufErrors SndbufErrors MemErrors
Udp: 6467 114 11 99 2
UdpLite: InDatagrams RcvbufErrors
UdpLite: 50 60
";
    const SNMP6: &str =
        "Udp6InErrors                    \t7\nUdp6RcvbufErrors                \t20\n";
    const NETSTAT: &str = "\
TcpExt: SyncookiesSent RcvPruned OfoPruned ListenOverflows ListenDrops TCPBacklogDrop PFMemallocDrop TCPZeroWindowDrop TCPRcvQDrop
TcpExt: 1 2 3 4 5 6 7 8 9
IpExt: InNoRoutes
IpExt: 1000
";

    #[test]
    fn every_source_is_found_in_the_kernels_tables() {
        let mut lost = Lost::new();
        let devices = ["lab0".to_owned(), "lab0-port".to_owned()];
        for (table, text) in [
            (Table::Dev, DEV),
            (Table::Snmp, SNMP),
            (Table::Snmp6, SNMP6),
            (Table::Netstat, NETSTAT),
        ] {
            add(&mut lost, table, text, &devices);
        }
        let expected = [
            ("device", 11),
            ("memory", 7),
            ("tcp_accept_queue", 5),
            ("tcp_backlog", 6),
            ("tcp_receive_buffer", 22),
            ("udp_receive_buffer", 33),
        ];
        assert_eq!(lost, expected.into_iter().collect());
    }

    #[test]
    fn this_kernel_has_the_tables_and_their_counters() {
        let mut losses = Losses::open(vec!["lo".to_owned()]).unwrap();
        assert_eq!(losses.read().unwrap().len(), 6);
        let text = |name| std::fs::read_to_string(format!("/proc/net/{name}")).unwrap();
        for (_, table, counters) in SOURCES {
            let text = match table {
                Table::Dev => continue,
                Table::Snmp => text("snmp"),
                Table::Snmp6 => text("snmp6"),
                Table::Netstat => text("netstat"),
            };
            for counter in counters {
                let name = counter.split_once(':').map_or(*counter, |(_, name)| name);
                assert!(text.contains(name), "{counter}");
            }
        }
    }
}

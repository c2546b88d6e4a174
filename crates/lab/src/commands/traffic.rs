//! `eyelevel-lab traffic`: UDP packets at a constant rate, and the arrival time of each. Raw
//! numbers for the path's validation; no statistic is computed here.

use crate::Error;
use clap::{Args, Subcommand};
use eyelevel_netns::{monotonic_now, set_timer_slack_minimum, socket_times};
use eyelevel_units::refusal;
use serde_json::json;
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::AsFd;
use std::thread;
use std::time::Duration;

/// The size of IPv4 and UDP headers, and of IPv6 and UDP headers.
const HEADER_BYTES: (u32, u32) = (28, 48);
/// The packet's number and its time of sending.
const PAYLOAD_BYTES_MIN: u32 = 16;
const WIRE_BYTES_MAX: u32 = 1500;
/// The most packets: two minutes at 8000 per second, which still fit in one line of output.
const PACKETS_MAX: u64 = 1_000_000;
/// How long the receiver waits for its first packet, and after its last one.
const FIRST: Duration = Duration::from_secs(60);
const SILENCE: Duration = Duration::from_millis(500);

/// The arguments after `traffic`.
#[derive(Debug, Args)]
pub struct TrafficArguments {
    #[command(subcommand)]
    command: TrafficCommand,
}

#[derive(Debug, Subcommand)]
enum TrafficCommand {
    /// Record when each packet arrives; prints one line of JSON at the end
    Receive {
        /// Address and port
        #[arg(long)]
        listen: SocketAddr,
    },
    /// Send packets at a constant rate
    Send {
        /// Address and port
        #[arg(long)]
        to: SocketAddr,
        /// Bits of IP packets a second
        #[arg(long)]
        rate_bit_s: u64,
        /// Size of each IP packet
        #[arg(long)]
        wire_bytes: u32,
        /// The duration
        #[arg(long)]
        duration_ms: u64,
    },
}

/// Runs the command. Returns the exit status.
pub fn run(arguments: TrafficArguments) -> Result<i32, Error> {
    match arguments.command {
        TrafficCommand::Receive { listen } => receive(listen)?,
        TrafficCommand::Send {
            to,
            rate_bit_s,
            wire_bytes,
            duration_ms,
        } => send(to, rate_bit_s, wire_bytes, duration_ms)?,
    }
    Ok(0)
}

fn send(to: SocketAddr, rate_bit_s: u64, wire_bytes: u32, duration_ms: u64) -> Result<(), Error> {
    let headers = if to.is_ipv4() {
        HEADER_BYTES.0
    } else {
        HEADER_BYTES.1
    };
    let sizes = headers + PAYLOAD_BYTES_MIN..=WIRE_BYTES_MAX;
    if rate_bit_s == 0 || !sizes.contains(&wire_bytes) {
        return Err(Error::Config(format!(
            "traffic of {wire_bytes} bytes at {rate_bit_s} bit/s: give a rate above 0 and a size \
             from {} to {} bytes",
            sizes.start(),
            sizes.end()
        )));
    }
    let packets =
        u128::from(rate_bit_s) * u128::from(duration_ms) / (8000 * u128::from(wire_bytes)).max(1);
    if packets > u128::from(PACKETS_MAX) {
        return Err(Error::Config(format!(
            "traffic of {packets} packets: at most {PACKETS_MAX}, shorten it"
        )));
    }
    let any: SocketAddr = if to.is_ipv4() {
        ([0, 0, 0, 0], 0).into()
    } else {
        ([0u16; 8], 0).into()
    };
    let socket = UdpSocket::bind(any).and_then(|s| s.connect(to).map(|()| s));
    let socket = socket.map_err(|error| describe_failure("send to", to, &error))?;
    let mut payload = vec![0; (wire_bytes - headers) as usize];
    set_timer_slack_minimum();
    let start = monotonic_now();
    let mut sent = 0u64;
    for number in 0..packets as u64 {
        let nanos =
            u128::from(number) * u128::from(wire_bytes) * 8_000_000_000 / u128::from(rate_bit_s);
        let due = start + Duration::from_nanos(nanos as u64);
        thread::sleep(due.since(monotonic_now()));
        payload[..8].copy_from_slice(&number.to_be_bytes());
        payload[8..16].copy_from_slice(&monotonic_now().as_nanos().to_be_bytes());
        // A full buffer shows as a missing number at the receiver.
        sent += u64::from(socket.send(&payload).is_ok());
    }
    println!("{}", json!({ "sent": sent }));
    Ok(())
}

fn receive(listen: SocketAddr) -> Result<(), Error> {
    let socket =
        UdpSocket::bind(listen).map_err(|error| describe_failure("receive at", listen, &error))?;
    socket_times::enable_timestamps(socket.as_fd())
        .map_err(|error| describe_failure("ask for receive times of", listen, &error))?;
    let limit = |time| socket.set_read_timeout(Some(time));
    limit(FIRST).map_err(|error| describe_failure("receive at", listen, &error))?;
    println!("{}", json!({ "event": "listening" }));
    let mut packets: Vec<[u64; 3]> = Vec::new();
    let mut buffer = [0; WIRE_BYTES_MAX as usize];
    while packets.len() < PACKETS_MAX as usize {
        let Ok(received) = socket_times::receive(socket.as_fd(), &mut buffer) else {
            break;
        };
        if !received.stamped {
            return Err(Error::Config(
                "the kernel gave no receive time; run this on Linux 5.10 or later".into(),
            ));
        }
        if received.bytes < PAYLOAD_BYTES_MIN as usize {
            continue;
        }
        if packets.is_empty() {
            let _ = limit(SILENCE);
        }
        let number = |at: usize| u64::from_be_bytes(buffer[at..at + 8].try_into().expect("eight"));
        packets.push([number(0), number(8), received.at_ns]);
    }
    println!("{}", json!({ "packets": packets }));
    Ok(())
}

fn describe_failure(attempt: &str, address: SocketAddr, error: &std::io::Error) -> Error {
    Error::Config(format!("{attempt} {address}: {}", refusal(error)))
}

//! Resolves servers, connects to them and records the handshake's round trip.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use eyelevel_replay::tcp::tcp_info;
use tokio::net::{TcpStream, lookup_host};
use tokio::time::timeout;

use crate::RecordError;
use crate::admission::reach::is_localhost;
use crate::admission::target::Target;
use crate::shared::Shared;

/// The limit for each of name lookup, connection and TLS handshake; a slower server counts as down.
pub const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);

/// Resolves a server and connects to the first of its allowed addresses that accepts. There is no
/// second lookup after the check.
///
/// # Errors
///
/// Returns [`RecordError::Refused`], which is already noted, or [`RecordError::Upstream`] if no
/// address accepts.
pub async fn connect(shared: &Shared, target: &Target) -> Result<TcpStream, RecordError> {
    let subject = || target.authority();
    let connecting = async {
        let addresses = look_up_allowed(shared, target).await?;
        let connected = TcpStream::connect(&addresses[..]).await;
        connected.map_err(|error| RecordError::upstream("connecting to", subject(), error))
    };
    let stream = timeout(CONNECT_TIMEOUT, connecting)
        .await
        .map_err(|_| RecordError::upstream("connecting to", subject(), "no answer in 30 s"))??;
    let _ = stream.set_nodelay(true); // as browsers do; without it the recording is only slower
    note_round_trip(shared, target, &stream);
    Ok(stream)
}

/// Stores the handshake's round trip from SYN to SYN-ACK as the kernel timed it: scheduling delays
/// here are not in it, and a SYN that was lost is not counted.
fn note_round_trip(shared: &Shared, target: &Target, stream: &TcpStream) {
    let rtt_us = tcp_info(stream).ok().and_then(|info| info.rtt_us_min);
    if let (Some(rtt_us), Ok(peer)) = (rtt_us, stream.peer_addr()) {
        let rtt_ms = f64::from(rtt_us) / 1e3;
        shared.store.keep_handshake(target, peer.ip(), rtt_ms);
    }
}

/// Returns the addresses of a server that may be reached, at least one.
async fn look_up_allowed(shared: &Shared, target: &Target) -> Result<Vec<SocketAddr>, RecordError> {
    let key = (target.host.clone(), target.port);
    if let Some(address) = shared.addresses.get(&key) {
        return Ok(vec![*address]); // the command line names it
    }
    let failed = |error| RecordError::upstream("looking up", target.authority(), error);
    let mut addresses = Vec::new();
    let mut refused = None;
    let found = look_up(target).await;
    for address in found.map_err(|error| failed(error.to_string()))? {
        match shared.reach.judge(target, address) {
            Ok(()) => addresses.push(address),
            // One sentence is enough for both loopback addresses.
            Err(_) if refused.is_some() && is_localhost(&target.host) => {}
            Err(reason) => {
                shared.store.refuse(&reason);
                refused = Some(RecordError::Refused { reason });
            }
        }
    }
    match refused {
        Some(refused) if addresses.is_empty() => Err(refused),
        _ if addresses.is_empty() => Err(failed("no address".to_owned())),
        _ => Ok(addresses),
    }
}

/// Looks up a server's addresses. `localhost` and names below it are loopback, as in browsers: the
/// system's resolver has only the names in its hosts file (RFC 6761, section 6.3).
async fn look_up(target: &Target) -> std::io::Result<Vec<SocketAddr>> {
    if is_localhost(&target.host) {
        let both = [Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()];
        let at_port = |address| SocketAddr::new(address, target.port);
        return Ok(both.map(at_port).into());
    }
    Ok(lookup_host((target.host.as_str(), target.port))
        .await?
        .collect())
}

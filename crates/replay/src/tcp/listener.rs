use super::options::set_pacing_rate_max;
use crate::scheduler::{Room, two_chunks};
use crate::{ReplayError, StackConfig};
use socket2::{Domain, Protocol, Socket, Type};
use std::net::SocketAddr;
use tokio::net::TcpListener;

/// A bound that never applies, "huge but finite": 100 Gbit/s makes the kernel pace at its own rate
/// (twice the window over the round trip in slow start).
const PACING_RATE_BYTES_S_MAX: u64 = 12_500_000_000;
/// `TCP_NOTSENT_LOWAT` if the scheduler does not bound unsent bytes: beyond it the kernel accepts
/// no new buffer, but each grows to 64 kB.
pub const NOT_SENT_BYTES_MAX: u32 = 16 * 1024;
/// The accept backlog; a page opens some hundred connections at once at most.
const BACKLOG: i32 = 1024;

/// Creates a listening socket whose options its connections inherit.
///
/// # Errors
/// [`ReplayError::Socket`], naming the option or step that failed.
pub fn listen(address: SocketAddr, stack: &StackConfig) -> Result<TcpListener, ReplayError> {
    let failed = |attempt| ReplayError::socket(attempt, address);
    let domain = Domain::for_address(address);
    let socket = Socket::new(domain, Type::STREAM, Some(Protocol::TCP))
        .map_err(failed("making a TCP socket"))?;
    if address.is_ipv6() {
        socket
            .set_only_v6(true)
            .map_err(failed("setting IPV6_V6ONLY"))?;
    }
    socket
        .set_reuse_address(true)
        .map_err(failed("setting SO_REUSEADDR"))?;
    socket
        .set_tcp_congestion(stack.congestion_control.as_bytes())
        .map_err(failed(
            "setting TCP_CONGESTION (load its module first, tcp_NAME)",
        ))?;
    if stack.pacing {
        set_pacing_rate_max(&socket, PACING_RATE_BYTES_S_MAX)
            .map_err(failed("setting SO_MAX_PACING_RATE"))?;
    }
    socket
        .set_tcp_notsent_lowat(not_sent_low_water(stack))
        .map_err(failed("setting TCP_NOTSENT_LOWAT"))?;
    socket
        .set_tcp_nodelay(true)
        .map_err(failed("setting TCP_NODELAY"))?;
    socket
        .set_nonblocking(true)
        .map_err(failed("setting O_NONBLOCK"))?;
    socket
        .bind(&address.into())
        .map_err(failed("binding a TCP socket"))?;
    socket
        .listen(BACKLOG)
        .map_err(failed("listening for TCP"))?;
    TcpListener::from_std(socket.into()).map_err(failed("registering a TCP socket"))
}

/// Returns the low-water mark. If the scheduler bounds unsent bytes, the kernel reports a socket as
/// writable (below half of its mark) once there is room for another chunk, and refuses nothing that
/// was granted.
fn not_sent_low_water(stack: &StackConfig) -> u32 {
    let room = Room::for_stack(stack, two_chunks);
    let mark = room.threshold_bytes().map(|bytes| 2 * bytes);
    let mark = mark.and_then(|bytes| u32::try_from(bytes).ok());
    mark.unwrap_or(NOT_SENT_BYTES_MAX)
}

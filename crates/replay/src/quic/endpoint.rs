use super::controller::Factory;
use super::marks::WithoutMarks;
use super::meter::Meter;
use super::runtime::PacingRuntime;
use super::sent_frames::SentFrame;
use super::session::WatchedConfig;
use crate::scheduler::{CHUNK_BYTES, Gate};
use crate::tcp::set_receive_buffer;
use crate::tls::{ByAddress, HelloWatch, Tickets};
use crate::{Ecn, ReplayError, StackConfig};
use eyelevel_congestion::Settings;
use noq::crypto::rustls::QuicServerConfig;
use noq::{Endpoint, EndpointConfig, IdleTimeout, Runtime, TransportConfig, VarInt};
use socket2::{Domain, Protocol, Socket, Type};
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, OnceLock};

/// The only version offered (RFC 9000).
pub const QUIC_VERSION: u32 = 1;
/// The idle timeout (RFC 9308, section 3.2).
const IDLE_TIMEOUT_MS: u32 = 30_000;
/// The window per stream that Chromium grants, here for uploads.
const STREAM_RECEIVE_WINDOW_BYTES: u32 = 6 * 1024 * 1024;
/// The window per connection that Chromium grants, here for uploads.
const RECEIVE_WINDOW_BYTES: u32 = 15 * 1024 * 1024;
/// The limit of concurrent requests, as over HTTP/2.
const STREAMS_MAX: u32 = 100;
/// The limit of unidirectional streams: enough for a client's control stream, QPACK streams and
/// reserved ones.
pub(super) const UNIDIRECTIONAL_STREAMS_MAX: u32 = 16;
/// Chromium's initial window, measured.
const CLIENT_INITIAL_WINDOW_PACKETS: u64 = 32;
/// The limit of unsent bytes in a connection whose stack sets none.
const NOT_SENT_BYTES_MAX: u64 = 24 * 1024;
/// The send window if the scheduler bounds unsent bytes: far more than any client's window, since
/// noq must then accept all that it is given.
const SEND_WINDOW_BYTES: u64 = 1 << 32;
/// The socket's receive buffer, as large as Chromium requests, for when an end has no processor;
/// the kernel doubles it and counts whole buffers, some 2.3 kB per packet. With its default of 208
/// kB, delivered packets were lost from 250 Mbit/s on (332 of 27,898). This holds 40 ms of that
/// rate, and fewer packets than the more than 1024 simultaneous gaps at which noq closes a
/// connection.
const SOCKET_RECEIVE_BYTES: i32 = 1024 * 1024;
/// The bytes of a packet that are in flight but no stream bytes: headers, packet number, tag and
/// stream frame.
const PACKET_OVERHEAD_BYTES: u64 = 30;

/// The state of a connection that is visible only inside the QUIC stack.
#[derive(Debug)]
pub(super) struct Watches {
    /// Its congestion controller.
    pub meter: Arc<Meter>,
    /// Its session tickets, which show whether it was resumed.
    pub tickets: Arc<Tickets>,
    /// The client's hello.
    pub hello: Arc<Mutex<HelloWatch>>,
    /// The client's `initial_max_data`.
    pub offered: Arc<OnceLock<u64>>,
}

/// The source of each connection's configuration, with its own controller and the meter of that.
#[derive(Clone, Debug)]
pub(super) struct Configurator {
    base: noq::ServerConfig,
    tls: ByAddress,
    tickets: Arc<Tickets>,
    session_tickets: bool,
    is_bounded: bool,
    controller: String,
    settings: Settings,
    packet_bytes: u16,
}

impl Configurator {
    /// Validates the TLS and stack settings that every connection will need.
    pub fn new(tls: ByAddress, stack: &StackConfig) -> Result<Self, ReplayError> {
        let settings = stack.congestion_settings();
        let tickets = Arc::new(Tickets::default());
        let crypto = QuicServerConfig::try_from(tls.get(None).clone())
            .map_err(|error| ReplayError::configuration("TLS of QUIC", error))?;
        Ok(Self {
            base: noq::ServerConfig::with_crypto(Arc::new(crypto)),
            tls,
            tickets,
            session_tickets: stack.session_tickets,
            is_bounded: stack.unsent_bytes_max.is_some(),
            controller: stack.congestion_control.clone(),
            settings,
            packet_bytes: stack.quic_packet_bytes,
        })
    }

    /// Returns the configuration of the next connection to the address `local`, and its watches;
    /// `gate` is notified of what noq sends.
    pub fn connection(
        &self,
        local: Option<IpAddr>,
        gate: &Gate,
        qlog: Option<Arc<dyn noq::QlogFactory>>,
    ) -> (Arc<noq::ServerConfig>, Watches) {
        let watches = Watches {
            meter: Arc::default(),
            tickets: self.tickets.for_connection(),
            hello: Arc::default(),
            offered: Arc::default(),
        };
        watches.meter.hold();
        let mut transport = transport(self.packet_bytes);
        transport.congestion_controller_factory(Arc::new(Factory {
            name: self.controller.clone(),
            settings: self.settings.clone(),
            meter: watches.meter.clone(),
        }));
        transport.send_window(if self.is_bounded {
            SEND_WINDOW_BYTES
        } else {
            NOT_SENT_BYTES_MAX
        });
        if let Some(qlog) = qlog {
            transport.qlog_factory(qlog);
        }
        let mut config = self.base.clone();
        let mut tls = rustls::ServerConfig::clone(self.tls.get(local));
        if self.session_tickets {
            tls.session_storage = watches.tickets.clone();
        }
        // The same suites were accepted when this was created.
        if let Ok(inner) = QuicServerConfig::try_from(tls) {
            let (hello, offered) = (watches.hello.clone(), watches.offered.clone());
            let gate = gate.clone();
            let on_sent = Arc::new(move |frame| match frame {
                SentFrame::Stream(stream, end) => gate.on_sent(stream, end),
                SentFrame::Reset(stream) => gate.on_reset(stream),
            });
            config.crypto = Arc::new(WatchedConfig {
                inner,
                hello,
                offered,
                on_sent,
            });
        }
        config.transport_config(Arc::new(transport));
        (Arc::new(config), watches)
    }

    /// Returns the endpoint's configuration, for connections that are not accepted by
    /// [`Self::connection`].
    pub fn base(&self) -> noq::ServerConfig {
        self.base.clone()
    }
}

/// Returns the send window that leaves room for the given unsent bytes besides those in flight.
///
/// If responses share the connection, the room is less than one of their chunks: once a chunk is
/// written, what was written before it has left, as noq cannot change the order.
pub(super) fn send_window(bytes_in_flight: u64, packet_bytes: u16, shared: bool) -> u64 {
    let packets = bytes_in_flight / u64::from(packet_bytes.max(1));
    let not_sent = if shared {
        CHUNK_BYTES as u64
    } else {
        NOT_SENT_BYTES_MAX
    };
    bytes_in_flight - packets * PACKET_OVERHEAD_BYTES + not_sent
}

/// Returns the settings of both ends: fixed packet size, Chromium's windows, no extension of noq's
/// own.
pub fn transport(packet_bytes: u16) -> TransportConfig {
    let mut transport = TransportConfig::default();
    transport
        .initial_mtu(packet_bytes)
        // The path is known to carry it, so heavy loss must not be taken for a black hole.
        .min_mtu(packet_bytes)
        .mtu_discovery_config(None)
        .max_idle_timeout(Some(IdleTimeout::from(VarInt::from_u32(IDLE_TIMEOUT_MS))))
        .stream_receive_window(VarInt::from_u32(STREAM_RECEIVE_WINDOW_BYTES))
        .receive_window(VarInt::from_u32(RECEIVE_WINDOW_BYTES))
        .max_concurrent_bidi_streams(VarInt::from_u32(STREAMS_MAX))
        .max_concurrent_uni_streams(VarInt::from_u32(UNIDIRECTIONAL_STREAMS_MAX))
        .datagram_receive_buffer_size(None)
        // The scheduler decides the order in which bytes are written; noq keeps it.
        .send_fairness(false);
    transport
}

/// Returns a client's configuration: the common one, with our CUBIC and Chromium's initial window.
///
/// noq's own pacer assumes that the initial round trip of 333 ms is measured and sends the second
/// half of a post-quantum hello 28 ms after the first; ours sends a connection's first ten packets
/// at once.
pub fn client_transport(packet_bytes: u16) -> TransportConfig {
    let mut transport = transport(packet_bytes);
    transport.congestion_controller_factory(Arc::new(Factory {
        name: "cubic".to_owned(),
        settings: Settings {
            initial_window_packets: CLIENT_INITIAL_WINDOW_PACKETS,
            ..Settings::default()
        },
        meter: Arc::default(),
    }));
    transport
}

/// Binds a UDP socket and creates an endpoint on it, in the calling thread's network namespace and
/// runtime. Replies leave from the address that received the request (`IP_PKTINFO`). noq marks what
/// it sends as ECT(0) and has no switch for that: without `ecn`, the socket drops the marks.
///
/// # Errors
/// [`ReplayError::Socket`], naming the step that failed.
pub(super) fn bind(
    address: SocketAddr,
    server: Option<noq::ServerConfig>,
    ecn: Ecn,
) -> Result<Endpoint, ReplayError> {
    let failed = |attempt| ReplayError::socket(attempt, address);
    let domain = Domain::for_address(address);
    let socket = Socket::new(domain, Type::DGRAM, Some(Protocol::UDP))
        .map_err(failed("making a UDP socket"))?;
    if address.is_ipv6() {
        socket
            .set_only_v6(true)
            .map_err(failed("setting IPV6_V6ONLY"))?;
        // A recorded address is a route here and belongs to no device: over IPv6 the kernel
        // otherwise sends nothing from such an address (EINVAL), and the server is silent.
        socket
            .set_freebind_v6(server.is_some())
            .map_err(failed("setting IPV6_FREEBIND"))?;
    }
    socket
        .bind(&address.into())
        .map_err(failed("binding a UDP socket"))?;
    set_receive_buffer(&socket, SOCKET_RECEIVE_BYTES)
        .map_err(failed("giving a UDP socket its receive buffer"))?;
    let mut config = EndpointConfig::default();
    config.supported_versions(vec![QUIC_VERSION]);
    let socket = PacingRuntime.wrap_udp_socket(socket.into());
    let mut socket = socket.map_err(failed("preparing a UDP socket"))?;
    if ecn == Ecn::Off {
        socket = Box::new(WithoutMarks(socket));
    }
    Endpoint::new_with_abstract_socket(config, server, socket, Arc::new(PacingRuntime))
        .map_err(failed("making a QUIC endpoint"))
}

use eyelevel_archive::Scheme;
use serde::Serialize;
use std::net::SocketAddr;
use std::sync::Arc;

/// An event that a server reports to its driver, in the format of `spec/lab-events.md`.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "event", rename_all = "lowercase")]
pub enum Event {
    /// A response's head was passed to the protocol.
    Request(Box<RequestEvent>),
    /// A connection closed, or the server stopped while it was open.
    Connection(Box<ConnectionEvent>),
}

/// One answered request.
#[derive(Clone, Debug, Serialize)]
pub struct RequestEvent {
    /// `CLOCK_MONOTONIC` when the response's head was ready.
    pub at_ns: u64,
    /// `http/1.1`, `h2` or `h3`.
    pub protocol: &'static str,
    /// The request's method.
    pub method: String,
    /// The request's URL.
    pub url: String,
    /// Bytes of the request's head, counted as `request_head_bytes` of its connection is.
    pub head_bytes: Option<u64>,
    /// The response's status.
    pub status: u16,
    /// The rule that found the response: see `docs/reference/matching.md`.
    pub r#match: &'static str,
    /// The position of the exchange that answers, from 0, in the order of the recording; absent if
    /// there is none (`miss`, `preflight`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exchange: Option<usize>,
    /// The recorded URL that is most like the requested one; for a miss only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nearest_url: Option<String>,
    /// The difference from that URL; for a miss only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub difference: Option<String>,
    /// Bytes of the body to send, as coded.
    pub body_bytes: u64,
    /// The server's time from the request's head to the response's head, in microseconds.
    pub server_us: u64,
    /// The requested priority, as in its field: `u=3, i` (RFC 9218); null over HTTP/1.1 and if
    /// priorities are ignored.
    pub priority: Option<String>,
    /// The delay of the head after that, in milliseconds: the stack's think time.
    pub think_ms: f64,
    /// Whether a 103 (Early Hints) was sent at `at_ns`; absent if none was.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub early_hints: bool,
    /// Number of the connection.
    pub connection: u64,
}

/// One connection, at its end.
#[derive(Clone, Debug, Serialize)]
pub struct ConnectionEvent {
    /// `CLOCK_MONOTONIC` when it was reported.
    pub at_ns: u64,
    /// Its number, from 0.
    pub connection: u64,
    /// `http/1.1`, `h2` or `h3`.
    pub protocol: &'static str,
    /// `http`: cleartext, as a recorded http origin is served with every stack; `https`: TLS or QUIC.
    pub scheme: Scheme,
    /// `CLOCK_MONOTONIC` when the server accepted it: over TCP after TCP's own handshake, over QUIC
    /// with its first datagram.
    pub accepted_at_ns: u64,
    /// `CLOCK_MONOTONIC` when its TLS or QUIC handshake was complete; null if there was none.
    pub ready_at_ns: Option<u64>,
    /// The server's own address that the client connected to.
    pub address: Option<SocketAddr>,
    /// The client's address, by which the path identifies the connection.
    pub client: Option<SocketAddr>,
    /// The settings in force, as read from the kernel or the QUIC stack.
    pub in_force: InForce,
}

/// The settings and counts of a connection, read back and never assumed; null if not readable.
#[derive(Clone, Debug, Default, Serialize)]
pub struct InForce {
    /// Name of the congestion controller.
    pub congestion_control: Option<String>,
    /// The upper bound of the pacing rate; null if packets are not paced.
    pub pacing_rate_bytes_s_max: Option<u64>,
    /// The pacing rate when the connection ended; null if packets are not paced.
    pub pacing_rate_bytes_s: Option<u64>,
    /// The pacing rate at the end of the handshake, after one round trip; null if packets are not
    /// paced, and over QUIC, whose first acknowledgement arrives later.
    pub pacing_rate_bytes_s_start: Option<u64>,
    /// The congestion window when the connection was accepted, in full packets.
    pub initial_window_packets: Option<u32>,
    /// Packets retransmitted (TCP) or declared lost (QUIC) over the connection's life.
    pub retransmitted_packets: Option<u64>,
    /// SYN-ACKs retransmitted before the connection was accepted: after more than one, the kernel
    /// begins with a window of one packet (RFC 5681, section 3.1). TCP only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub syn_ack_retransmitted_packets: Option<u64>,
    /// Packets with data (TCP) or ack-eliciting packets (QUIC), retransmissions included.
    pub sent_packets: Option<u64>,
    /// Bytes of TCP or UDP payload, retransmissions included.
    pub sent_bytes: Option<u64>,
    /// Bytes received, counted as `sent_bytes` are.
    pub received_bytes: Option<u64>,
    /// Full packets (TCP: segments, as read from `TCP_INFO` after each write and 32 times per round
    /// trip) sent from the first one after the handshake until one of them was acknowledged.
    pub first_flight_packets: Option<u32>,
    /// The time between the first and the last packet of the first flight.
    pub first_flight_ms: Option<f64>,
    /// Bytes of the server's handshake, counted as `sent_bytes`; null over QUIC if early data were
    /// accepted, since they include responses.
    pub handshake_sent_bytes: Option<u64>,
    /// Bytes of the client's handshake; null as `handshake_sent_bytes` is.
    pub handshake_received_bytes: Option<u64>,
    /// Whether the TLS session was resumed with a ticket of an earlier connection.
    pub resumed: Option<bool>,
    /// Whether the client's hello offered early data; null if there was no hello.
    pub early_data_offered: Option<bool>,
    /// Whether a request arrived before the handshake was complete; null if that was not allowed.
    pub early_data_accepted: Option<bool>,
    /// Bytes of request heads: as received over HTTP/1.1; over the others their field sections as
    /// coded by HPACK or QPACK, without frame headers.
    pub request_head_bytes: Option<u64>,
    /// Bytes of response heads, counted as `request_head_bytes`.
    pub response_head_bytes: Option<u64>,
    /// Bytes on the stream of the client's QPACK encoder, which fills the table for requests;
    /// HTTP/3 only, as the next three.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub encoder_received_bytes: Option<u64>,
    /// Bytes on the stream of our QPACK encoder, which fills the table for responses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub encoder_sent_bytes: Option<u64>,
    /// Bytes on the stream of the client's QPACK decoder: acknowledgements.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decoder_received_bytes: Option<u64>,
    /// Bytes on the stream of our QPACK decoder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decoder_sent_bytes: Option<u64>,
    /// The size of the dynamic table for requests: what we offer over HTTP/2, what the client uses
    /// of it over HTTP/3.
    pub request_table_bytes: Option<u64>,
    /// The size of the dynamic table for responses: what we use of the client's offer.
    pub response_table_bytes: Option<u64>,
    /// Streams that our QPACK encoder may block on inserts; null before the client's SETTINGS.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocked_streams_max: Option<u64>,
    /// PRIORITY_UPDATE frames of the client (RFC 9218, section 7); null if there were none.
    pub priority_updates: Option<u64>,
    /// Whether an idle connection restarts in slow start: the sysctl, or our controller's setting.
    pub slow_start_after_idle: Option<bool>,
    /// The socket's send buffer at the end, `SO_SNDBUF`; null over QUIC.
    pub send_buffer_bytes: Option<u64>,
    /// The window that the client offered first for the whole connection. Over TCP only the path
    /// sees it, so this crate leaves it empty; over QUIC it is `initial_max_data`.
    pub receive_window_bytes: Option<u64>,
    /// Time in which the server had data to send and the client's window or the congestion window
    /// did not allow it: over QUIC while a stream refused data though nothing else was queued.
    pub receive_window_limited_ms: Option<f64>,
    /// Time in which the network had capacity and the transport was empty although the response had
    /// more data.
    pub send_buffer_limited_ms: Option<f64>,
    /// The most bytes granted by the response scheduler and not yet sent, in whichever layer, heads
    /// of responses included; null if nothing was scheduled.
    pub unsent_bytes_max: Option<u64>,
    /// The smallest round-trip time seen.
    pub rtt_ms_min: Option<f64>,
    /// Smoothed round-trip time at the end.
    pub rtt_ms_smoothed: Option<f64>,
    /// `1.2` or `1.3`.
    pub tls_version: Option<&'static str>,
    /// The cipher suite's registered name.
    pub cipher: Option<String>,
    /// The key exchange group's registered name.
    pub key_exchange: Option<String>,
    /// QUIC's version number; QUIC only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quic_version: Option<u32>,
    /// UDP payload of a full packet; QUIC only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub packet_bytes: Option<u16>,
    /// The reason why the handshake or the connection failed; null if it ended in order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// The reason why the server itself ended the connection, which is no fault of the path; TCP
    /// only, since QUIC sends its client an error code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_error: Option<String>,
}

/// A receiver of events in the order in which they happen, called on the server's thread; must not
/// block.
pub type EventSink = Arc<dyn Fn(Event) + Send + Sync>;

/// A clock that returns nanoseconds of `CLOCK_MONOTONIC`; passed by the driver, so that this crate
/// uses one clock.
pub type ClockNs = fn() -> u64;

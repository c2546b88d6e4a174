"""Value types and defaults of stacks: versions, congestion controllers, windows."""

from typing import Literal

from eyelevel.base.lab_tables import LIMITS

HttpVersion = Literal["h1", "h2", "h3"]
TlsVersion = Literal["none", "1.2", "1.3"]
CongestionControl = Literal["cubic", "bbr", "reno", "cubic-hystart++", "sprout_ewma"]
SproutHorizon = Literal["max", "min"]
"""Horizon of Sprout: the larger or smaller of 100 ms and the minimum round-trip time; `max` as
in Das's code, `min` as in his text.
"""

KERNEL_CONGESTION_CONTROLS: tuple[CongestionControl, ...] = ("cubic", "bbr", "reno")
"""Congestion controllers of the kernel's TCP; the others are ours and exist over QUIC only."""

# Small records reach the page sooner on slow links: 16 kB take 280 ms at 0.468 Mbit/s before their
# first byte can be read.
TLS_RECORD_BYTES = 4096
# The largest UDP payload that fits 1500-byte packets over IPv4 and IPv6, as full TCP segments do.
QUIC_PACKET_BYTES = int(LIMITS["quic_packet_bytes"].max)
# The initial connection window of Chromium's QUIC, and of ours for clients: TCP is
# tuned "to match QUIC's defaults" (Wolsing et al. 2019, table 1).
RECEIVE_WINDOW_BYTES = 15 * 2**20
# Four chunks of a response with TLS and HTTP overhead: what an urgent response finds
# queued costs 280 ms at 0.468 Mbit/s, and 1.3 ms at the highest rate to which it applies.
UNSENT_BYTES_MAX = 16 * 2**10
# Above it a server may wake too late to refill so little; transports keep their own bounds.
UNSENT_RATE_BIT_S_MAX = 100_000_000
# HPACK's default (RFC 9113, section 6.5.2), and the maximum of our HTTP/2 server's encoder.
HEADER_TABLE_BYTES = 4096
# Chromium's offer, and the maximum of open requests per connection.
BLOCKED_STREAMS_MAX = int(LIMITS["blocked_streams_max"].max)


ARRIVALS_BY_ACKS = "ACK arrivals"
ARRIVALS_BY_TIMESTAMPS = "receive timestamps"
EXTERNAL_SERVER_MARK = "@external"
"""Suffix, in every table, of a stack with an external server."""

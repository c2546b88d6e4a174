"""Presets of stacks as one table, and refused presets with the reason."""

from dataclasses import replace
from typing import Any

from eyelevel.plan.stacks import RECEIVE_WINDOW_BYTES, CongestionControl, HttpVersion, Stack

TCP_FAST_OPEN = (
    "TCP Fast Open cannot be had: Chromium has none, so no page would load over it; "
    "`early_data` saves a round trip of repeat visits"
)


def _stock_tcp(name: str, http_version: HttpVersion) -> Stack:
    return Stack(name, name, http_version, "cubic", 10, False, True)


def _tune(name: str, http_version: HttpVersion, congestion_control: CongestionControl) -> Stack:
    window = None if http_version == "h3" else RECEIVE_WINDOW_BYTES
    return Stack(
        name, name, http_version, congestion_control, 32, True, False, receive_window_bytes=window
    )


def _change(base: Stack, name: str, **changes: Any) -> Stack:
    return replace(base, name=name, stack_preset=name, **changes)


_TCP_TUNED = _tune("tcp+", "h2", "cubic")
_QUIC = _tune("quic", "h3", "cubic")
# Das's QUIC had no working pacing (2014, section 3.2). His tree of Chromium (anirudhSK/chromium,
# net/quic/quic_protocol.h) begins with kDefaultInitialWindow, 10 packets, and sends
# kDefaultMaxPacketSize, 1200 bytes; his own sender begins with as many.
_QUIC_DAS = _change(
    _QUIC, "quic+das-2014", pacing=False, initial_window_packets=10, quic_packet_bytes=1200
)

STACKS: tuple[Stack, ...] = (
    _change(_stock_tcp("http1", "h1"), "http1-plain", tls_version="none"),
    _stock_tcp("http1", "h1"),
    _stock_tcp("tcp", "h2"),
    _TCP_TUNED,
    _tune("tcp+bbr", "h2", "bbr"),
    _change(_TCP_TUNED, "tcp+tls1.2", tls_version="1.2"),
    _QUIC,
    _tune("quic+bbr", "h3", "bbr"),
    _QUIC_DAS,
    # Published: an unpaced window that follows the arrival rate of packets (Das 2014, 6.2).
    _change(_QUIC_DAS, "quic+sprout", congestion_control="sprout_ewma"),
    _change(_TCP_TUNED, "tcp+0rtt", early_data=True),
    _change(_QUIC, "quic+0rtt", early_data=True),
)

REFUSED_PRESETS: dict[str, str] = {
    "tcp+tfo": TCP_FAST_OPEN,
}
"""Presets that users ask for but that are impossible, with the reason."""

STACKS_BY_NAME: dict[str, Stack] = {stack.name: stack for stack in STACKS}

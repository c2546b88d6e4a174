"""Describe cells of the yardstick, our QUIC against the kernel's TCP, in words and tables.

A cell is a dictionary, as in `stacks_validated` of `environment.json`.
"""

from eyelevel.base.json_types import JsonMapping

RATIO_AIM = (0.9, 1.1)
"""The desired ratio on networks without loss."""
LATENESS_US_P99_MAX = 1000.0
"""The bound that loads have, too: a path with more is not the path that was planned."""

EXPLANATION = (
    "Why the stacks differ on lossy networks: which packets are lost is random and differs "
    "from run to run, and goodput under CUBIC depends on the few long stretches without a "
    "loss; the intervals show how much. Beyond chance, QUIC has no retransmission timeout and "
    "no limit of three SACK blocks, so it repairs faster if many packets of a window are lost. "
    "It reacts to a loss only after processing the acknowledgement that shows it, whereas the "
    "kernel reacts before. docs/decisions/0001-congestion-controllers.md describes each."
)


def row(cell: JsonMapping) -> list[str]:
    """Return a cell's table row.

    It has network, congestion control, both goodputs in Mbit/s, ratio, interval, retransmitted
    packets in percent and the 95th percentile of the queueing delay in ms, the last two as TCP /
    QUIC.
    """
    sides = (cell["tcp"], cell["quic"])
    return [
        cell["network"],
        cell["congestion_control"],
        *(f"{side['corrected_bit_s'] / 1e6:.3f}" for side in sides),
        *_format_ratio(cell["ratio"]),
        " / ".join(f"{side['retransmitted_share'] * 100:.2f}" for side in sides),
        " / ".join(_format_ms(side["queue_delay_ms_p95"]) for side in sides),
    ]


def notes(cell: JsonMapping) -> list[str]:
    """Return remarks on a cell."""
    remarks, ratio = [], cell["ratio"]["value"]
    if not cell["loss"] and ratio and not RATIO_AIM[0] <= ratio <= RATIO_AIM[1]:
        remarks.append("beyond the aim")
    if cell["few_losses"]:
        remarks.append("few losses")
    if broken := cell["tcp"]["failed_runs"] + cell["quic"]["failed_runs"]:
        remarks.append(f"{broken} ended early")
    return remarks + _of_the_machine(cell)


FLOW_EXPLANATION = (
    "Medians from the request to the last byte of the body, TCP and QUIC; the ratio is QUIC's "
    "time over TCP's. Theory gives the same for slow start without loss, in ms TCP / QUIC and "
    "as a ratio."
)


def flow_row(flow: JsonMapping) -> list[str]:
    """Return a short flow's table row.

    It has network, congestion control, bytes, both times in ms, ratio, interval, the theoretical
    values of the three, and retransmitted packets as TCP / QUIC.
    """
    sides = (flow["tcp"], flow["quic"])
    theory = " / ".join(f"{side['theory_ms']:.0f}" for side in sides)
    return [
        flow["network"],
        flow["congestion_control"],
        f"{flow['body_bytes']:,}",
        *(f"{side['last_byte_ms']:.1f}" for side in sides),
        *_format_ratio(flow["ratio"]),
        f"{theory}, {flow['theory_ratio']:.3f}",
        " / ".join(f"{side['retransmitted_packets']}" for side in sides),
    ]


def flow_notes(flow: JsonMapping) -> list[str]:
    """Return remarks on a short flow."""
    return _of_the_machine(flow)


def _of_the_machine(measured: JsonMapping) -> list[str]:
    """Return remarks on disturbances by the machine."""
    sides = (measured["tcp"], measured["quic"])
    lost = sum(side["lost_outside_packets"] for side in sides)
    late = max(side["lateness_us_p99"] or 0.0 for side in sides) > LATENESS_US_P99_MAX
    return [
        *([f"{lost} packets lost outside the path"] if lost else []),
        *(["machine too busy"] if late else []),
    ]


def _format_ratio(ratio: JsonMapping) -> tuple[str, str]:
    """Format the value of a ratio, and its interval."""
    value, low, high = ratio["value"], ratio["low"], ratio["high"]
    return (
        "-" if value is None else f"{value:.3f}",
        "-" if low is None else f"{low:.2f}-{high:.2f}",
    )


def _format_ms(value: float | None) -> str:
    return "-" if value is None else f"{value:.0f}"

"""Check that the client's TCP first offered the receive window of its stack."""

import re

from eyelevel.base.json_types import JsonMapping
from eyelevel.plan.stacks import Stack

SHARE_APART_MAX = 0.01
SEGMENT_BYTES = 1460
"""The tolerance: the kernel rounds down to whole segments and then to its scale, less than 0.1 % of
15 MiB and 2 % of 64 kB."""
LARGE_SINCE = (6, 11)
"""The first Linux whose first receive window can exceed 64 kB ("tcp: remove 64 KByte limit for
initial tp->rcv_wnd value", 2024)."""
SMALL_BYTES_MAX = 65_535


def wrong_first_window(stack: Stack, in_force: JsonMapping, kernel: str = "") -> str:
    """Return a wrong first receive window as a sentence; empty if it is right.

    It is read from the client's first packet after its SYN; over QUIC the browser chooses it. A
    kernel that cannot offer as much is no failure of a load: `eyelevel validate level` reports it
    as unequal, and the record has the value.
    """
    wanted, seen = stack.receive_window_bytes, in_force["receive_window_bytes"]
    if wanted is None or seen is None or stack.over_quic:
        return ""
    if abs(seen - wanted) <= max(SEGMENT_BYTES, wanted * SHARE_APART_MAX):
        return ""
    if seen <= min(wanted, SMALL_BYTES_MAX) and not offers_large_windows(kernel):
        return ""
    return f"the client first offered a window of {seen} bytes, not {wanted}"


def offers_large_windows(kernel: str) -> bool:
    """Return whether a kernel, such as `6.8.0-45-generic`, offers first windows above 64 kB.

    True without a version number, so that nothing is excused.
    """
    version = re.match(r"(\d+)\.(\d+)", kernel)
    return version is None or (int(version[1]), int(version[2])) >= LARGE_SINCE

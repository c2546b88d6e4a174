"""Whether a client's TCP offered the window at first that its stack says."""

import re

from eyelevel.json_types import JsonMapping
from eyelevel.plan.stacks import Stack

SHARE_APART_MAX = 0.01
SEGMENT_BYTES = 1460
"""The kernel rounds it down to whole segments and then to its scale: less than 0.1 % of 15 MiB, 2 %
of 64 kB."""
LARGE_SINCE = (6, 11)
"""Before this Linux a first window had 64 kB at most, whatever the buffers were (in 2024: "tcp:
remove 64 KByte limit for initial tp->rcv_wnd value")."""
SMALL_BYTES_MAX = 65_535


def wrong_first_window(stack: Stack, in_force: JsonMapping, kernel: str = "") -> str:
    """As the path saw it in the client's first packet after its SYN; over QUIC it is the browser's.

    A kernel that cannot offer as much is no failure of a load: `eyelevel validate level` calls it
    unequal, and the record has what was offered.
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
    """By a kernel's release, such as `6.8.0-45-generic`; of one without a number nothing is
    known, and nothing is excused."""
    version = re.match(r"(\d+)\.(\d+)", kernel)
    return version is None or (int(version[1]), int(version[2])) >= LARGE_SINCE

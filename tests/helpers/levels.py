"""Stacks' settings, and a measured level, for tests of what is said of them."""

from eyelevel.calibration.level.classes import FAR
from eyelevel.calibration.level.rows import Run, rows_of
from eyelevel.plan.in_force import stack_in_force
from eyelevel.plan.networks.presets import NETWORKS_BY_NAME
from eyelevel.plan.stack_presets import STACKS_BY_NAME
from eyelevel.plan.stacks import Stack

DSL = NETWORKS_BY_NAME["dsl"]


def settings(*names: str) -> list[Stack]:
    return [stack_in_force(STACKS_BY_NAME[name], DSL) for name in names]


BUILD = {
    "eyelevel": "0.1.0",
    "binary": "0123456789abcdef0123",
    "kernel": "6.18.44-with-a-long-name",
    "browser": "Chromium 156.0.8078.79 built on Debian",
}
PRIORITIES = "document u=0, i x1; font u=0 x6; image u={}, i x60; script u=1 x2; style u=0 x4"
SAME = {
    "late_script_place": 66.0,
    "client_window_bytes": 15_728_640.0,
    "connection_type": "4g",
    "cipher": "TLS13_AES_128_GCM_SHA256, X25519MLKEM768",
}


def level(names=("tcp+", "quic"), quic_ecn=0.0, ack_ms=(28.0, 28.1, 28.2), image=3):
    """Return a level of both pages and a transfer; some of their values differ."""
    sides = (
        {
            **SAME,
            "ecn_share_down": 0.0,
            "head_bytes_up": 2814.0,
            "priorities": PRIORITIES.format(3),
        },
        {
            **SAME,
            "ecn_share_down": quic_ecn,
            "head_bytes_up": 3340.0,
            "priorities": PRIORITIES.format(image),
        },
    )
    runs = []
    for at in range(3):
        for side, values in enumerate(sides):
            own = {**values, "ack_delay_ms_max": 47.0 if side == 0 else ack_ms[at]}
            runs += [Run("page on far", side, own), Run("page on slow", side, own)]
            runs.append(Run("bulk on far", side, {"connect_ms": 402.4 - 200 * side + at / 10}))
    stacks = tuple(stack_in_force(STACKS_BY_NAME[name], FAR) for name in names)
    rows = [row.as_json() for row in rows_of(runs, stacks) if row.first is not None]
    return {**BUILD, "first": names[0], "second": names[1], "rows": rows, "failed": []}

"""The fine grid of loss and round trip, in virtual time: only our controllers, within seconds.

Sender and receiver are those of the controllers' tests: QUIC's loss detection (RFC 9002), an
acknowledgement for every second packet. The kernel's TCP has no virtual time: the coarse grid
(`eyelevel.calibration.validation.stacks`) compares with it.
"""

import json
import statistics
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass

from eyelevel.base.errors import LabError
from eyelevel.base.json_types import JsonObject
from eyelevel.lab.binary import find_binary
from eyelevel.plan.stacks import ARRIVALS_BY_ACKS, ARRIVALS_BY_TIMESTAMPS

CONTROLS = (
    "cubic",
    "cubic-hystart++",
    "reno",
    "bbr",
    f"sprout_ewma ({ARRIVALS_BY_ACKS})",
    f"sprout_ewma ({ARRIVALS_BY_TIMESTAMPS})",
)
"""The controllers by their names in tables; Sprout-EWMA by its source of arrival times."""
LOSSES = (0.0, 0.0001, 0.0003, 0.001, 0.002, 0.003, 0.005, 0.01, 0.015, 0.02, 0.03, 0.04, 0.06)
RTTS_MS = (10.0, 20.0, 40.0, 80.0, 120.0, 200.0, 300.0, 400.0, 560.0, 760.0)
RATE_BIT_S = 10_000_000
QUEUE_MS = 200.0
SEEDS = 5
BODY_BYTES = 10_000_000
DURATION_MS = 30_000
PACKETS_PER_ACK = 2
TIMEOUT_S = 600.0


@dataclass(frozen=True)
class FineCell:
    """Medians over `SEEDS` transfers of 10 MB, or of what arrives in 30 s, at 10 Mbit/s.

    `loss` is the probability of losing a packet, in each direction; `retransmitted_share` pools the
    seeds.
    """

    congestion_control: str
    loss: float
    rtt_ms_min: float
    goodput_bit_s: float
    goodput_bit_s_min: float
    goodput_bit_s_max: float
    retransmitted_share: float
    queue_delay_ms_p95: float


def fine_grid(
    controls: Sequence[str] = CONTROLS,
    losses: Sequence[float] = LOSSES,
    rtts_ms: Sequence[float] = RTTS_MS,
) -> list[FineCell]:
    """Return every controller at every loss and round trip. Raises LabError if the binary fails."""
    keys = [(control, loss, rtt) for control in controls for loss in losses for rtt in rtts_ms]
    wanted = [
        {
            "congestion_control": control.split(" ")[0],
            "receive_timestamps": ARRIVALS_BY_TIMESTAMPS in control,
            "rate_bit_s": RATE_BIT_S,
            "rtt_ms_min": rtt_ms,
            "queue_ms": QUEUE_MS,
            "loss": loss,
            "seed": seed,
            "body_bytes": BODY_BYTES,
            "duration_ms": DURATION_MS,
            "packets_per_ack": PACKETS_PER_ACK,
        }
        for control, loss, rtt_ms in keys
        for seed in range(1, SEEDS + 1)
    ]
    moved = simulate(wanted)
    return [
        _cell(key, moved[SEEDS * index : SEEDS * (index + 1)]) for index, key in enumerate(keys)
    ]


def simulate(wanted: Sequence[JsonObject]) -> list[JsonObject]:
    """Run transfers in virtual time, with the inputs and outputs of `eyelevel-lab simulate`."""
    try:
        done = subprocess.run(
            [find_binary(), "simulate"],
            input=json.dumps(wanted) + "\n",
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise LabError(
            f"the fine grid took longer than {TIMEOUT_S:g} s; "
            "run it again when the machine is quiet"
        ) from error
    if done.returncode:
        raise LabError(f"the fine grid: {done.stderr.strip().removeprefix('eyelevel-lab: ')}")
    results: list[JsonObject] = json.loads(done.stdout)
    return results


def _cell(key: tuple[str, float, float], moved: Sequence[JsonObject]) -> FineCell:
    goodputs = [transfer["goodput_bit_s"] for transfer in moved]
    sent = sum(transfer["sent_packets"] for transfer in moved)
    return FineCell(
        *key,
        goodput_bit_s=statistics.median(goodputs),
        goodput_bit_s_min=min(goodputs),
        goodput_bit_s_max=max(goodputs),
        retransmitted_share=sum(transfer["retransmitted_packets"] for transfer in moved) / sent,
        queue_delay_ms_p95=statistics.median(transfer["queue_delay_ms_p95"] for transfer in moved),
    )

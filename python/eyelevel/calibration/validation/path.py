"""Measure the emulated path on this machine and compare it with theory.

Arrivals are those that the receiver reports; the path's treatment of each packet is in its log
(spec/path-log.md).

Send packets at a constant rate over an emulated path, and return the fate of each.

Every experiment has a path of its own with `eyelevel-lab traffic` at both ends: UDP packets at a
constant rate from the far end to the client, through the path's downlink.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eyelevel.analysis.pathlog import DirectionLog, read_log
from eyelevel.analysis.stats.binomial import binomial_interval
from eyelevel.base.errors import LabError
from eyelevel.base.json_types import JsonObject
from eyelevel.lab.binary import run_tool
from eyelevel.lab.client import Lab, LabConfig
from eyelevel.store.disk import temporary_folder

PORT = 9  # discard; nothing listens in the path's namespaces
TOOL_DIFFERS = 2  # exit status of `path-check` if log and model differ
END_TIMEOUT_S = 30.0
SEED = 1


@dataclass(frozen=True)
class Seen:
    """The results of one experiment. Times of the receiver's packets in ns, in order of arrival.

    `compared` counts the log's records that were compared with the pure model, which got the logged
    arrivals, `differences` those that differed; the comparison ends at the tenth.
    """

    sent: int
    sequence: NDArray[np.int64]
    sent_ns: NDArray[np.int64]
    received_ns: NDArray[np.int64]
    log: DirectionLog
    realtime: bool
    compared: int
    differences: int


def experiment(
    down: list[JsonObject],
    rate_bit_s: int,
    wire_bytes: int,
    duration_ms: int,
    *,
    realtime: bool = True,
) -> Seen:
    """Send packets through the stages of `down`. Raises LabError if no path can be built.

    `realtime`: request real-time priority; `Seen.realtime` is whether it was granted.
    """
    with temporary_folder("path") as folder:
        config = LabConfig({"down": down, "up": []}, SEED, realtime=realtime, log=str(folder))
        with Lab(config) as lab:
            sent, packets = _traffic(lab, rate_bit_s, wire_bytes, duration_ms)
            granted = lab.ready.realtime_priority
            lab.stop()
        file = folder / "down.log"
        log = read_log(file.read_bytes(), str(file))
        checked = run_tool(["path-check", str(file)], accept=(0, TOOL_DIFFERS))
    if not packets:
        raise LabError(
            "no packet arrived; the path carries nothing on this machine; see `eyelevel doctor`"
        )
    sequence, sent_ns, received_ns = np.array(packets, dtype=np.int64).T
    return Seen(
        sent,
        sequence,
        sent_ns,
        received_ns,
        log,
        granted,
        checked["compared"],
        len(checked["differences"]),
    )


def _traffic(
    lab: Lab, rate_bit_s: int, wire_bytes: int, duration_ms: int
) -> tuple[int, list[list[int]]]:
    """Return how many packets were sent, and `[sequence, sent_ns, received_ns]` of the arrivals."""
    address = f"{lab.ready.client_address}:{PORT}"
    tool = [lab.command_prefix[0], "traffic"]
    receiver = subprocess.Popen(
        [*lab.command_prefix, *tool, "receive", "--listen", address],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert receiver.stdout is not None
        if "listening" not in receiver.stdout.readline():
            raise LabError(
                "the receiver inside the path did not start; its message stands above; "
                "see `eyelevel doctor`"
            )
        sender = [*lab.server_command_prefix, *tool, "send", "--to", address]
        sender += ["--rate-bit-s", str(rate_bit_s), "--wire-bytes", str(wire_bytes)]
        sender += ["--duration-ms", str(duration_ms)]
        done = subprocess.run(
            sender,
            stdout=subprocess.PIPE,
            text=True,
            check=False,
            timeout=duration_ms / 1e3 + END_TIMEOUT_S,
        )
        if done.returncode != 0:
            raise LabError(
                "the sender inside the path failed; its message stands above; see `eyelevel doctor`"
            )
        received, _ = receiver.communicate(timeout=END_TIMEOUT_S)
    except subprocess.TimeoutExpired as error:
        raise LabError(
            f"the traffic inside the path did not end in {error.timeout:g} s; run it again when "
            "the machine is quiet"
        ) from None
    finally:
        if receiver.poll() is None:
            receiver.kill()
            receiver.wait()
    return json.loads(done.stdout)["sent"], json.loads(received)["packets"]


@contextmanager
def busy_machine() -> Iterator[None]:
    """Keep every core busy with one computing process each."""
    busy = [
        subprocess.Popen([sys.executable, "-c", "while True: pass"])
        for _ in os.sched_getaffinity(0)
    ]
    try:
        yield
    finally:
        for process in busy:
            process.kill()
            process.wait()


FULL_BYTES, SMALL_BYTES = 1500, 200

DELAY_MS = 20.0
DELAY_TRAFFIC_BIT_S = 20_000_000
LATENESS_US_MEAN_MAX, LATENESS_US_P99_MAX = 50.0, 200.0
"""The project's bounds on releases against the model's time, with real-time priority."""

RATE_BIT_S, OVERLOAD_BIT_S, QUEUE_MS = 10_000_000, 15_000_000, 100
RATE_ERROR_MAX = 0.002
"""The largest error of a rate: a late first or last packet changes a rate over seconds by less, 2
ms in 1 s."""

LOSS = 0.01
LOSS_TRAFFIC_BIT_S = 8_000_000  # 5000 small packets per second
CONFIDENCE = 0.999
"""The confidence of the interval around the observed loss: a correct path fails for one seed in a
thousand."""

SHORT_MS = 500
"""The time of a short experiment: it fills the queue (250 ms at half the rate too much), and has
2500 packets that may be lost."""


@dataclass(frozen=True)
class Check:
    """One number against theory; `ok` None: it has no bound here."""

    name: str
    machine: str
    measured: str
    theory: str
    bound: str
    ok: bool | None


def validate_path(
    duration_ms: int, on_step: Callable[[str], None], *, loaded: bool = True
) -> list[Check]:
    """Return all checks, first on the machine as it is, then busy; each takes `duration_ms`.

    Raises LabError if a path cannot be built.
    """
    checks = []
    for machine in ("as it is", *(["loaded"] if loaded else [])):
        with busy_machine() if machine == "loaded" else nullcontext():
            for name, measure in (("delay", _delay), ("rate and queue", _rate), ("loss", _loss)):
                on_step(f"{name}, the machine {machine}")
                checks += measure(machine, duration_ms)
    return checks


def short_validation() -> dict[str, JsonObject]:
    """Return the brief checks that a run makes at its start, by name; about five seconds.

    `passed` is None if the number has no bound on this machine.
    """
    checks = validate_path(SHORT_MS, lambda step: None, loaded=False)
    return {
        check.name: {"measured": check.measured, "bound": check.bound, "passed": check.ok}
        for check in checks
    }


def _delay(machine: str, duration_ms: int) -> list[Check]:
    stages = [{"stage": "delay", "delay_ms": DELAY_MS}]
    seen = experiment(stages, DELAY_TRAFFIC_BIT_S, FULL_BYTES, duration_ms)
    late_us = seen.log.late_us
    end_to_end_us = (seen.received_ns - seen.sent_ns) / 1e3 - DELAY_MS * 1e3
    mean_us, p99_us = float(late_us.mean()), float(np.percentile(late_us, 99))
    bounded, waited = seen.realtime, len(seen.log.waited_us) > 0
    return [
        Check(
            "late by, mean",
            machine,
            f"{mean_us:.1f} µs",
            "0",
            f"{LATENESS_US_MEAN_MAX:g} µs" if bounded else _NOT_REALTIME,
            mean_us <= LATENESS_US_MEAN_MAX if bounded else None,
        ),
        Check(
            "late by, p99",
            machine,
            f"{p99_us:.1f} µs",
            "0",
            f"{LATENESS_US_P99_MAX:g} µs" if bounded else _NOT_REALTIME,
            p99_us <= LATENESS_US_P99_MAX if bounded else None,
        ),
        Check(
            "waited to be read, p99",
            machine,
            f"{float(np.percentile(seen.log.waited_us, 99)):.1f} µs" if waited else "unknown",
            "0",
            "none: the model knows when it arrived",
            None,
        ),
        Check(
            "without a time of arrival",
            machine,
            f"{seen.log.unstamped_reads}",
            "0",
            "none",
            seen.log.unstamped_reads == 0,
        ),
        Check(
            "one-way delay, median",
            machine,
            f"{DELAY_MS + float(np.median(end_to_end_us)) / 1e3:.3f} ms",
            f"{DELAY_MS:g} ms",
            "none: includes the sockets",
            None,
        ),
        _check_losses(machine, seen),
    ]


def _rate(machine: str, duration_ms: int) -> list[Check]:
    queue = {"discipline": "droptail", "limit_ms": QUEUE_MS}
    stages = [{"stage": "rate", "rate_bit_s": RATE_BIT_S, "queue": queue}]
    seen = experiment(stages, OVERLOAD_BIT_S, FULL_BYTES, duration_ms)
    measured = busy_rate_bit_s(seen.sent_ns, seen.received_ns, FULL_BYTES, RATE_BIT_S)
    longest_ms = float(seen.log.delay_ms.max())
    theory_ms = longest_wait_ms(RATE_BIT_S, QUEUE_MS, FULL_BYTES)
    return [
        Check(
            "rate of the busy link",
            machine,
            f"{measured / 1e6:.4f} Mbit/s",
            f"{RATE_BIT_S / 1e6:g} Mbit/s",
            f"within {RATE_ERROR_MAX:.1%}",
            abs(measured / RATE_BIT_S - 1) <= RATE_ERROR_MAX,
        ),
        Check(
            "longest queueing delay",
            machine,
            f"{longest_ms:.3f} ms",
            f"{theory_ms:.3f} ms",
            "exact to one packet",
            # A full queue takes as long as in theory, less the time for what the link has
            # already sent of the packet in transmission.
            theory_ms - FULL_BYTES * 8e3 / RATE_BIT_S <= longest_ms <= theory_ms + 1e-6,
        ),
        _exact("rate", machine, seen),
    ]


def _loss(machine: str, duration_ms: int) -> list[Check]:
    stages = [{"stage": "loss", "probability": LOSS}]
    seen = experiment(stages, LOSS_TRAFFIC_BIT_S, SMALL_BYTES, duration_ms)
    lost = seen.sent - len(seen.received_ns)
    low, high = binomial_interval(lost, seen.sent, CONFIDENCE)
    return [
        Check(
            "loss rate",
            machine,
            f"{lost / seen.sent:.2%} ({low:.2%} to {high:.2%})",
            f"{LOSS:.0%}",
            "in the interval",
            low <= LOSS <= high,
        ),
        _exact("loss", machine, seen),
    ]


def _check_losses(machine: str, seen: Seen) -> Check:
    lost = seen.sent - len(set(seen.sequence.tolist()))
    return Check("lost unasked", machine, f"{lost}", "0", "none", lost == 0)


def _exact(experiment: str, machine: str, seen: Seen) -> Check:
    return Check(
        f"unlike the model: {experiment}",
        machine,
        f"{seen.differences}",
        "0",
        "none",
        seen.differences == 0,
    )


def busy_rate_bit_s(
    sent_ns: NDArray[np.int64], received_ns: NDArray[np.int64], wire_bytes: int, rate_bit_s: int
) -> float:
    """Return the rate in bit/s at which packets that had waited arrived.

    Before these the link had no pause. On a loaded machine a sender may be suspended for longer
    than the queue lasts: such pauses are its own and not the link's. A packet has waited if it took
    over two transmissions longer.
    """
    transmission_ns = wire_bytes * 8e9 / rate_bit_s
    waited = (received_ns - sent_ns)[1:] > 2 * transmission_ns
    if not waited.any():
        return 0.0
    return float(waited.sum() * wire_bytes * 8e9 / np.diff(received_ns)[waited].sum())


def longest_wait_ms(rate_bit_s: int, queue_ms: float, wire_bytes: int) -> float:
    """Return the delay in ms of the last packet that fits a drop-tail queue.

    Its own transmission is included. The queue holds whole packets; the one in transmission is not
    in the queue.
    """
    waiting = int(rate_bit_s * queue_ms / 8000) // wire_bytes
    return (waiting + 1) * wire_bytes * 8e3 / rate_bit_s


_NOT_REALTIME = "none without real-time priority"

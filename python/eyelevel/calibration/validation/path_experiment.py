"""Send packets at a constant rate over an emulated path, and return the fate of each.

Every experiment has a path of its own with `eyelevel-lab traffic` at both ends: UDP packets at a
constant rate from the far end to the client, through the path's downlink.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eyelevel.analysis.pathlog.direction import DirectionLog
from eyelevel.analysis.pathlog.reading import read_log
from eyelevel.base.errors import LabError
from eyelevel.base.json_types import JsonObject
from eyelevel.lab.binary import run_tool
from eyelevel.lab.client import Lab, LabConfig
from eyelevel.store.disk.folders import temporary_folder

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

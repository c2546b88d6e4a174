"""Estimate from handshakes in a lab how many round trips one protocol saves against another."""

import statistics
from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from eyelevel.analysis.stats.estimate import (
    CONFIDENCE,
    Estimate,
    are_too_few,
    t_estimate,
    undetermined,
)
from eyelevel.base.errors import ProbeError
from eyelevel.base.from_outside.files import lines_of
from eyelevel.base.from_outside.json_text import parse_object
from eyelevel.base.from_outside.limits import DOCUMENT, LINE_BYTES_MAX, PROBES
from eyelevel.base.from_outside.source import Source
from eyelevel.replication.claims import Row

FILE = "handshakes.jsonl"
"""The rows of `eyelevel probe servers` in a replication's directory."""
RTT = "100ms"
"""The round trip of the lab: processors take a hundredth of it."""

Times = dict[tuple[str, str], dict[int, float]]
"""The connection times of full handshakes in ms, by server and protocol, then by block."""


@dataclass(frozen=True)
class LabHandshakes:
    """The handshakes in a file of `eyelevel probe servers`; none if there is no file."""

    file: Path

    def has(self, row: Row) -> bool:
        """Return whether a server was probed over both protocols."""
        return all((row.network, protocol) in self._read[1] for protocol in row.stacks)

    def estimate(self, row: Row, confidence: float = CONFIDENCE) -> tuple[Estimate, int]:
        """Return the round trips saved and the blocks that they are of.

        They are the mean over blocks, with Student's t interval.
        """
        rtt_ms, times = self._read
        own, other = (times[row.network, protocol] for protocol in row.stacks)
        saved = [(other[block] - own[block]) / rtt_ms for block in sorted(own.keys() & other)]
        if len(saved) < 2:
            return undetermined(are_too_few(len(saved)), len(saved)), len(saved)
        value, n = statistics.fmean(saved), len(saved)
        error = statistics.stdev(saved) / n**0.5
        if error == 0.0:
            return Estimate(value, value, value, n=n), n
        return t_estimate(value, error, n - 1, n, confidence), n

    @property
    def servers(self) -> set[str]:
        """The servers in the file."""
        return {server for server, _ in self._read[1]}

    @cached_property
    def _read(self) -> tuple[float, Times]:
        rtt_ms, times = 0.0, defaultdict[tuple[str, str], dict[int, float]](dict)
        if not self.file.is_file():
            return rtt_ms, {}
        source = Source(str(self.file), PROBES, ProbeError)
        for number, line in lines_of(self.file, source, LINE_BYTES_MAX):
            row = parse_object(line.encode(), Source(f"{self.file}:{number}", DOCUMENT, ProbeError))
            try:
                if row["event"] == "servers":
                    rtt_ms = float(row["about"]["network"]["rtt_ms_min"])
                elif row["event"] == "attempt" and row["failure"] is None and not row["resumed"]:
                    place = row["probed_server"], row["protocol"]
                    times[place][row["block"]] = row["connection_us"] / 1000
            except (KeyError, TypeError, ValueError) as error:
                raise ProbeError(
                    f"{self.file}:{number}: not a row of `eyelevel probe servers`; remove the file"
                ) from error
        if times and not rtt_ms:
            raise ProbeError(f"{self.file}: it names no round trip; remove the file")
        return rtt_ms, dict(times)

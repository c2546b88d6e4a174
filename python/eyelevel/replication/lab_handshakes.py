"""Estimate from handshakes in a lab how many round trips one protocol saves against another."""

import statistics
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from pathlib import Path

import numpy as np

from eyelevel.analysis.stats.estimate import (
    CONFIDENCE,
    Estimate,
    Floats,
    are_too_few,
    t_estimate,
    undetermined,
)
from eyelevel.base.errors import ProbeError
from eyelevel.base.from_outside.files import lines_of
from eyelevel.base.from_outside.json_text import parse_object
from eyelevel.base.from_outside.limits import DOCUMENT, LINE_BYTES_MAX, PROBES
from eyelevel.base.from_outside.source import Source
from eyelevel.load.servers.known import OURS, PROGRAMS
from eyelevel.probes.reading import family_of
from eyelevel.replication.claims import Row

FILE = "handshakes.jsonl"
"""The rows of `eyelevel probe servers` in a replication's directory."""
RTT = "100ms"
"""The round trip of the lab: processors take a hundredth of it."""

OVER_IPV6 = " over IPv6"

Times = dict[tuple[str, str], dict[int, float]]
"""The connection times of full handshakes in ms, by server and protocol, then by block."""


def name_server(server: str, family: str | None) -> str:
    """Return the name of a server over an address family, as claims have it in `networks`."""
    return f"{server}{OVER_IPV6}" if family == "v6" else server


@dataclass(frozen=True)
class LabHandshakes:
    """The handshakes in a file of `eyelevel probe servers`; none if there is no file."""

    file: Path

    def has(self, row: Row) -> bool:
        """Return whether a server was probed over both protocols."""
        return all((row.network, protocol) in self._read[1] for protocol in row.stacks)

    def has_tried(self, server: str, protocol: str) -> bool:
        """Return whether a server was probed over a protocol, whatever came of it."""
        return (server, protocol) in self._read[2]

    def estimate(self, row: Row, confidence: float = CONFIDENCE) -> tuple[Estimate, int]:
        """Return the round trips saved and the blocks that they are of.

        They are the mean over blocks, with Student's t interval.
        """
        rtt_ms, times, _ = self._read
        own, other = (times[row.network, protocol] for protocol in row.stacks)
        saved = [(other[block] - own[block]) / rtt_ms for block in sorted(own.keys() & other)]
        return estimate_mean(saved, confidence), len(saved)

    @property
    def servers(self) -> list[str]:
        """The servers in the file, each over its address families (`name_server`): ours first."""
        known = [OURS, *PROGRAMS]

        def place(name: str) -> tuple[int, str]:
            server = name.removesuffix(OVER_IPV6)
            return known.index(server) if server in known else len(known), name

        return sorted({server for server, _ in self._read[2]}, key=place)

    @property
    def round_trips(self) -> dict[str, dict[str, Floats]]:
        """The round trips until connected, of all full handshakes, by protocol and server."""
        rtt_ms, times, _ = self._read
        found: dict[str, dict[str, Floats]] = {}
        for protocol, server in product(sorted({name for _, name in times}), self.servers):
            if of_block := times.get((server, protocol)):
                in_trips = np.array(list(of_block.values())) / rtt_ms
                found.setdefault(protocol, {})[server] = in_trips
        return found

    @cached_property
    def _read(self) -> tuple[float, Times, set[tuple[str, str]]]:
        """The round trip, the times of full handshakes, and the servers and protocols probed."""
        rtt_ms, times = 0.0, defaultdict[tuple[str, str], dict[int, float]](dict)
        tried: set[tuple[str, str]] = set()
        if not self.file.is_file():
            return rtt_ms, {}, tried
        source = Source(str(self.file), PROBES, ProbeError)
        for number, line in lines_of(self.file, source, LINE_BYTES_MAX):
            row = parse_object(line.encode(), Source(f"{self.file}:{number}", DOCUMENT, ProbeError))
            try:
                if row["event"] == "servers":
                    rtt_ms = float(row["about"]["network"]["rtt_ms_min"])
                elif row["event"] == "attempt":
                    server = name_server(row["probed_server"], family_of(row.get("address")))
                    tried.add((server, row["protocol"]))
                    if row["failure"] is None and not row["resumed"]:
                        of_blocks = times[server, row["protocol"]]
                        of_blocks[row["block"]] = row["connection_us"] / 1000
            except (KeyError, TypeError, ValueError) as error:
                raise ProbeError(
                    f"{self.file}:{number}: not a row of `eyelevel probe servers`; remove the file"
                ) from error
        if times and not rtt_ms:
            raise ProbeError(f"{self.file}: it names no round trip; remove the file")
        return rtt_ms, dict(times), tried


def estimate_mean(values: Sequence[float], confidence: float = CONFIDENCE) -> Estimate:
    """Return the mean over blocks with Student's t interval."""
    n = len(values)
    if n < 2:
        return undetermined(are_too_few(n), n)
    value, error = statistics.fmean(values), statistics.stdev(values) / n**0.5
    if error == 0.0:
        return Estimate(value, value, value, n=n)
    return t_estimate(value, error, n - 1, n, confidence)

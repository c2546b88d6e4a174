"""Compare server libraries in labs over one path (`eyelevel probe servers`)."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from rich.text import Text

from eyelevel.base.errors import INTERRUPTS, ProbeError
from eyelevel.base.from_outside.words import excerpt
from eyelevel.base.json_types import JsonMapping, JsonObject
from eyelevel.cli.output import hints, json_text, results, say, table
from eyelevel.cli.probe.progress import GO_ON, NO_GOING_ON, mend, progress
from eyelevel.cli.probe.report import interval
from eyelevel.load.servers.known import (
    BASES,
    OURS,
    PROGRAMS,
    Served,
    parse_command,
    parse_servers,
    versions_of,
)
from eyelevel.load.servers.visits import (
    ADDRESSES,
    AS_THEY_COME,
    Conditions,
    in_order,
    rows_of,
    write_generated_site,
)
from eyelevel.load.traces import read_stages
from eyelevel.plan.networks.compose import Composed, NetworkWords, compose
from eyelevel.probes.servers import FULL, ITSELF, Place, read_rows, run_row, side_by_side
from eyelevel.probes.targets import parse_protocols
from eyelevel.store.disk import writing

BLOCKS = 12
"""Default number of blocks: a difference of one sign in all of them is significant after
correction.
"""
BLOCKS_MAX = 1000
DEFAULT = ",".join([OURS, *PROGRAMS])


@dataclass(frozen=True)
class Kept:
    """Writes rows, and has the complete rows of an earlier start."""

    out: Path | None
    resume: bool

    def begin(self, about: JsonMapping) -> dict[Place, list[JsonObject]]:
        """Return the rows of visits that need not be repeated.

        Raises `ProbeError` without such a file.
        """
        if self.out is None:
            if self.resume:
                raise ProbeError("--resume needs --out, the file to continue")
            return {}
        if self.resume and not self.out.exists():
            raise ProbeError(f"{self.out} does not exist: leave out --resume to begin")
        mend(self.out)
        if self.resume:
            return read_rows(self.out, about)
        self.take([run_row(about)])
        return {}

    def take(self, rows: Sequence[JsonMapping]) -> None:
        """Write the rows of a visit to disk."""
        if self.out is not None:
            with writing(self.out), self.out.open("a", encoding="utf-8") as stream:
                stream.write("".join(json_text(row) + "\n" for row in rows))


@dataclass(frozen=True)
class Handshakes:
    """The servers and protocols of a comparison, and the conditions of their handshakes."""

    servers: str
    commands: Sequence[str]
    protocols: str | None
    conditions: Conditions
    address: str = ADDRESSES["v4"]
    """The address of all servers."""
    paths: tuple[str, ...] = ()
    """The files and folders that all servers may read, apart from the system's."""

    def find_served(self) -> tuple[list[Served], dict[str, str]]:
        """Return the servers that are installed here, and how to install the others.

        Raises `ProbeError` if none is, or none has the protocols.
        """
        found, missing = parse_servers(self.servers)
        for name, get in missing.items():
            hints.print(
                f"{name} is not installed and is left out:  {get}", markup=False, soft_wrap=True
            )
        found += (replace(parse_command(each), paths=self.paths) for each in self.commands)
        if not found:
            raise ProbeError(
                f"{excerpt(self.servers)}: no server is named that is installed here; "
                "name `ours`, or install one"
            )
        if self.protocols is None:
            return found, missing
        wanted = parse_protocols(self.protocols)
        kept = [
            replace(each, protocols=both)
            for each in found
            if (both := tuple(name for name in each.protocols if name in wanted))
        ]
        if not kept:
            raise ProbeError(
                f"--protocols {excerpt(self.protocols)}: none of these servers speaks it; "
                f"choose among {', '.join(BASES)}"
            )
        return kept, missing


def put_side_by_side(
    handshakes: Handshakes, words: NetworkWords, config: JsonMapping, blocks: int, kept: Kept
) -> JsonObject:
    """Probe servers alternately; returns the JSON of `--json`.

    Servers that are not installed are reported. Raises `ProbeError` if none is.
    """
    served, missing = handshakes.find_served()
    network, conditions = compose(words, read_stages), handshakes.conditions
    rows = list(_measure(handshakes, served, network, config, blocks, kept))
    names = [each.name for each in served]
    found = side_by_side(rows, names)
    about = {"versions": versions_of(served), "missing": missing, "blocks": blocks}
    path = {"name": network.network.name, **network.network.settings()}
    over = {"network": path, "seed": config["seed"], "conditions": asdict(conditions)}
    return {"servers": found, "reference": names[0], **about, **over}


def _measure(
    handshakes: Handshakes,
    served: Sequence[Served],
    network: Composed,
    config: JsonMapping,
    blocks: int,
    kept: Kept,
) -> Iterator[JsonObject]:
    conditions = handshakes.conditions
    visits = in_order(served, blocks, config["seed"])
    names = [each.name for each in served]
    about = {"servers": names, "network": network.network.settings(), "seed": config["seed"]}
    if conditions != AS_THEY_COME:
        about["conditions"] = asdict(conditions)
    there = kept.begin(about)
    left = [visit for visit in visits if visit.place not in there]
    for visit in visits:
        yield from there.get(visit.place, [])
    done = len(visits) - len(left)
    with write_generated_site(handshakes.address) as site, progress("visits", len(visits)) as bar:
        try:
            for visit in left:
                bar(done, f"now {visit.served.name} over {visit.protocol}")
                rows = rows_of(visit, network, site, config, conditions)
                kept.take(rows)
                done += 1
                yield from rows
            bar(done, "all probed")
        except INTERRUPTS:
            how = GO_ON if kept.out else NO_GOING_ON
            say(hints, f"stopped after {done} of {len(visits)} visits: {how}")
            raise


def show_side_by_side(comparison: JsonMapping) -> None:
    """Print a table for each protocol and handshake."""
    found, reference = comparison["servers"], comparison["reference"]
    for protocol, handshake in dict.fromkeys((e["protocol"], e["handshake"]) for e in found):
        part = [e for e in found if (e["protocol"], e["handshake"]) == (protocol, handshake)]
        kind = "full handshakes" if handshake == FULL else "resumed sessions"
        results.print(f"{protocol}, {kind}", markup=False, style="bold")
        numbers = ("ms", "trips", "chain", "received")
        compared = f"- {reference}, ms"
        listing = table("server", *numbers, compared, "verdict", right=(*numbers, compared))
        for entry in part:
            listing.add_row(
                Text(entry["server"], no_wrap=True),
                interval(entry["connection_ms"], sign=False, nothing="none"),
                *(_whole(entry[name]) for name in ("round_trips", "certificate_bytes")),
                _whole(entry["received_bytes"]),
                *_compare(entry),
            )
        results.print(listing)
        for entry in part:
            if entry["why"]:
                why = f"  {entry['server']}: {'; '.join(entry['why'])}"
                results.print(why, markup=False, soft_wrap=True)
    if needed := found[0]["blocks_needed"]:
        few = f"no verdict: with this many comparisons, use --blocks {needed}"
        results.print(few, markup=False)
    versions = (f"{name}: {version}" for name, version in comparison["versions"].items())
    over = f"over {comparison['network']['name']}, seed {comparison['seed']}"
    results.print("; ".join([over, *versions]), markup=False)
    results.print(
        f"medians with 95 % over blocks; server - {reference} within blocks, above 0 it takes "
        "longer; verdicts by the sign test, corrected over all rows; chain and received in bytes",
        style="dim",
    )


def _compare(entry: JsonObject) -> tuple[str, str]:
    because = entry["difference_ms"]["undetermined_because"]
    if because == ITSELF:
        return "", "reference"
    if entry["difference_ms"]["value"] is None:
        return "", str(because)
    return interval(entry["difference_ms"]), str(entry["verdict"])


def _whole(value: float | None) -> str:
    return "" if value is None else f"{value:.0f}"

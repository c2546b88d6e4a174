"""Read the rows of a comparison of servers that was interrupted, so that it can be resumed."""

import json
from collections import defaultdict
from pathlib import Path

from eyelevel.base.errors import ProbeError
from eyelevel.base.from_outside.files import lines_of
from eyelevel.base.from_outside.json_text import parse_object
from eyelevel.base.from_outside.limits import DOCUMENT, LINE_BYTES_MAX, PROBES
from eyelevel.base.from_outside.source import Source
from eyelevel.base.json_types import JsonMapping, JsonObject

Place = tuple[int, str, str]
"""Block, server and protocol of a visit."""

_NUMBERS = ("connection_us", "round_trips", "extra_round_trips", "certificate_bytes")
_KINDS: dict[str, tuple[type, ...]] = {
    **dict.fromkeys(("probed_server", "protocol"), (str,)),
    **dict.fromkeys(("block", "visit_row", "visit_rows"), (int,)),
    "failure": (str, type(None)),
    **dict.fromkeys(("resumed", "resumption_offered", "hello_retry_request"), (bool, type(None))),
    **dict.fromkeys(
        (*_NUMBERS, "received_bytes", "sent_bytes", "retries"), (int, float, type(None))
    ),
}
"""Keys that are read of a row, with their types."""


def run_row(about: JsonMapping) -> JsonObject:
    """Return the row that precedes a run's rows: what was compared, and over which networks."""
    return {"event": "servers", "about": about}


def read_rows(path: Path, about: JsonMapping) -> dict[Place, list[JsonObject]]:
    """Return the rows of each complete visit of the file's last run, which must have this `about`.

    A visit that was interrupted and repeated has its later rows. Raises `ProbeError`, naming the
    line.
    """
    last: object = None
    found: dict[Place, list[JsonObject]] = defaultdict(list)
    for number, line in lines_of(path, Source(str(path), PROBES, ProbeError), LINE_BYTES_MAX):
        place = f"{path}, line {number}"
        row = parse_object(line.encode(), Source(place, DOCUMENT, ProbeError))
        if row.get("event") == "servers":
            last = row.get("about")
            found.clear()
        elif row.get("event") == "attempt":
            _check(row, place)
            visit = row["block"], row["probed_server"], row["protocol"]
            if row["visit_row"] == 0:
                found[visit] = []
            found[visit].append(row)
    if last is None:
        raise ProbeError(f"{path} holds no comparison of servers: leave out --resume")
    if _text(last) != _text(about):
        raise ProbeError(
            f"{path} was begun with other servers, another network or another seed: give the "
            "same ones, or choose another --out"
        )
    return {place: rows for place, rows in found.items() if len(rows) == rows[0]["visit_rows"]}


def _text(value: object) -> str:
    """Return canonical JSON, so that tuples and lists are equal."""
    return json.dumps(value, sort_keys=True)


def _check(row: JsonMapping, place: str) -> None:
    for name, kinds in _KINDS.items():
        value = row.get(name)
        is_other = bool not in kinds and isinstance(value, bool)
        if name not in row or is_other or not isinstance(value, kinds):
            raise ProbeError(f"{place}: {name} is not as the prober writes it; drop the line")

"""The cache of the yardstick's cells, for this build on this kernel."""

import hashlib
import json
import os
import platform
from functools import cache
from importlib.metadata import version
from pathlib import Path

from eyelevel.base.errors import OutsideError
from eyelevel.base.from_outside.files import read_bytes
from eyelevel.base.from_outside.json_text import parse_object
from eyelevel.base.from_outside.limits import KEPT
from eyelevel.base.from_outside.source import Source
from eyelevel.base.json_types import JsonMapping, JsonObject
from eyelevel.calibration.validation.stack_cells import Cell
from eyelevel.lab.binary import binary_digest
from eyelevel.store.disk.whole import write_whole

CACHE_VERSION = 1
FLOWS = "flows"
"""The subfolder of short flows."""


@cache
def build() -> JsonObject:
    """Return the versions that determine results: eyelevel's, its binary's digest, the kernel."""
    return {
        "cache": CACHE_VERSION,
        "eyelevel": version("eyelevel"),
        "binary": binary_digest()[:20],
        "kernel": platform.release(),
    }


def read_cell(determined_by: JsonMapping) -> Cell | None:
    """Return the cell that this build measured with these settings, or None."""
    kept = _read(folder() / f"{_key(determined_by)}.json")
    return kept[1] if kept else None


def write_cell(determined_by: JsonMapping, order: int, cell: Cell) -> None:
    """Cache a cell; `order` is its place in a table."""
    _write(folder(), determined_by, {"order": order, "cell": cell.as_json()})


def read_cells() -> list[Cell]:
    """Return the cells that this build measured on this kernel, in the table's order.

    If a cell was measured several times, it is the one with the most runs.
    """
    kept = [cell for file in sorted(folder().glob("*.json")) if (cell := _read(file))]
    ordered = sorted(kept, key=lambda cell: (cell[0], len(cell[1].tcp.runs)))
    cells = {(cell.network, cell.congestion_control): cell for _, cell in ordered}
    return list(cells.values())


def read_flow(determined_by: JsonMapping) -> JsonObject | None:
    """Return the short flow that this build measured with these settings, as JSON, or None."""
    try:
        return _object(folder() / FLOWS / f"{_key(determined_by)}.json")
    except OutsideError:
        return None  # absent or truncated: measured again


def write_flow(determined_by: JsonMapping, flow: JsonMapping) -> None:
    """Cache a short flow."""
    _write(folder() / FLOWS, determined_by, flow)


def _write(folder: Path, determined_by: JsonMapping, document: JsonMapping) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(folder / f"{_key(determined_by)}.json", json.dumps(document).encode())


def folder() -> Path:
    """Return the folder with the cells of this build on this kernel."""
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    text = json.dumps(build(), sort_keys=True)
    return Path(base) / "eyelevel" / "stacks" / hashlib.sha256(text.encode()).hexdigest()[:20]


def _key(determined_by: JsonMapping) -> str:
    text = json.dumps(determined_by, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:20]


def _read(file: Path) -> tuple[int, Cell] | None:
    try:
        document = _object(file)
        return int(document["order"]), Cell.of_json(document["cell"])
    except (OutsideError, ValueError, KeyError, TypeError, AttributeError):
        return None  # absent, or in another form: measured again


def _object(file: Path) -> JsonObject:
    source = Source(str(file), KEPT)
    return parse_object(read_bytes(file, source), source)

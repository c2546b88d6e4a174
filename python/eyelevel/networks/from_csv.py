"""Weighted networks from what a site's own users have: percentiles of round trips and bandwidth.

Real-user measurement (RUM) tools and the Chrome UX Report export tables. Two shapes are read, told
by their columns (docs/reference/networks.md):

- a row a class of users: `rtt_ms`, `down_mbit_s`, and as wanted `name`, `weight`, `up_mbit_s`,
  `loss_two_way`, `queue_ms`;
- a row a percentile: `percentile`, `rtt_ms`, `down_mbit_s`, `up_mbit_s` as wanted. Each becomes a
  network whose weight is the share of users between the midpoints to its neighbours.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from eyelevel.errors import NetworkError
from eyelevel.from_outside.csv_rows import csv_rows
from eyelevel.from_outside.limits import TABLE
from eyelevel.from_outside.source import Source
from eyelevel.from_outside.words import quoted
from eyelevel.networks.network import Network, loss_of_each_direction
from eyelevel.networks.presets import network_named

UP_SHARE = 0.2
"""Of the rate down where the table has no rate up: the `dsl` preset's relation."""

QUEUE_MS = 200.0
"""As of most presets; RUM data say nothing of queues."""

NAME_LENGTH_MAX = 64

# Column, its other names, and what a value is multiplied with.
_COLUMNS: tuple[tuple[str, dict[str, float]], ...] = (
    ("percentile", {"percentile": 1.0, "p": 1.0}),
    ("name", {"name": 1.0, "network": 1.0, "effective_connection_type": 1.0}),
    ("weight", {"weight": 1.0, "share": 1.0, "users": 1.0, "count": 1.0, "density": 1.0}),
    ("rtt_ms", {"rtt_ms": 1.0, "rtt": 1.0, "rtt_ms_p75": 1.0, "rtt_s": 1000.0}),
    ("down_mbit_s", {"down_mbit_s": 1.0, "downlink": 1.0, "downlink_mbps": 1.0,
                     "down_kbit_s": 1e-3, "bandwidth_mbps": 1.0}),
    ("up_mbit_s", {"up_mbit_s": 1.0, "uplink_mbps": 1.0, "up_kbit_s": 1e-3}),
    ("loss_two_way", {"loss_two_way": 1.0}),
    ("queue_ms", {"queue_ms": 1.0}),
)  # fmt: skip

# Lowest and highest value that makes sense; a value outside is a unit's mistake.
_RANGES = {
    "percentile": (0.0, 100.0),
    "weight": (0.0, 1e12),
    "rtt_ms": (0.1, 10_000.0),
    "down_mbit_s": (0.001, 100_000.0),
    "up_mbit_s": (0.001, 100_000.0),
    "loss_two_way": (0.0, 0.99),
    "queue_ms": (1.0, 60_000.0),
}


@dataclass(frozen=True)
class WeightedNetwork:
    """A network and the share of the users who have it; the shares of a table add up to 1."""

    network: Network
    share: float


def networks_from_csv(text: str, file: str) -> list[WeightedNetwork]:
    """The networks that a table describes; `file` is its name for messages.

    Raises NetworkError with file, line and remedy.
    """
    rows = list(csv_rows(text, Source(file, TABLE, NetworkError)))
    if len(rows) < 2:
        raise NetworkError(f"{file}: no rows; write a heading with rtt_ms and down_mbit_s and rows")
    (heading, names), *rest = rows
    columns = _columns(names, f"{file}:{heading}")
    values = [(number, _row(cells, columns, f"{file}:{number}")) for number, cells in rest]
    if "percentile" in columns:
        return _of_percentiles(values, file)
    return _of_classes(values, file)


def toml_of(weighted: Sequence[WeightedNetwork]) -> str:
    """The `networks` of a plan, each with its share of the users as its weight."""
    lines = [f"  {_toml(network)}," for network in weighted]
    return "\n".join(["networks = [", *lines, "]"]) + "\n"


def _columns(heading: Sequence[str], where: str) -> dict[str, tuple[int, float]]:
    columns: dict[str, tuple[int, float]] = {}
    known = {other: (name, scale) for name, others in _COLUMNS for other, scale in others.items()}
    for index, cell in enumerate(heading):
        word = cell.strip().lower()
        if word not in known:
            raise NetworkError(
                f"{where}: unknown column `{quoted(cell.strip())}`; use "
                f"{', '.join(name for name, _ in _COLUMNS)}"
            )
        name, scale = known[word]
        if name in columns:
            raise NetworkError(f"{where}: two columns say `{quoted(name)}`; keep one")
        columns[name] = (index, scale)
    for name in ("rtt_ms", "down_mbit_s"):
        if name not in columns:
            raise NetworkError(
                f"{where}: no column `{quoted(name)}`; give both round trips and rates"
            )
    if "percentile" in columns and "weight" in columns:
        raise NetworkError(f"{where}: percentiles already are weights; drop one of the two")
    return columns


def _row(
    cells: Sequence[str], columns: Mapping[str, tuple[int, float]], where: str
) -> dict[str, float | str]:
    values: dict[str, float | str] = {}
    for name, (index, scale) in columns.items():
        text = cells[index].strip() if index < len(cells) else ""
        if name == "name":
            values[name] = _name(text, where)
            continue
        try:
            value = float(text.removeprefix("p") if name == "percentile" else text) * scale
        except ValueError:
            raise NetworkError(
                f"{where}: {name} is `{quoted(text)}`, which is not a number; write one, as 40"
            ) from None
        low, high = _RANGES[name]
        if not (math.isfinite(value) and low <= value <= high):
            raise NetworkError(f"{where}: {name} is {text}; it must be from {low:g} to {high:g}")
        values[name] = value
    return values


def _name(text: str, where: str) -> str:
    fits = text and text[0].isalnum() and all(c.isalnum() or c in " ._+@-" for c in text)
    if not fits or not text.isascii() or len(text) > NAME_LENGTH_MAX:
        raise NetworkError(
            f"{where}: the name `{text[:NAME_LENGTH_MAX]}`; use up to {NAME_LENGTH_MAX} letters, "
            "digits and . _ + @ -"
        )
    # A plan takes a preset's name for the preset.
    return f"users-{text}" if network_named(text) else text


Rows = Sequence[tuple[int, Mapping[str, float | str]]]


def _of_classes(rows: Rows, file: str) -> list[WeightedNetwork]:
    weights = [float(row.get("weight", 1.0)) for _, row in rows]
    if not (total := sum(weights)) > 0:
        raise NetworkError(f"{file}: all weights are 0; give the share of the users or their count")
    names: set[str] = set()
    networks = []
    for index, ((number, row), weight) in enumerate(zip(rows, weights, strict=True), start=1):
        name = str(row.get("name", f"users-{index}"))
        if name in names:
            raise NetworkError(
                f"{file}:{number}: the name `{quoted(name)}` is used twice; rename one"
            )
        names.add(name)
        if weight > 0:
            networks.append(WeightedNetwork(_network(name, row), weight / total))
    return networks


def _of_percentiles(rows: Rows, file: str) -> list[WeightedNetwork]:
    """Round trips and rates of one row are of one percentile: slow users have both bad.

    A percentile counts from the best users on; where rates fall from row to row as round trips
    grow, that is what the table says, else the worst of one would meet the best of the other.
    """
    before: Mapping[str, float | str] | None = None
    for number, row in rows:
        if before is not None:
            if float(row["percentile"]) <= float(before["percentile"]):
                raise NetworkError(f"{file}:{number}: percentiles must ascend; sort the rows")
            if float(row["rtt_ms"]) < float(before["rtt_ms"]):
                raise NetworkError(
                    f"{file}:{number}: the round trip falls with the percentile; sort the rows"
                )
            if float(row["down_mbit_s"]) > float(before["down_mbit_s"]):
                raise NetworkError(
                    f"{file}:{number}: the rate grows with the percentile while the round trip "
                    "does; count both starting from the best users"
                )
        before = row
    levels = [float(row["percentile"]) / 100 for _, row in rows]
    edges = [0.0, *((a + b) / 2 for a, b in pairwise(levels)), 1.0]
    return [
        WeightedNetwork(_network(f"p{row['percentile']:g}", row), edges[index + 1] - edges[index])
        for index, (_, row) in enumerate(rows)
    ]


def _network(name: str, row: Mapping[str, float | str]) -> Network:
    down = float(row["down_mbit_s"])
    loss = loss_of_each_direction(float(row.get("loss_two_way", 0.0)))
    return Network(
        name,
        round(down * 1e6),
        round(float(row.get("up_mbit_s", down * UP_SHARE)) * 1e6),
        float(row["rtt_ms"]),
        float(row.get("queue_ms", QUEUE_MS)),
        loss,
        loss,
    )


def _toml(each: WeightedNetwork) -> str:
    network = each.network
    loss = f", loss_down = {network.loss_down:.6g}, loss_up = {network.loss_up:.6g}"
    return (
        f'{{ name = "{network.name}", rate_down_bit_s = {network.rate_down_bit_s}, '
        f"rate_up_bit_s = {network.rate_up_bit_s}, rtt_ms_min = {network.rtt_ms_min:g}, "
        f"queue_ms = {network.queue_ms:g}{loss if network.loss_down else ''}, "
        f"weight = {each.share:.6g} }}"
    )

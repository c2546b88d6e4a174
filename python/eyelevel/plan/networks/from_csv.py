"""Make weighted networks from measurements of a site's users: round trips and bandwidth.

Real-user measurement (RUM) tools and the Chrome UX Report export tables. Two forms are supported,
as CSV or JSON, and distinguished by their columns (docs/reference/networks.md):

- one row per class of users: `rtt_ms`, `down_mbit_s`, and optionally `name`, `weight`, `up_mbit_s`,
  `loss_two_way`, `queue_ms`;
- one row per percentile: `percentile`, `rtt_ms`, `down_mbit_s`, optionally `up_mbit_s`. Each
  becomes a network whose weight is the share of users between the midpoints to its neighbours.
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from eyelevel.base.errors import NetworkError
from eyelevel.base.from_outside.cell_numbers import NumberStyle, style_of
from eyelevel.base.from_outside.csv_rows import Table, read_table, refuse_long_rows
from eyelevel.base.from_outside.headings import (
    DELAY,
    PLAIN,
    RATE,
    SHARE,
    Column,
    Quantity,
    find_unit,
    rate_words,
    read_heading,
)
from eyelevel.base.from_outside.json_rows import is_json, json_records, table_of
from eyelevel.base.from_outside.limits import TABLE
from eyelevel.base.from_outside.source import Source
from eyelevel.base.from_outside.words import excerpt
from eyelevel.plan.networks.network import Network, loss_of_each_direction
from eyelevel.plan.networks.presets import get_network

UP_SHARE = 0.2
"""Uplink rate as a share of the downlink rate, if the table has none: as in the preset `dsl`."""

QUEUE_MS = 200.0
"""Length of the queue, ms, as in most presets; RUM data do not include queues."""

NAME_LENGTH_MAX = 64

ROUNDED_RTT_MS = 50.0
"""Browsers round `rtt` to multiples of this, so that they report 0 for less than half of it."""
ZERO_RTT_MS = ROUNDED_RTT_MS / 4
"""Round trip assumed for a value that was rounded to 0."""

SHARES_MAX = 1.02
"""Maximum sum of shares in percent, which may be rounded."""
TOTAL_OFF_MAX = 0.005
"""Tolerance for a total's weight, relative to twice the sum of rounded ones."""
_TOTAL = re.compile(
    r"(?:grand |sub)?totals?(?: users)?|all(?: users)?|overall|sum|summe|gesamt\w*|insgesamt",
    re.IGNORECASE,
)
"""Names of a row of totals."""
_COUNT = re.compile(r"\W*(?:users|count)\b", re.IGNORECASE)
_UNCLEAR_COUNT = re.compile(r"[1-9][0-9]{0,2}[.,][0-9]{3}")

_QUANTITIES = (
    Quantity("percentile", PLAIN, bare={"percentile": 1.0, "p": 1.0}),
    Quantity(
        "name", PLAIN, bare=dict.fromkeys(("name", "network", "effective_connection_type"), 1.0)
    ),
    Quantity(
        "weight",
        SHARE,
        frozenset(("weight", "share", "users", "count", "density")),
        dict.fromkeys(("weight", "share", "users", "count", "density"), 1.0),
    ),
    Quantity("rtt_ms", DELAY, frozenset(("rtt",)), {"rtt": 1.0, "rtt_ms_p75": 1.0}),
    Quantity("down_mbit_s", RATE, rate_words("down", alone=True), {"downlink": 1.0}),
    Quantity("up_mbit_s", RATE, rate_words("up")),
    Quantity("loss_two_way", SHARE, frozenset(("loss_two_way",)), {"loss_two_way": 1.0}),
    Quantity("queue_ms", DELAY, frozenset(("queue",))),
)

# Lowest and highest plausible value; a value outside has the wrong unit.
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
    """A network and its share of the users; the shares of a table add up to 1."""

    network: Network
    share: float


def networks_from_csv(
    text: str, file: str, note: Callable[[str], None] = lambda _: None
) -> list[WeightedNetwork]:
    """Return the networks that a table describes; `file` is its name for messages.

    `note` is called with each assumption. Raises `NetworkError` with file, line and remedy.
    """
    source = Source(file, TABLE, NetworkError)
    table = (
        table_of(json_records(text, source), source) if is_json(text) else read_table(text, source)
    )
    if len(table.rows) < 2:
        raise NetworkError(f"{file}: no rows; write a heading with rtt_ms and down_mbit_s and rows")
    columns = _columns(table, source)
    refuse_long_rows(table, source)
    values = _values(table, columns, source, note)
    if "percentile" in columns:
        return _of_percentiles(values, file)
    return _of_classes(values, file)


def toml_of(weighted: Sequence[WeightedNetwork]) -> str:
    """Return a plan's `networks` with the shares of users as weights, as TOML."""
    lines = [f"  {_toml(network)}," for network in weighted]
    return "\n".join(["networks = [", *lines, "]"]) + "\n"


def _columns(table: Table, source: Source) -> dict[str, Column]:
    (line, heading), *_ = table.rows
    columns = read_heading(heading, _QUANTITIES, line, source)
    used = {column.index for column in columns.values()}
    for index, cell in enumerate(heading):
        if index not in used:
            known = ", ".join(quantity.name for quantity in _QUANTITIES)
            remedy = f"remove it, or name it one of {known}"
            if len([name for name in heading if name]) == 1:
                remedy = (
                    "begin with the heading, and separate columns by commas, semicolons or tabs, "
                    "or state another sign, as in `sep=|`"
                )
                raise source.refusal(f"one column, `{excerpt(cell)}`", line, remedy)
            if unit := find_unit(cell, RATE):
                remedy = f"remove it, or name it `down {unit}` or `up {unit}`"
            raise source.refusal(f"unknown column `{excerpt(cell)}`", line, remedy)
    for name in ("rtt_ms", "down_mbit_s"):
        if name not in columns:
            fault = f"no column `{name}`"
            raise source.refusal(fault, line, "give both round trips and rates")
    if "percentile" in columns and "weight" in columns:
        raise source.refusal("percentiles already are weights", line, "drop one of the two")
    return columns


def _values(
    table: Table, columns: Mapping[str, Column], source: Source, note: Callable[[str], None]
) -> "Rows":
    """Return each row's values by column name, in the columns' units."""
    rows = [(place, dict.fromkeys(columns, "")) for place, _ in table.rows[1:]]
    for (_, texts), (_, cells) in zip(rows, table.rows[1:], strict=True):
        for name, column in columns.items():
            if column.index < len(cells):
                texts[name] = cells[column.index]
    numbers = [name for name in columns if name != "name"]
    style = style_of(
        table.separator, [(place, _bare(texts[name])) for place, texts in rows for name in numbers]
    )
    found: list[tuple[str, dict[str, float | str]]] = [(place, {}) for place, _ in rows]
    for name, column in columns.items():
        if name == "name":
            for (place, values), (_, texts) in zip(found, rows, strict=True):
                values[name] = _name(texts[name], f"{source.name}:{place}")
            continue
        cells_of = [(place, texts[name]) for place, texts in rows]
        read = _numbers(name, column, cells_of, style, source)
        if name == "rtt_ms" and 0.0 in read and _is_rounded(read, column):
            read = [rtt_ms or ZERO_RTT_MS for rtt_ms in read]
            note(
                f"{source.name}: browsers round `rtt` to {ROUNDED_RTT_MS:g} ms; their 0 is taken "
                f"as {ZERO_RTT_MS:g} ms"
            )
        if name == "weight" and table.separator and _is_count(column):
            _refuse_unclear_counts(cells_of, style, source)
        _check_range(name, cells_of, read, source)
        for (_, values), value in zip(found, read, strict=True):
            values[name] = value
    return found


def _numbers(
    name: str,
    column: Column,
    cells: Sequence[tuple[str, str]],
    style: NumberStyle,
    source: Source,
) -> list[float]:
    read: list[float] = []
    scale = column.scale
    percents = [text.endswith("%") for _, text in cells]
    if any(percents) and name in ("weight", "loss_two_way"):
        if not all(percents):
            place, text = cells[percents.index(False)]
            fault = f"{name} is `{excerpt(text)}`, and in other rows it has a percent sign"
            raise source.refusal(fault, place, "write all of them with it, or none")
        scale = 0.01
    for place, text in cells:
        plain = text.lower().removeprefix("p") if name == "percentile" else text
        if scale == 0.01 or name == "percentile":
            plain = _bare(plain)
        value = style.read(plain, place, source)
        if value is None:
            fault = f"{name} is `{excerpt(text)}`, which is not a number"
            raise source.refusal(fault, place, "write one, such as 40, or remove the row")
        read.append(value * scale)
    if name == "percentile" and 0 < max(read) <= 1 and not any(percents):
        fault = f"percentiles from {min(read):g} to {max(read):g} are shares of 1"
        remedy = f"write {100 * max(read):g} for {max(read):g}, and so in each row"
        raise source.refusal(fault, cells[0][0], remedy)
    if name == "weight" and scale == 0.01 and sum(read) > SHARES_MAX:
        fault = f"the shares of {len(read)} rows add up to {100 * sum(read):.4g} %"
        raise source.refusal(fault, "", "remove rows of totals, or write counts without %")
    return read


def _is_count(column: Column) -> bool:
    return column.scale == 1 and _COUNT.match(column.heading) is not None


def _refuse_unclear_counts(
    cells: Sequence[tuple[str, str]], style: NumberStyle, source: Source
) -> None:
    """Raise the source's error for a count such as 12.345, unless the table shows what it is.

    Counts are whole, so the sign is likely to separate thousands, whatever the table's default.
    """
    for place, text in cells:
        if style.open and _UNCLEAR_COUNT.fullmatch(text):
            whole = re.sub("[.,]", "", text)
            fault = f"`{excerpt(text)}` may be {whole} or {text.replace(',', '.')}"
            remedy = f"write {whole}, or name the column `weight` if it is not whole"
            raise source.refusal(fault, place, remedy)


def _check_range(
    name: str, cells: Sequence[tuple[str, str]], values: Sequence[float], source: Source
) -> None:
    low, high = _RANGES[name]
    for (place, text), value in zip(cells, values, strict=True):
        if not low <= value <= high:
            fault = f"{name} is {excerpt(text)}; it must be from {low:g} to {high:g}"
            remedy = "correct it, or name its unit in the heading"
            if name == "rtt_ms" and value == 0:
                remedy = f"write what was measured, or {ZERO_RTT_MS:g} for a browser's rounded 0"
            raise source.refusal(fault, place, remedy)


def _bare(text: str) -> str:
    """Return a cell without its percent sign."""
    return text.removesuffix("%").rstrip()


def _is_rounded(rtts_ms: Sequence[float], column: Column) -> bool:
    """Return whether these round trips are the Network Information API's rounded `rtt`.

    Its column has no unit, and all values are multiples of `ROUNDED_RTT_MS`.
    """
    named = column.heading.strip().strip("\ufeff").lower() == "rtt"
    return named and all(rtt_ms % ROUNDED_RTT_MS == 0 for rtt_ms in rtts_ms)


def _name(text: str, where: str) -> str:
    fits = text and text[0].isalnum() and all(c.isalnum() or c in " ._+@-" for c in text)
    if not fits or not text.isascii() or len(text) > NAME_LENGTH_MAX:
        raise NetworkError(
            f"{where}: the name `{excerpt(text)[:NAME_LENGTH_MAX]}`; use up to {NAME_LENGTH_MAX} "
            "ASCII letters, digits and . _ + @ -"
        )
    return text


Rows = Sequence[tuple[str, Mapping[str, float | str]]]


def _of_classes(rows: Rows, file: str) -> list[WeightedNetwork]:
    weights = [float(row.get("weight", 1.0)) for _, row in rows]
    if not (total := sum(weights)) > 0:
        raise NetworkError(f"{file}: all weights are 0; give the share of the users or their count")
    _refuse_total(rows, weights, file)
    names: dict[str, str] = {}
    networks = []
    for index, ((number, row), weight) in enumerate(zip(rows, weights, strict=True), start=1):
        written = str(row.get("name", f"users-{index}"))
        # In a plan, a preset's name would select the preset.
        name = f"users-{written}" if get_network(written) else written
        if (other := names.get(name)) is not None:
            fault = "is used twice"
            if other != written:
                preset = min(other, written, key=len)
                fault = f"is the one that `{excerpt(preset)}` gets beside the preset"
            quoted = excerpt(max(other, written, key=len))
            raise NetworkError(f"{file}:{number}: the name `{quoted}` {fault}; rename one")
        names[name] = written
        if weight > 0:
            networks.append(WeightedNetwork(_network(name, row), weight / total))
    return networks


def _refuse_total(rows: Rows, weights: Sequence[float], file: str) -> None:
    """Raise `NetworkError` for a row of totals, which would get half of the weight."""
    for (number, row), weight in zip(rows, weights, strict=True):
        is_half = math.isclose(2 * weight, sum(weights), rel_tol=TOTAL_OFF_MAX)
        if is_half and _TOTAL.fullmatch(name := str(row.get("name", ""))):
            raise NetworkError(
                f"{file}:{number}: `{excerpt(name)}` has the weight of all others together; remove "
                "the row of totals, or rename it if it is a class of users"
            )


def _of_percentiles(rows: Rows, file: str) -> list[WeightedNetwork]:
    """Return one network per percentile; a row's round trip and rate are of the same users.

    A percentile counts from the best users on: if rates fall from row to row as round trips grow,
    the table is in that order; otherwise the worst of one would be paired with the best of the
    other.
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

"""Compute and print the harm of `eyelevel load --cross-traffic`, with and without transfers."""

from collections.abc import Iterable, Mapping, Sequence

from eyelevel.analysis.stats.ratio_of_means import harm
from eyelevel.base.json_types import JsonMapping
from eyelevel.cli.output import results, table

CROSS_HELP = (
    "Add bulk transfers that share the path: CONTROLLER[:FLOWS[:DIRECTION]], such as "
    "cubic:2:down, with cubic, bbr or reno. Repeatable."
)


def harm_of(row: JsonMapping, rows: Iterable[JsonMapping], names: Iterable[str]) -> object:
    """Return one load's harm by metric, relative to its repetition without cross traffic.

    None if that load does not exist yet, or if either load was not ok.
    """
    alone = next(
        (
            other
            for other in rows
            if other["repetition"] == row["repetition"] and other["cross_traffic"] is None
        ),
        None,
    )
    if alone is None or row["cross_traffic"] is None:
        return None
    return {name: _one(row[name], alone[name]) for name in names}


def print_harm(rows: Sequence[JsonMapping], titles: Mapping[str, str]) -> None:
    """Print flows, the page's share, and the mean harm of each metric with its interval."""
    beside = [row for row in rows if row["cross_traffic"] is not None]
    for row in beside:
        _print_flows(row["cross_traffic"])
        if (load := row["cross_traffic"]["load"]) and load["page_share"] is not None:
            results.print(
                f"while the page loaded, it had {load['page_share']:.1%} of the bytes down"
            )
    shown = table("harm to", "pairs", "harm", "95 % interval", right=("pairs", "harm"))
    for name, title in titles.items():
        pairs = [
            (row[name], alone[name])
            for row in beside
            for alone in rows
            if alone["cross_traffic"] is None
            and alone["repetition"] == row["repetition"]
            and row[name] is not None
            and alone[name] is not None
        ]
        estimate = harm([b for b, _ in pairs], [a for _, a in pairs])
        reach = estimate.reason
        if estimate.low is not None and estimate.high is not None:
            reach = f"{estimate.low:.1%} to {estimate.high:.1%}"
        value = "-" if estimate.value is None else f"{estimate.value:.1%}"
        shown.add_row(title, str(len(pairs)), value, reach)
    results.print(shown)
    results.print("harm: (with - without) / with cross traffic; 0 is none, 100 % the worst")


def _one(beside: float | None, alone: float | None) -> float | None:
    if beside is None or alone is None or beside <= 0:
        return None
    return (beside - alone) / beside


def _print_flows(found: JsonMapping) -> None:
    """Print each flow's goodput and Jain's index, from a record's `cross_traffic`."""
    shown = table("cross traffic", "way", "seconds", "Mbit/s", right=("seconds", "Mbit/s"))
    for flow in found["flows"]:
        shown.add_row(
            flow["congestion_control"],
            flow["direction"],
            f"{flow['duration_ms'] / 1e3:.1f}",
            f"{flow['goodput_bit_s'] / 1e6:.3f}",
        )
    results.print(shown)
    for direction, index in found["fairness_index"].items():
        if index is not None:
            results.print(f"Jain's fairness index {direction}: {index:.3f}")

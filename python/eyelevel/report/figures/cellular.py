"""The rows behind chapter 6 of Das 2014: links whose rate varies, by link and round trip.

Explain which networks, stacks, sites or frames a figure lacks in a run.
"""

from collections.abc import Sequence
from itertools import takewhile

import numpy as np
import polars as pl

from eyelevel.analysis.report_metrics import title_of
from eyelevel.analysis.stats.estimate import Estimate, are_too_few, undetermined
from eyelevel.analysis.stats.quantile_gain import quantile_gain, repetitions_min
from eyelevel.analysis.study import StudyResults
from eyelevel.plan.networks.network import Network
from eyelevel.plan.traces.models import synthesise
from eyelevel.plan.traces.rates import rates_of
from eyelevel.plan.traces.spec import SynthSpec
from eyelevel.report.figures.site_gains import places, site_medians

QUANTILES = {"median": 0.5, "p95": 0.95}
"""The quantiles of the thesis's section 6.3."""

RATE_BIN_MS = 500


def varying_links(networks: Sequence[Network]) -> pl.DataFrame:
    """Return the networks whose rate varies: `network`, `link`, `course`, `rtt_ms`.

    Networks that differ in their round trip alone share a link, as the thesis's Verizon at 30, 120
    and 300 ms; its name is the part that theirs share. Links are in the plan's order, each by round
    trip.
    """
    of_link: dict[str, list[Network]] = {}
    for network in networks:
        if network.varies:
            of_link.setdefault(network.link_key(), []).append(network)
    shared = [_find_shared_name(members) for members in of_link.values()]
    parts = [places(()).with_columns(link=pl.lit(""), course=pl.lit(""))]
    for number, members in enumerate(of_link.values()):
        earlier = shared[:number].count(shared[number])  # different links may share a name
        name = f"{shared[number]}-{earlier + 1}" if earlier else shared[number]
        named = {"link": pl.lit(name), "course": pl.lit(members[0].course())}
        parts.append(places(members).sort("rtt_ms").with_columns(**named))
    return pl.concat(parts).select("network", "link", "course", "rtt_ms")


def varying_networks(results: StudyResults) -> pl.DataFrame:
    """Return figure 6-1: sites' median load times where a link's rate varies."""
    links = varying_links(results.plan.networks)
    medians = site_medians(results)
    if not medians.height:
        return pl.DataFrame()
    rows = links.join(medians, on="network", maintain_order="left_right")
    return rows.select(*links.columns, "stack", "site", "seconds")


def controllers(results: StudyResults) -> pl.DataFrame:
    """Return figures 6-3 and 6-4: stacks of one HTTP version, several congestion controllers."""
    kinds: dict[str, dict[str, str]] = {}
    for stack in results.plan.stacks:
        of_version = kinds.setdefault(stack.protocol, {})
        of_version.setdefault(stack.controller, stack.name)
    several = [by_controller for by_controller in kinds.values() if len(by_controller) > 1]
    stacks = [name for by_controller in several for name in by_controller.values()]
    rows = varying_networks(results)
    return rows.filter(pl.col("stack").is_in(stacks)) if rows.height else rows


def cellular_quantiles(results: StudyResults) -> pl.DataFrame:
    """Return the quantiles over sites (section 6.3), by link, round trip and comparison.

    `median_s`, `p95_s` and the reference's: quantiles of the sites' median loads, by the inverse
    distribution; null if the quantile is a timeout. `median_change`, `p95_change`: the stack's over
    the reference's, less one, with a 95 % interval that treats the sites as a sample
    (`quantile_gain` over sites, which stay in pairs).
    """
    rows = varying_networks(results)
    if not rows.height:
        return rows
    found = []
    place = ("link", "course", "network", "rtt_ms")
    for key, part in rows.partition_by(place, as_dict=True, maintain_order=True).items():
        wide = part.pivot("stack", index="site", values="seconds")
        for comparison in results.comparisons:
            if {comparison.stack, comparison.reference} <= set(wide.columns):
                pair = wide.select(comparison.stack, comparison.reference).drop_nulls()
                values, reference = (pair[name].to_numpy() for name in pair.columns)
                found.append(
                    dict(zip(place, key, strict=True))
                    | {"comparison": str(comparison), "sites": pair.height}
                    | _quantiles(values, reference)
                )
    return pl.DataFrame(found, infer_schema_length=None)


def rates_over_time(results: StudyResults) -> pl.DataFrame:
    """Return figure 6-2: the rates of synthetic links in bins of half a second, each course once.

    A recorded trace's file is not part of a run; `eyelevel trace info FILE` describes it.
    """
    links = dict(varying_links(results.plan.networks).select("network", "link").iter_rows())
    parts, seen = [], set()
    for network in results.plan.networks:
        for direction, spec in (("down", network.synth_down), ("up", network.synth_up)):
            if spec is None or spec in seen:
                continue
            seen.add(spec)
            parts.append(_rates(links[network.name], direction, spec))
    return pl.concat(parts) if parts else pl.DataFrame()


def _rates(link: str, direction: str, spec: SynthSpec) -> pl.DataFrame:
    series = rates_of(synthesise(spec), RATE_BIN_MS)
    course = f"{link} {direction}: {spec.model} model, seed {spec.seed}"
    return pl.DataFrame(
        {"course": course, "seconds": series.at_ms[:-1] / 1e3, "mbit_s": series.mbit_s}
    )


def _quantiles(values: np.ndarray, reference: np.ndarray) -> dict[str, float | str | None]:
    columns: dict[str, float | str | None] = {}
    for name, share in QUANTILES.items():
        for side, loads in (("", values), ("_reference", reference)):
            seconds = float(np.quantile(loads, share, method="inverted_cdf"))
            columns[f"{name}_s{side}"] = seconds if np.isfinite(seconds) else None
        change = _change(values, reference, share).as_columns(f"{name}_change")
        columns |= {column: value for column, value in change.items() if column[-2:] != "_p"}
    return columns


def _change(values: np.ndarray, reference: np.ndarray, share: float) -> Estimate:
    change, fewest = quantile_gain(values, reference, share), repetitions_min(share)
    if len(values) < fewest:
        why = f"{are_too_few(len(values), 'site')}: it needs {fewest}"
        return undetermined(why, change.n, change.value)
    return change


def _find_shared_name(members: Sequence[Network]) -> str:
    of_members = places(members).select("network", "rtt_ms").iter_rows()
    words = [name.removesuffix(f"-{rtt_ms:g}").split("-") for name, rtt_ms in of_members]
    shared = takewhile(lambda alike: len(set(alike)) == 1, zip(*words, strict=False))
    return "-".join(alike[0] for alike in shared) or members[0].name


_GRID = (
    "networks with at least two rates and two round-trip times, alike in everything else, such "
    "as das-3-30, das-3-120, das-25-30 and das-25-120"
)
_VARYING = "a network whose rate varies, such as das-verizon-120"
_NETWORKS = {
    "grid-cdf": _GRID,
    "heat-map": _GRID,
    "cellular-cdf": _VARYING,
    "congestion-cdf": _VARYING,
    "cellular-quantiles": _VARYING,
    "trace-rate": "a network whose rate follows a generated trace, such as das-verizon-120 (a "
    "recorded trace is not part of a run: see eyelevel trace info FILE)",
    "break-even": "networks that differ in two of loss, round-trip time and rate",
    "break-even-points": "networks that differ in two of loss, round-trip time and rate, and a "
    "gain that crosses zero",
}
_STACKS = {
    "single-origin": "a site with one origin, a stack over QUIC, and one over TCP with TLS 1.3",
    "congestion-cdf": "two stacks of one protocol with different congestion controllers, such "
    "as quic+das-2014 and quic+sprout",
}
_SITES = {
    "single-object": "sites of one object, such as synthetic:object_bytes=1000000",
    "attributes": "5 sites that differ in their attributes and have gains on all networks",
}
_OTHER = {
    "progress": "pictures of the loads of all stacks in a block (capture)",
    "progress-typical": "pictures of loads (capture)",
    "disagreement": "a site whose intervals exclude zero on both sides, and pictures of it",
    "disagreements": "a site whose intervals exclude zero on both sides",
    "waterfall": "loads with objects fetched over the network",
    "downlink": "records with a timeline of the path, without cross traffic",
    "downlink-medians": "records with a timeline of the path, without cross traffic",
}
_OF_METRIC = {
    "grid-cdf", "heat-map", "cellular-cdf", "congestion-cdf", "cellular-quantiles", "break-even",
    "break-even-points", "reproducibility", "origins", "objects", "bytes", "attributes", "extremes",
}  # fmt: skip
"""The figures that show a single metric."""


def why_not(name: str, results: StudyResults) -> str:
    """Return in one line what figure or table `name` needs and the run lacks."""
    kept = results.blocks.kept
    if kept.is_empty():
        return "no block of the run is complete"
    if name in _OF_METRIC and kept[results.drawn_metric].null_count() == kept.height:
        return f"no load has {title_of(results.drawn_metric)}"
    varies = bool(varying_links(results.plan.networks).height)
    for needs, kind, there in (
        (_NETWORKS, "networks", results.networks),
        (_STACKS, "stacks", results.stacks),
        (_SITES, "sites", results.sites),
    ):
        if name in needs and not (varies and needs[name] == _VARYING):
            more = ", ..." if len(there) > 6 else ""
            return f"it needs {needs[name]}; the run's {kind}: {', '.join(there[:6])}{more}"
    return f"it needs {_OTHER.get(name, 'comparisons of complete blocks')}"

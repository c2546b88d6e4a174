"""Draw the figures that belong to a text, from the runs, data sets and handshakes of its claims.

They are those of `eyelevel.report`, of the loads that count for claims; published values stand
beside ours where the claims have them.
"""

import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import polars as pl

from eyelevel.analysis.formats import with_minus
from eyelevel.analysis.gains.cells import compare_cells
from eyelevel.analysis.report_metrics import title_of
from eyelevel.analysis.stats.estimate import Estimate
from eyelevel.analysis.study import StudyResults
from eyelevel.analysis.trials.blocks import Blocks
from eyelevel.base.json_types import JsonObject
from eyelevel.load.servers.known import OURS, PROGRAMS
from eyelevel.plan.comparisons import Comparison
from eyelevel.plan.networks.network import Network
from eyelevel.plan.networks.presets import get_network
from eyelevel.plan.presets import PRESETS_BY_NAME
from eyelevel.probes.intervals import quantile_estimates
from eyelevel.probes.pairing import Pairs
from eyelevel.replication.answers import MeasuredRun, Question, RowAnswer, Runs
from eyelevel.replication.claims import Claim, Claims, Figure, Row
from eyelevel.replication.data_sets import DataSets
from eyelevel.replication.lab_handshakes import OVER_IPV6, LabHandshakes, estimate_mean
from eyelevel.replication.values import SHORT, format_estimate, format_value
from eyelevel.report.charts.chart import stack_charts
from eyelevel.report.charts.distribution import curves_chart
from eyelevel.report.charts.paper import (
    draw_published_gains,
    gain_cdf,
    heat_map,
    link_curves,
    site_curves,
)
from eyelevel.report.figures.catalogue import cell_rows
from eyelevel.report.figures.cellular import controllers, varying_networks
from eyelevel.report.figures.site_gains import nine_networks, site_medians

FOLDER = "figures"
"""The folder of figures beside a page."""
NAMES_MAX = 6
"""The most names of networks or data sets in a figure's description."""
CURVES_PX = 420
PERCENTS = (10, 25, 50, 75, 90)
HERE = "here"

Heads = tuple[str, ...]
Cells = tuple[str, ...]


@dataclass(frozen=True)
class Drawn:
    """A figure of a page, with the numbers that stand beside it."""

    name: Figure
    text: str
    """The text's name."""
    title: str
    alt: str
    """Its description in words."""
    chart: JsonObject
    heads: Heads = ()
    rows: tuple[Cells, ...] = ()
    """The cells of published values and ours, in Markdown; none without `heads`."""

    @property
    def file(self) -> str:
        """Its file, relative to the page."""
        return f"{FOLDER}/{self.text}-{self.name}.svg"


@dataclass(frozen=True)
class Material:
    """The claims of a text with all that was measured for them."""

    claims: Claims
    runs: Runs
    data: DataSets
    handshakes: LabHandshakes

    def draw(self) -> list[Drawn]:
        """Return the text's figures for which there is data, in its order."""
        figures = ((name, _DRAW[name](self)) for name in self.claims.text.figures)
        return [
            Drawn(name, self.claims.text.name, *parts)
            for name, parts in figures
            if parts is not None
        ]

    @cached_property
    def studies(self) -> Mapping[str, StudyResults]:
        """The runs of each preset as one, if there are any."""
        presets = [preset for preset in self.claims.text.plans if preset in self.runs]
        found = ((preset, join_runs(self._order(preset))) for preset in presets)
        return {preset: results for preset, results in found if results is not None}

    def _order(self, preset: str) -> dict[str, MeasuredRun]:
        """Return the runs of a preset in the order in which claims name their networks."""
        cells = (row.network for claim in self.claims_of(preset) for row in claim.rows)
        names, runs = dict.fromkeys(cells), self.runs[preset]
        return {name: runs[name] for name in (*names, *runs) if name in runs}

    def claims_of(self, preset: str) -> list[Claim]:
        """Return the claims that runs of a preset answer."""
        return self.claims.of_plan(preset)

    def question(self, claim: Claim) -> Question:
        """Return a claim with what may answer it."""
        return Question(self.claims, claim, self.runs, self.data, self.handshakes)


Parts = tuple[str, str, JsonObject] | tuple[str, str, JsonObject, Heads, tuple[Cells, ...]]
"""The fields of `Drawn` from `title` on."""


def join_runs(runs: Mapping[str, MeasuredRun]) -> StudyResults | None:
    """Return finished runs of one preset, each of a network, as one study of their counted loads.

    It has no gains and no verdicts: those of claims are `eyelevel.replication.answers`.
    """
    counted = [run for run in runs.values() if run.kept.height and not run.unfinished]
    if not counted:
        return None
    plans = [run.results.plan for run in counted]
    comparisons: dict[Comparison, None] = {}
    for each in (pair for plan in plans for pair in plan.comparisons):
        if Comparison(each.reference, each.stack) not in comparisons:
            comparisons[each] = None
    stacks = {stack.name: stack for plan in plans for stack in plan.stacks}
    plan = replace(
        plans[0],
        networks=tuple(network for plan in plans for network in plan.networks),
        stacks=tuple(stacks.values()),
        sites=tuple(dict.fromkeys(site for plan in plans for site in plan.sites)),
        comparisons=tuple(comparisons),
    )
    kept = pl.concat([run.kept for run in counted], how="diagonal_relaxed")
    return replace(
        counted[0].results, plan=plan, table=kept, blocks=Blocks(kept, ()), cells=(), gains=()
    )


def _draw_gain_cdf(material: Material) -> Parts | None:
    for preset, results in material.studies.items():
        named = [each for each in material.claims_of(preset) if "gain" in each.estimator]
        metrics = [m for m in dict.fromkeys(m for each in named for m in each.metrics)
                   if m in results.metrics]  # fmt: skip
        comparisons = _list_compared(preset, results)
        cells = compare_cells(results.blocks.kept, metrics, comparisons)
        if not cells:
            continue
        rows = cell_rows(replace(results, cells=tuple(cells)))
        names = [str(each) for each in comparisons]
        alt = (
            f"Curves of the share of sites with at most a gain in {_list(map(title_of, metrics))} "
            f"on {_list(results.networks)}, for {_list(names)}; {len(results.sites)} sites."
        )
        return f"Gains of our sites ({preset})", alt, gain_cdf(rows, names)
    return None


def _draw_mean_gains(material: Material) -> Parts | None:
    found: dict[tuple[str, ...], tuple[Claim, RowAnswer]] = {}
    for claim in material.claims.claims:
        if claim.is_of_study and claim.rule == "number" and claim.estimator == "mean_gain":
            for each in _answer_rows(material, claim, claim.rows):
                key = (each.row.network, each.row.metric, each.row.comparison)
                found.setdefault(key, (claim, each))
    if not found:
        return None
    theirs = material.claims.text.short
    rows: list[tuple[str | float | None, ...]] = []
    for (network, metric, comparison), (_, each) in found.items():
        question = f"{network}, {SHORT.get(metric, metric)}: {comparison}"
        rows.append((question, theirs, each.row.number, None, None))
        rows.append((question, HERE, each.found.value, each.found.low, each.found.high))
    schema = dict.fromkeys(("question", "side"), pl.String)
    schema |= dict.fromkeys(("gain", "gain_low", "gain_high"), pl.Float64)  # type: ignore[arg-type]
    alt = (
        f"Dots of {len(found)} mean gains that the text has, and of ours with intervals over "
        f"sites, on {_list(dict.fromkeys(network for network, *_ in found))}."
    )
    chart = draw_published_gains(pl.DataFrame(rows, schema=schema, orient="row"), theirs, HERE)
    return "Mean gains, published and here", alt, chart, *_beside(list(found.values()))


def _draw_heat_map(material: Material) -> Parts | None:
    maps = [
        each
        for each in material.claims.claims
        if each.is_of_study and each.estimator == "median_change" and each.numbers
    ]
    theirs = material.claims.text.short
    rows: list[tuple[float, float, str, float | None, bool]] = []
    names: list[str] = []
    beside: list[tuple[Claim, RowAnswer]] = []
    for claim in maps:
        (metric, comparison), numbers = (claim.metrics[0], claim.comparisons[0]), claim.numbers
        grid = {name: found for name in numbers if (found := _place(name)) is not None}
        cells = [Row(name, metric, comparison, numbers[name]) for name in grid]
        answers = list(_answer_rows(material, claim, cells))
        if not answers:
            continue
        published, own = f"{comparison}, {theirs}", f"{comparison}, {HERE}"
        names += [published, own]
        rows += [(*grid[name], published, numbers[name], True) for name in grid]
        rows += [
            (*grid[each.row.network], own, each.found.value, each.found.excludes_zero)
            for each in answers
        ]
        beside += [(claim, each) for each in answers]
    if not beside:
        return None
    schema = {"rate_mbit_s": pl.Float64, "rtt_ms": pl.Float64, "comparison": pl.String,
              "improvement": pl.Float64, "claimed": pl.Boolean}  # fmt: skip
    table = pl.DataFrame(rows, schema=schema, orient="row")
    metric = title_of(maps[0].metrics[0])
    pairs = [each.row.comparison for _, each in beside]
    alt = (
        f"Heat maps of how much sooner the median {metric} is, by rate and round trip, as "
        f"{theirs} has it and here, for {_list(dict.fromkeys(pairs))}; {len(beside)} cells are "
        "measured here."
    )
    title = "Maps over rate and round trip; squares of ours whose intervals include zero are grey"
    return title, alt, heat_map(table, metric, names), *_beside(beside)


def _draw_grid_cdf(material: Material) -> Parts | None:
    return _draw_curves(material, nine_networks, "over rates and round trips", 3)


def _draw_time_cdf(material: Material) -> Parts | None:
    return _draw_curves(material, _list_times, "by network", 3)


def _list_times(results: StudyResults) -> pl.DataFrame:
    return site_medians(results).select("network", "stack", "site", "seconds")


def _draw_curves(
    material: Material, rows_of: Callable[[StudyResults], pl.DataFrame], where: str, columns: int
) -> Parts | None:
    """Return curves of the sites' median times, of the first preset that has them."""
    for results, metric in _list_drawn(material):
        rows = rows_of(results)
        if rows.height:
            chart = site_curves(rows, results.stacks, title_of(metric), columns)
            alt = _describe_curves(rows, metric)
            return f"{title_of(metric)} of our sites {where}", alt, chart
    return None


def _draw_cellular_cdf(material: Material) -> Parts | None:
    return _draw_links(material, varying_networks, "over links whose rate varies")


def _draw_congestion_cdf(material: Material) -> Parts | None:
    return _draw_links(material, controllers, "by congestion controller")


def _draw_links(
    material: Material, rows_of: Callable[[StudyResults], pl.DataFrame], where: str
) -> Parts | None:
    for results, metric in _list_drawn(material):
        rows = rows_of(results)
        if rows.height:
            chart = link_curves(rows, results.stacks, title_of(metric))
            return f"{title_of(metric)} {where}", _describe_curves(rows, metric), chart
    return None


def _list_drawn(material: Material) -> Iterator[tuple[StudyResults, str]]:
    """Return the joined runs of each preset, drawn by the metric that its claims name first."""
    for preset, results in material.studies.items():
        metrics = [metric for each in material.claims_of(preset) for metric in each.metrics]
        if metrics and metrics[0] in results.metrics:
            yield replace(results, drawn=metrics[0]), metrics[0]


def _describe_curves(rows: pl.DataFrame, metric: str) -> str:
    stacks, networks = (rows[each].unique(maintain_order=True) for each in ("stack", "network"))
    return (
        f"Curves of the share of sites with at most a median {title_of(metric)} over "
        f"{_list(stacks)} on {_list(networks)}; {rows['site'].n_unique()} sites."
    )


def _draw_differences_cdf(material: Material) -> Parts | None:
    """Draw how much sooner one protocol connects, and put published shares beside our quantiles."""
    of_pair: dict[tuple[str, str], list[Claim]] = {}
    for claim in material.claims.claims:
        if claim.is_askable and claim.data and claim.estimator.startswith("share_faster"):
            for name, pair in ((each.network, each.comparison) for each in claim.rows):
                if material.data.has(name):
                    of_pair.setdefault((name, pair), []).append(claim)
    samples: dict[str, dict[str, Pairs]] = {}
    for name, pair in of_pair:
        pairs = material.data.pairs(name, *pair.split("/"))
        if pairs.hosts:
            samples.setdefault(pair, {})[name] = pairs
    if not samples:
        return None
    names = list(dict.fromkeys(name for of_sets in samples.values() for name in of_sets))
    charts = [
        curves_chart(
            {name: -pairs.difference_ms for name, pairs in of_sets.items()},
            "ms by which {} connects sooner than {}".format(*pair.split("/")),
            names,
            CURVES_PX,
        )
        for pair, of_sets in samples.items()
    ]
    rows = [
        _quantile_cells(material, of_pair[name, pair], (name, pair), pairs)
        for pair, of_sets in samples.items()
        for name, pairs in of_sets.items()
    ]
    heads = ("data set", "comparison", "theirs: share of pairs", "ours", *_PERCENTILES)
    alt = (
        "Curves of the share of pairs in which a protocol connects sooner by at most a time, for "
        f"{_list(samples)} in {_list(names)}."
    )
    title = "By how much one protocol connects sooner, in the author's data"
    return title, alt, stack_charts(charts), heads, tuple(rows)


_PERCENTILES = tuple(f"{percent} % in ms" for percent in PERCENTS)


def _quantile_cells(
    material: Material, claims: Sequence[Claim], of: tuple[str, str], pairs: Pairs
) -> Cells:
    theirs, ours = [], []
    for claim in claims:
        row = next(each for each in claim.rows if (each.network, each.comparison) == of)
        answer = material.question(claim).answer_row(row)
        by = f" by {claim.least_ms:g} ms or more" if claim.least_ms else " at all"
        theirs.append(f"{format_value(claim, row.number or 0.0)}{by} ({claim.id})")
        ours.append(format_estimate(claim, answer.found))
    quantiles = quantile_estimates(-pairs.difference_ms, pairs.hosts, PERCENTS)
    in_ms = replace(claims[0], estimator="quantile_ms", percent=50.0)
    numbers = (format_estimate(in_ms, each).replace(" ms", "") for each in quantiles)
    return (*of, "; ".join(theirs), "; ".join(dict.fromkeys(ours)), *numbers)


def _draw_handshakes_cdf(material: Material) -> Parts | None:
    """Draw the handshakes of each server in the lab, and put their round trips into a table."""
    of_protocol = material.handshakes.round_trips
    if not of_protocol:
        return None
    servers = material.handshakes.servers
    charts = [
        curves_chart(
            times,
            f"round trips until {_PROTOCOLS[name]} is connected",
            servers,
            CURVES_PX,
            from_zero=True,
        )
        for name in _PROTOCOLS
        if (times := of_protocol.get(name))
    ]
    alt = (
        "Curves of the share of handshakes in a lab that took at most a number of round trips, "
        f"over {_list(of_protocol)} with {_list(servers)}."
    )
    saved = [f"QUIC saves against {_PROTOCOLS[name]}" for name in _OVER_TCP]
    heads = ("server", *_PROTOCOLS.values(), *saved)
    rows = tuple(_handshake_cells(material.handshakes, name) for name in servers)
    return _summarise_handshakes(material.handshakes), alt, stack_charts(charts), heads, rows


_PROTOCOLS = {"tls1.2": "TLS 1.2", "tls1.3": "TLS 1.3", "quic": "QUIC"}
_OVER_TCP = ("tls1.2", "tls1.3")


def _handshake_cells(handshakes: LabHandshakes, server: str) -> Cells:
    trips = handshakes.round_trips
    own = [
        _in_trips(estimate_mean(list(trips[protocol][server])))
        if server in trips.get(protocol, {})
        else ("none connected" if handshakes.has_tried(server, protocol) else f"no {name}")
        for protocol, name in _PROTOCOLS.items()
    ]
    rows = [Row(server, "", f"quic/{protocol}", None) for protocol in _OVER_TCP]
    saved = [_in_trips(handshakes.estimate(row)[0]) if handshakes.has(row) else "" for row in rows]
    return server, *own, *saved


def _in_trips(found: Estimate) -> str:
    if found.value is None or found.low is None or found.high is None:
        return found.reason
    return with_minus(f"{found.value:.2f} [{found.low:.2f}, {found.high:.2f}]")


def _summarise_handshakes(handshakes: LabHandshakes) -> str:
    """Return over how many servers the handshakes are, and their round trips over all of them."""
    servers = {name.removesuffix(OVER_IPV6) for name in handshakes.servers}
    families = len({name.endswith(OVER_IPV6) for name in handshakes.servers})
    parts = []
    for protocol, name in _PROTOCOLS.items():
        trips = handshakes.round_trips.get(protocol, {})
        means = [float(times.mean()) for times in trips.values()]
        least, most = (f"{edge(means, default=0.0):.2f}" for edge in (min, max))
        takes = f"{name} takes {least}{'' if least == most else f' to {most}'}"
        tried = {each for each in handshakes.servers if handshakes.has_tried(each, protocol)}
        lacking = sorted(servers - {each.removesuffix(OVER_IPV6) for each in tried})
        without = f" ({', '.join(lacking)}: no {name})" if lacking else ""
        parts.append(f"{takes if means else name}{without}")
    every = [times for trips in handshakes.round_trips.values() for times in trips.values()]
    fewest = min((len(times) for times in every), default=0)
    absent = sorted({OURS, *PROGRAMS} - servers)
    beyond = f"; not installed here: {', '.join(absent)}" if absent else ""
    return (
        f"Round trips of full handshakes in the lab, {fewest} or more of each, over "
        f"{_count(len(servers), 'server')} and {_count(families, 'address family')}: "
        f"{', '.join(parts)}{beyond}"
    )


def _count(number: int, what: str) -> str:
    if number == 1:
        return f"1 {what}"
    return f"{number} {what.removesuffix('y')}ies" if what.endswith("y") else f"{number} {what}s"


_DRAW: Mapping[Figure, Callable[[Material], Parts | None]] = {
    "gain-cdf": _draw_gain_cdf,
    "mean-gains": _draw_mean_gains,
    "heat-map": _draw_heat_map,
    "grid-cdf": _draw_grid_cdf,
    "time-cdf": _draw_time_cdf,
    "cellular-cdf": _draw_cellular_cdf,
    "congestion-cdf": _draw_congestion_cdf,
    "differences-cdf": _draw_differences_cdf,
    "handshakes-cdf": _draw_handshakes_cdf,
}


def _answer_rows(material: Material, claim: Claim, rows: Sequence[Row]) -> Iterator[RowAnswer]:
    """Return the answers to the rows that are measured and have a value."""
    question = material.question(claim)
    for row in rows:
        if (
            question.is_measured(row)
            and (answer := question.answer_row(row)).found.value is not None
        ):
            yield answer


def _beside(found: Sequence[tuple[Claim, RowAnswer]]) -> tuple[Heads, tuple[Cells, ...]]:
    """Return the table of published values and ours."""
    heads = ("network", "comparison", "metric", "theirs", "ours [95 %]")
    return heads, tuple(
        (
            each.row.network,
            each.row.comparison,
            SHORT.get(each.row.metric, each.row.metric),
            format_value(claim, each.row.number or 0.0),
            format_estimate(claim, each.found),
        )
        for claim, each in found
    )


def _list_compared(preset: str, results: StudyResults) -> list[Comparison]:
    """Return the preset's own comparisons whose stacks were loaded; else those of the runs."""
    stacks = {stack.name for stack in results.plan.stacks}
    document = tomllib.loads(PRESETS_BY_NAME[preset].text)
    own = [Comparison(*pair) for pair in document.get("comparisons", ()) if set(pair) <= stacks]
    return own or list(results.comparisons)


def _place(name: str) -> tuple[float, float] | None:
    """Return a network's rate and round trip, unless its rate varies."""
    network: Network | None = get_network(name)
    if network is None or network.varies:
        return None
    return network.down_mbit_s, float(network.rtt_ms_min)


def _list(names: Iterable[object]) -> str:
    """Return names for a sentence, the first NAMES_MAX of them."""
    every = [str(name) for name in names]
    more = f" and {len(every) - NAMES_MAX} more" if len(every) > NAMES_MAX else ""
    return f"{', '.join(every[:NAMES_MAX])}{more}"

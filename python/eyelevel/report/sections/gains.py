"""The table of gains, and below it their details, collapsed.

The section on drift: the autocorrelation of differences and its power. The gains expected on other
sites like the study's, by the mixed model.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from eyelevel.analysis.claims import (
    CLAIMS,
    effect_of,
    estimate_needed,
    is_first_look,
    no_verdict_because,
    verdict_of,
)
from eyelevel.analysis.formats import (
    NO_BREAK,
    format_number,
    format_p,
    format_p_equation,
    format_percent,
    format_signed,
    format_signed_ms,
)
from eyelevel.analysis.gains.cells import GainTests, NetworkGain
from eyelevel.analysis.report_metrics import title_of
from eyelevel.analysis.stats.autocorrelation import DRIFT_LENGTH, DRIFT_SHARE, REPETITIONS_MIN
from eyelevel.analysis.stats.estimate import Estimate
from eyelevel.analysis.stats.pooled import STACKS_MIN
from eyelevel.analysis.study import StudyResults
from eyelevel.analysis.trials.starvation import briefly
from eyelevel.base.json_types import JsonObject
from eyelevel.plan.comparisons import Comparison
from eyelevel.plan.networks.network import Network
from eyelevel.report.html import Markup, element, render
from eyelevel.report.sections.outcomes import timeouts_beside, timeouts_details, timeouts_json
from eyelevel.report.statistic_cells import (
    brief_cell,
    estimate_cell,
    make_collapsed_table,
    make_compared_json,
    make_undetermined_cell,
)

ROWS_MAX = 400  # a larger study has only its primary metric's, and the first of those


NOTE = (
    "p is of no difference, by the same t as the interval. If mean and median point in opposite "
    "directions, there is no verdict. Holm's correction decides what is called faster or slower: "
    "it bounds the chance of any false claim in the family, which is all comparisons over all "
    "networks ({members} with a p value). That of Benjamini and Hochberg bounds the share of false "
    "claims, if the comparisons are independent or positively dependent. p of equivalence is that "
    "of two one-sided t tests (TOST) against ±{effect}, uncorrected; “no difference that matters” "
    "needs the whole 95 % interval within these bounds, and this p at most 0.05 after Bonferroni. "
    "p values of the other metrics are in `eyelevel report --json`."
)


@dataclass(frozen=True)
class GainCell:
    """One gain: its numbers with their p values for JSON, and its texts for the page."""

    tests: GainTests
    verdict: str | None
    no_verdict_because: str | None
    would_decide: JsonObject | None
    """The blocks and minutes that would decide an undecided study that may stop early."""

    @property
    def _shown(self) -> tuple[Estimate, Callable[[float], str]]:
        """The estimate on the page and its format: the difference if there is no ratio."""
        gain = self.tests.gain
        if gain.is_absolute:
            return gain.difference, lambda value: format_signed(value, gain.metric)
        return gain.gain, format_percent

    @property
    def claim(self) -> str:
        """The CSS class that colours the gain; only a verdict has a colour."""
        return self.verdict if self.verdict in CLAIMS else "unclear"

    @property
    def value(self) -> str:
        """The value as text; `undetermined` without one, and empty if no load was compared."""
        estimate, write = self._shown
        if estimate.value is not None:
            return write(estimate.value)
        return "undetermined" if estimate.reason else ""

    @property
    def interval(self) -> str:
        """The bounds as text, or why there are none."""
        estimate, write = self._shown
        if estimate.low is None or estimate.high is None:
            return estimate.reason
        return f"{write(estimate.low)} to {write(estimate.high)}"

    @property
    def unfinished(self) -> Markup:
        """The number of loads that count as their limit, as HTML."""
        return timeouts_beside(self.tests.gain)

    def as_json(self) -> JsonObject:
        """Return the gain as JSON."""
        tests, gain = self.tests, self.tests.gain
        return {
            **make_compared_json(gain),
            "gain": gain.gain.as_json(),
            "median": gain.median.as_json(),
            "difference": gain.difference.as_json(),
            "ratio_of_means": gain.ratio_of_means.as_json(),
            "timeouts": timeouts_json(gain),
            "slow_loads": slow_loads_json(gain),
            "p_holm": gain.p_holm,
            "p_benjamini_hochberg": tests.p_benjamini_hochberg,
            "p_equivalence": tests.equivalence.p,
            "family": tests.family,
            "verdict": self.verdict,
            "no_verdict_because": self.no_verdict_because,
            "one_sided": _bounds_json(gain),
            "would_decide": self.would_decide,
        }


class MetricName(NamedTuple):
    """The metric of a row: its name in plans, its title, and whether it is the primary one."""

    name: str
    title: str
    is_primary: bool


@dataclass(frozen=True)
class GainsSection:
    """The gains: a table per network, a row per metric, and a column per comparison."""

    networks: tuple[Network, ...]
    metrics: tuple[MetricName, ...]
    comparisons: tuple[Comparison, ...]
    gains: tuple[GainCell, ...]
    primary: str
    may_stop: bool
    shares_error: bool
    """Whether the stacks of a network share the error of gains."""
    is_first_look: bool
    is_unfinished: bool
    has_timeouts: bool
    withheld: Mapping[str, str]
    """The reason in a few words, by network without a gain."""

    @cached_property
    def cells(self) -> dict[tuple[str, str, Comparison], GainCell]:
        """The gains by network, metric and comparison."""
        return {_key(cell.tests.gain): cell for cell in self.gains}

    def as_json(self) -> JsonObject:
        """Return the gains as JSON."""
        return {"gains": [cell.as_json() for cell in self.gains]}


def _key(gain: NetworkGain) -> tuple[str, str, Comparison]:
    return gain.network, gain.metric, gain.comparison


def gains_section(results: StudyResults) -> Markup:
    """Return the section."""
    return render("gains", _gains(results))


def gains_json(results: StudyResults) -> JsonObject:
    """Return the gains as JSON."""
    return _gains(results).as_json()


def _gains(results: StudyResults) -> GainsSection:
    primary = results.primary_metric
    would_decide = {_key(each.gain): each.as_json() for each in estimate_needed(results)}
    return GainsSection(
        networks=results.plan.networks,
        metrics=tuple(
            MetricName(name, title_of(name), name == primary) for name in results.metrics
        ),
        comparisons=tuple(results.comparisons),
        gains=tuple(
            GainCell(
                tests,
                verdict_of(results, tests.gain),
                no_verdict_because(results, tests.gain),
                would_decide.get(_key(tests.gain)),
            )
            for tests in results.gain_tests
        ),
        primary=title_of(primary),
        may_stop=results.may_stop,
        shares_error=not results.may_stop and len(results.stacks) >= STACKS_MIN,
        is_first_look=is_first_look(results),
        is_unfinished=bool(results.unfinished),
        has_timeouts=any(cell.timeouts or cell.timeouts_reference for cell in results.cells),
        withheld={name: briefly(why) for name, why in results.too_disturbed.items()},
    )


def _bounds_json(gain: NetworkGain) -> JsonObject | None:
    """Return the one-sided bounds of a primary gain of a study that may stop early."""
    bounds = gain.one_sided
    return None if bounds is None else {"low": bounds.low, "high": bounds.high}


def slow_loads_json(gain: NetworkGain) -> JsonObject | None:
    """Return the primary metric's shares of slow loads and their tests; None for other metrics."""
    slow = gain.slow_loads
    if slow is None:
        return None
    shares = {name: getattr(slow, name).as_json() for name in ("share", "share_reference")}
    return {**shares, "pairs": slow.pairs, "p": slow.p, "p_holm": gain.p_slow_holm}


def gain_details(results: StudyResults) -> Markup:
    """Return the details of the gains; empty if there are none."""
    parts = (timeouts_details, p_values_details, other_sites_details, drift_note)
    details = [markup for markup in (part(results) for part in parts) if markup]
    if not details:
        return Markup("")
    return element("section", *details, aria_label="more about the gains")


def gain_details_json(results: StudyResults) -> JsonObject:
    """Return the details as JSON, without the p values, which `gains_json` has."""
    return _other_sites_json(results) | drift_json(results)


def p_values_details(results: StudyResults) -> Markup:
    """Return the p values, collapsed; empty if no gain has one."""
    if all(tested.gain.gain.p is None for tested in results.gain_tests):
        return Markup("")
    primary = results.primary_metric
    tests = [
        tested
        for tested in results.gain_tests
        if tested.gain.metric == primary and tested.gain.network not in results.too_disturbed
    ]
    listed = tests[:ROWS_MAX]
    rows = [_row(tested) for tested in listed]
    columns = [
        "network", "stack", "reference", "median, 95 % interval", "difference, 95 % interval", "p",
        "p after Holm", "p after Benjamini-Hochberg", "p of equivalence",
    ]  # fmt: skip
    members = next((tested.members for tested in listed), 0)
    primary_gains = [tested.gain for tested in tests]
    effect = format_percent(effect_of(primary_gains, results.smallest_effect), signed=False)
    note = NOTE.format(members=members, effect=effect)
    if any(tested.gain.median.low is None for tested in listed):
        note += " A median has an interval from six repetitions on."
    if left_out := len(tests) - len(listed):
        note += f" {left_out} more comparisons are in `eyelevel report --json`."
    if results.may_stop:
        note += (
            " In this study, which could stop at any block, p comes from the confidence sequence, "
            "and the column for Holm has it after Bonferroni; “no difference that matters” needs "
            "one-sided confidence sequences within the bounds."
        )
    summary = "p values, corrections and equivalence"
    caption = f"p values of {title_of(primary)}"
    return make_collapsed_table(summary, caption, columns, rows, note)


def _row(tests: GainTests) -> list[object]:
    gain = tests.gain.gain
    alike = tests.equivalence
    return [
        tests.gain.network,
        tests.gain.stack,
        tests.gain.reference,
        brief_cell(tests.gain.median, format_percent),
        estimate_cell(tests.gain.difference, lambda ms: format_signed_ms(ms, math.inf)),
        _format_p_or_none(gain.p),
        _format_p_or_none(tests.gain.p_holm),
        _format_p_or_none(tests.p_benjamini_hochberg),
        make_undetermined_cell(alike.reason) if alike.p is None else format_p(alike.p),
    ]


def _format_p_or_none(value: float | None) -> object:
    return element("span", "none", class_="quiet") if value is None else format_p(value)


def warn_of_drift(results: StudyResults) -> list[tuple[str, str]]:
    """Return a warning if successive blocks are more alike than by chance."""
    drift = results.drift
    if drift is None or not drift.seen:
        return []
    found = drift.autocorrelation
    assert found.p is not None
    text = (
        f"Their lag-1 autocorrelation is {_describe(found)}, {format_p_equation(found.p)}. "
        "If a stack drifted, intervals are too narrow: run again at another time or on other "
        "machines."
    )
    return [("Successive blocks resemble each other.", text)]


def drift_note(results: StudyResults) -> Markup:
    """Return the autocorrelation with its interval and power, or why there is none.

    Empty if nothing is compared.
    """
    drift = results.drift
    if drift is None:
        return Markup("")
    found = drift.autocorrelation
    if found.value is None:
        text = f"A drift can be seen from {REPETITIONS_MIN} blocks on; here are {found.n}."
        if found.n >= REPETITIONS_MIN:
            text = f"Whether a stack drifted is unknown: {found.reason}."
        return element("p", text, class_="note")
    share = format_percent(drift.noticed_share, signed=False)
    text = (
        f"Lag-1 autocorrelation of the differences: {_describe(found)}, pooled "
        f"over all comparisons. A drift of {DRIFT_SHARE:.0%} of one stack's variance over "
        f"{DRIFT_LENGTH:g} blocks would be noticed in {share} of such runs: "
        "that there is no warning proves nothing."
    )
    return element("p", text, class_="note")


def drift_json(results: StudyResults) -> JsonObject:
    """Return the drift as JSON."""
    return {"drift": None if results.drift is None else results.drift.as_json()}


def _describe(found: Estimate) -> str:
    value, low, high = (
        format_number(each or 0.0, "+.2f") for each in (found.value, found.low, found.high)
    )
    return f"{value} (95{NO_BREAK}% interval {low} to {high})"


_OTHER_SITES_NOTE = (
    "The gains above are those of these very sites. Here the sites are treated as a random "
    "sample of the sites in question, so that the interval covers others like them: a mixed "
    "model of log(X / reference) with random sites. It assumes that the sites were chosen "
    "without regard to the stacks, and that sites and runs scatter about normally on the log "
    "scale. The scatter of sites says how far their own gains lie from the typical one, the "
    "scatter of runs how far single blocks lie from their site's gain. p is not corrected for "
    "the number of networks and comparisons."
)


def other_sites_details(results: StudyResults) -> Markup:
    """Return the models, collapsed; empty with fewer than five sites."""
    if not results.sites_models:
        return Markup("")
    primary = results.primary_metric
    gains = {
        (gain.network, gain.comparison): gain.gain
        for gain in results.gains
        if gain.metric == primary
    }
    rows: list[list[object]] = []
    for network_model in results.sites_models:
        model, estimate = network_model.model, network_model.model.gain
        of_these_sites = gains.get((network_model.network, network_model.comparison))
        rows.append(
            [
                network_model.network,
                network_model.stack,
                network_model.reference,
                estimate_cell(estimate, format_percent),
                "none" if estimate.p is None else format_p(estimate.p),
                estimate_cell(of_these_sites, format_percent) if of_these_sites else "none",
                _format_share(model.deviation_sites),
                _format_share(model.deviation_runs),
            ]
        )
    columns = [
        "network", "stack", "reference", "gain on such sites, 95 % interval", "p",
        "gain on these sites, 95 % interval", "sites scatter by", "runs scatter by",
    ]  # fmt: skip
    caption = f"{title_of(primary)}: a mixed model over sites"
    return make_collapsed_table(
        "On other sites like these", caption, columns, rows, _OTHER_SITES_NOTE
    )


def _other_sites_json(results: StudyResults) -> JsonObject:
    """Return the models as JSON, one object per network and comparison."""
    return {
        "other_sites": [
            {
                **make_compared_json(model),
                "gain": model.model.gain.as_json(),
                "deviation_sites": model.model.deviation_sites,
                "deviation_runs": model.model.deviation_runs,
            }
            for model in results.sites_models
        ]
    }


def _format_share(value: float | None) -> str:
    return "none" if value is None else format_percent(value, signed=False)

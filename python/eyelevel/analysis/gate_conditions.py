"""The conditions of a gate: how they are written, and which loads they refer to."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

from eyelevel.analysis.stats.quantile import blocks_min
from eyelevel.analysis.stats.quantile_gain import repetitions_min
from eyelevel.analysis.study import StudyResults
from eyelevel.analysis.trials.blocks import Floats, limits_by_site, loads_by_repetition
from eyelevel.base.errors import ExpectedError, unknown
from eyelevel.plan.user_timings import is_user_timing, with_unit

_NUMBER = r"\d+(?:\.\d+)?"
_CONDITION = re.compile(
    r"(?P<stack>\S.*)\.(?P<metric>(?!p\d+ )(?:(?:mark|measure):[^\s.]+|\w+))"
    r"(?:\.p(?P<quantile>\d{1,2}))? "
    rf"(?:(?P<way>worse|better) than (?P<reference>\S.*) by (?P<bound>{_NUMBER}) ?%"
    rf"|(?P<side>above|below) (?P<amount>{_NUMBER}) ?(?P<unit>s|ms)?)"
    r"(?: on (?P<network>\S.*))?"
)
_EXAMPLES = (
    "`quic.speed_index worse than tcp+ by 5% on dsl` or "
    "`quic.largest_contentful_paint.p75 above 2.5 s`"
)


BLOCKS_MIN = 2
"""The fewest blocks with which a gain has an error."""

SHORT_NAMES = {
    "fcp": "first_contentful_paint_ms",
    "lcp": "largest_contentful_paint_ms",
    "plt": "page_load_time_ms",
    "si": "speed_index_ms",
    "ttfb": "time_to_first_byte_ms",
}
"""The short names of metrics."""


class GateError(ExpectedError):
    """A condition that cannot be read, or that refers to something the run lacks."""


@dataclass(frozen=True)
class Condition:
    """One condition on two stacks, or with `reference` None a budget of one.

    For two stacks, `quantile` None stands for a report's gain, over pairs of loads. The condition
    is met beyond `limit` on the side of `above`: a signed share of the reference, or an amount in
    the metric's unit. `network` None: each of the plan's.
    """

    text: str
    stack: str
    metric: str
    quantile: float | None
    above: bool
    limit: float
    reference: str | None
    network: str | None


def parse_condition(
    text: str, stacks: list[str], metrics: list[str], networks: list[str]
) -> Condition:
    """Parse `STACK.METRIC[.pN] worse than STACK by X% [on NETWORK]`, or `... above 2.5 s ...`.

    A metric may be named without its unit, or by SHORT_NAMES; a page's own is `mark:NAME` or
    `measure:NAME`, whose name has no space and no dot here. Raises GateError.
    """
    found = _CONDITION.fullmatch(text.strip())
    if found is None:
        raise GateError(f"--fail-if: `{text}` cannot be read; write it like {_EXAMPLES}")
    named = SHORT_NAMES.get(found["metric"], found["metric"])
    metric = with_unit(named) if named in metrics or is_user_timing(named) else f"{named}_ms"
    known_metrics = [metric] if is_user_timing(metric) else metrics
    for kind, word, known in (
        ("stack", found["stack"], stacks),
        ("stack", found["reference"] or found["stack"], stacks),
        ("metric", metric if metric in known_metrics else named, known_metrics),
        ("network", found["network"] or networks[0], networks),
    ):
        if word not in known:
            raise GateError(f"--fail-if: {unknown(kind, word, known)}")
    if found["reference"] == found["stack"]:
        fault = f"`{text}` compares {found['stack']} with itself"
        raise GateError(f"--fail-if: {fault}; name another stack behind `than`")
    if found["quantile"] is None and found["amount"]:
        raise GateError("--fail-if: a budget needs a percentile; write it like speed_index.p75")
    if found["quantile"] is not None and not int(found["quantile"]) > 0:
        raise GateError("--fail-if: the quantile must be p1 to p99; write it like speed_index.p50")
    if found["amount"] and bool(found["unit"]) != metric.endswith("_ms"):
        need = "a limit in `s` or `ms`" if metric.endswith("_ms") else "a limit without a unit"
        raise GateError(f"--fail-if: {metric} needs {need}; write it so")
    if found["way"]:
        limit = float(found["bound"]) / 100 * (1 if found["way"] == "worse" else -1)
    else:
        limit = float(found["amount"]) * (1000 if found["unit"] == "s" else 1)
    above = (found["way"] or found["side"]) in ("worse", "above")
    share = None if found["quantile"] is None else int(found["quantile"]) / 100
    names = found["reference"], found["network"]
    return Condition(text.strip(), found["stack"], metric, share, above, limit, *names)


def check_conditions(conditions: Sequence[Condition], blocks: int, *, may_stop: bool) -> None:
    """Raise GateError for a condition that no run with this many blocks can decide."""
    for each in conditions:
        if each.quantile is None:
            fewest, what, instead = BLOCKS_MIN, "a gain", ""
        else:
            fewest = (repetitions_min if each.reference else blocks_min)(each.quantile)
            what, instead = f"p{each.quantile * 100:g}", ", or ask about a percentile closer to p50"
            if may_stop:
                gain = f"leave out `.{what}` to ask about the gain, or " if each.reference else ""
                raise GateError(
                    "--fail-if: the plan may stop early (`stop`), but a percentile's interval "
                    f"holds for a single look only; {gain}remove `stop`"
                )
        if blocks < fewest:
            raise GateError(
                f"--fail-if: {what} needs at least {fewest} blocks, but the "
                f"plan has {blocks}: raise `blocks`{instead}"
            )


@dataclass(frozen=True)
class Question:
    """A condition on one network; a budget has one question per site, a comparison one for all."""

    condition: Condition
    network: str
    site: str | None


def questions(
    conditions: Sequence[Condition], networks: Sequence[str], sites: Sequence[str]
) -> list[Question]:
    """Return all questions, which form one family."""
    return [
        Question(each, network, site)
        for each in conditions
        for network, site in product(
            [each.network] if each.network else networks, [None] if each.reference else sites
        )
    ]


def pair_loads(question: Question, contents: StudyResults) -> tuple[Floats, Floats, list[float]]:
    """Return both stacks' loads as `loads_of` does, and the least value of a timeout by site."""
    condition = question.condition
    assert condition.reference is not None
    values, reference = (
        loads_of(question, stack, contents) for stack in (condition.stack, condition.reference)
    )
    asked = question.network, condition.metric, contents.sites
    return values, reference, limits_by_site(contents.blocks.kept, *asked)


def loads_of(question: Question, stack: str, contents: StudyResults) -> Floats:
    """Return sites x repetitions of the kept blocks: NaN for no load, infinity for a timeout."""
    sites = contents.sites if question.site is None else [question.site]
    kept = contents.blocks.kept
    return loads_by_repetition(kept, question.network, stack, question.condition.metric, sites)

"""Conditions that a run must not meet: what a team's continuous integration asks of it."""

import math
import re
from dataclasses import asdict, dataclass
from typing import Literal

import numpy as np
import polars as pl

from eyelevel.analysis.formats import format_interval, format_percent
from eyelevel.analysis.study import Contents
from eyelevel.analysis.trials.blocks import with_timeouts
from eyelevel.errors import ExpectedError, unknown
from eyelevel.stats.estimate import Estimate
from eyelevel.stats.quantile_gain import Pairs, quantile_gain

Status = Literal["passed", "failed", "undetermined"]

_CONDITION = re.compile(
    r"(?P<stack>\S.*)\.(?P<metric>\w+)\.p(?P<quantile>\d{1,2}) (?P<way>worse|better) than "
    r"(?P<reference>\S.*) by (?P<bound>\d+(?:\.\d+)?) ?%(?: on (?P<network>\S.*))?"
)
_EXAMPLE = "quic.speed_index.p50 worse than tcp+ by 5% on dsl"


class GateError(ExpectedError):
    """A condition that cannot be read or asks for what the run has not."""


@dataclass(frozen=True)
class Condition:
    """One condition; `network` None: each of the plan's."""

    text: str
    stack: str
    metric: str
    quantile: float
    way: Literal["worse", "better"]
    reference: str
    bound: float
    network: str | None


@dataclass(frozen=True)
class Verdict:
    """What became of one condition on one network, or of one comparison."""

    name: str
    status: Status
    message: str
    gain: Estimate
    """The change that was asked about, as a share."""
    bound: float

    def as_json(self) -> dict[str, object]:
        """The documented shape (docs/reference/report.md)."""
        return asdict(self) | {"gain": self.gain.as_json()}


def parse_condition(
    text: str, stacks: list[str], metrics: list[str], networks: list[str]
) -> Condition:
    """Read `STACK.METRIC.pN worse than STACK by X% [on NETWORK]`; raises GateError.

    A metric may be named without its unit.
    """
    match = _CONDITION.fullmatch(text.strip())
    if match is None:
        raise GateError(f"--fail-if: `{text}` cannot be read; write it like `{_EXAMPLE}`")
    metric = match["metric"] if match["metric"] in metrics else f"{match['metric']}_ms"
    for kind, word, known in (
        ("stack", match["stack"], stacks),
        ("stack", match["reference"], stacks),
        ("metric", metric, metrics),
        ("network", match["network"] or networks[0], networks),
    ):
        if word not in known:
            raise GateError(f"--fail-if: {unknown(kind, word, known)}")
    if not 0 < int(match["quantile"]) < 100:
        raise GateError("--fail-if: the quantile must be p1 to p99")
    return Condition(
        text.strip(),
        match["stack"],
        metric,
        int(match["quantile"]) / 100,
        "worse" if match["way"] == "worse" else "better",
        match["reference"],
        float(match["bound"]) / 100,
        match["network"],
    )


def evaluate(condition: Condition, contents: Contents) -> list[Verdict]:
    """One verdict a network.

    A condition holds, and the gate fails, when the estimate is beyond the bound and its 95 %
    interval excludes no difference. Without an interval it is undetermined, which is not a pass.
    """
    networks = [condition.network] if condition.network else contents.networks
    return [_verdict(condition, network, contents) for network in networks]


def decide(estimate: Estimate, bound: float, way: str) -> Status:
    """Whether a change in the bad direction is beyond the bound and beyond chance."""
    if estimate.value is None or estimate.low is None or estimate.high is None:
        return "undetermined"
    sign = 1 if way == "worse" else -1
    sure = estimate.low > 0 if way == "worse" else estimate.high < 0
    return "failed" if sure and sign * estimate.value >= bound else "passed"


def _verdict(condition: Condition, network: str, contents: Contents) -> Verdict:
    estimate = quantile_gain(_pairs(condition, network, contents), condition.quantile)
    status = decide(estimate, condition.bound, condition.way)
    subject = f"{condition.stack}.{condition.metric}.p{condition.quantile * 100:g}"
    message = (
        f"{subject} on {network} is {format_change(estimate)} against {condition.reference}; "
        f"the limit is {format_percent(condition.bound, signed=False)} {condition.way}"
    )
    return Verdict(f"{condition.text} [{network}]", status, message, estimate, condition.bound)


def format_change(estimate: Estimate) -> str:
    """An estimate with its interval in words, or that it is undetermined and why."""
    if estimate.value is None:
        return f"undetermined ({estimate.reason})"
    if estimate.low is None:
        return f"{format_percent(estimate.value)} without an interval ({estimate.reason})"
    if math.isinf(estimate.value):
        return f"a timeout's ({format_interval(estimate)})"
    return f"{format_percent(estimate.value)} ({format_interval(estimate)})"


def _pairs(condition: Condition, network: str, contents: Contents) -> list[Pairs]:
    value = with_timeouts(condition.metric).alias("value")
    kept = contents.blocks.kept.filter(pl.col("network") == network)
    of_stack, of_reference = (
        kept.filter(pl.col("stack") == stack).select("site", "repetition", value)
        for stack in (condition.stack, condition.reference)
    )
    joined = of_stack.join(
        of_reference, on=["site", "repetition"], suffix="_reference"
    ).drop_nulls()
    parts = joined.sort("site", "repetition").partition_by("site", maintain_order=True)
    if len(parts) < len(contents.sites):
        return []
    return [
        (part["value"].to_numpy().astype(np.float64), part["value_reference"].to_numpy())
        for part in parts
    ]

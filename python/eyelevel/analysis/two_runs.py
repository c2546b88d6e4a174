"""Two runs of the same sites, networks and stacks: did anything become slower?"""

from dataclasses import dataclass

import polars as pl

from eyelevel.analysis.formats import format_percent
from eyelevel.analysis.gate import GateError, Verdict, decide, format_change
from eyelevel.analysis.phrases import SIGNIFICANCE_LEVEL
from eyelevel.analysis.run_differences import run_differences
from eyelevel.analysis.study import Contents
from eyelevel.analysis.trials.blocks import Floats, with_timeouts
from eyelevel.stats.estimate import Estimate
from eyelevel.stats.families import holm
from eyelevel.stats.gain import mean_gain, unpaired_gain


@dataclass(frozen=True)
class RunComparison:
    """A verdict a network and stack, and what is not alike between the runs, a line each."""

    metric: str
    verdicts: tuple[Verdict, ...]
    differences: tuple[str, ...]


def compare_runs(old: Contents, new: Contents, metric: str, bound: float) -> RunComparison:
    """How each stack's `metric` changed from `old` to `new`, over the sites that both have.

    The gain of NEW against OLD by network and stack: the mean over sites, Welch's errors. A
    comparison fails when it is slower by the bound at least, and its p value after Holm's
    correction over all of them is at most 0.05. Only what both runs have is compared, sites by the
    same recording; the rest is among the differences. Raises GateError if the runs have nothing
    in common.
    """
    digests = [{site["name"]: site["digest"] for site in run.plan["sites"]} for run in (old, new)]
    sites = [name for name in digests[1] if digests[0].get(name) == digests[1][name]]
    cells = [
        (network, stack)
        for network in new.networks
        for stack in new.stacks
        if network in old.networks and stack in old.stacks
    ]
    if not sites or not cells:
        raise GateError(
            f"comparing {old.directory} and {new.directory}: they share no site of the same "
            "recording, network and stack; give two runs of one plan"
        )
    gains = []
    for network, stack in cells:
        by_site = [
            unpaired_gain(
                _values(new, site, network, stack, metric),
                _values(old, site, network, stack, metric),
            )
            for site in sites
        ]
        gains.append(mean_gain(by_site))
    adjusted = holm([gain.p for gain in gains])
    verdicts = [
        _verdict(f"{stack}.{metric} on {network}", gain, p, bound)
        for (network, stack), gain, p in zip(cells, gains, adjusted, strict=True)
    ]
    return RunComparison(metric, tuple(verdicts), tuple(run_differences(old, new)))


def _verdict(name: str, gain: Estimate, p_holm: float | None, bound: float) -> Verdict:
    status = decide(gain, bound, "worse")
    if status == "failed" and (p_holm is None or p_holm > SIGNIFICANCE_LEVEL):
        status = "passed"
    limit = format_percent(bound, signed=False)
    how = "is" if gain.value is None else "changed by"
    message = f"{name} {how} {format_change(gain)}; the limit is {limit} slower"
    return Verdict(name, status, message, gain, bound)


def _values(run: Contents, site: str, network: str, stack: str, metric: str) -> Floats:
    loads = run.blocks.kept.filter(
        pl.col("site") == site, pl.col("network") == network, pl.col("stack") == stack
    )
    return loads.select(with_timeouts(metric))[metric].drop_nulls().to_numpy()

"""Two runs of the same sites, networks and stacks: did anything become slower?"""

from dataclasses import dataclass

import polars as pl

from eyelevel.analysis.formats import format_percent
from eyelevel.analysis.gate import Verdict, decide, family_confidence, format_change, format_unsure
from eyelevel.analysis.gate_conditions import GateError
from eyelevel.analysis.run_differences import run_differences
from eyelevel.analysis.study import Contents
from eyelevel.analysis.trials.blocks import Floats, with_timeouts
from eyelevel.stats.estimate import Estimate
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
    comparison fails if its interval lies beyond the bound, and passes if it lies short of it; the
    intervals of all hold together in 95 % (Bonferroni). Only what both runs have is compared, sites
    by the same recording; the rest is among the differences. Raises GateError if the runs have
    nothing in common.
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
    gains, confidence = [], family_confidence(len(cells))
    for network, stack in cells:
        by_site = [
            unpaired_gain(
                _values(new, site, network, stack, metric),
                _values(old, site, network, stack, metric),
                confidence,
            )
            for site in sites
        ]
        gains.append(mean_gain(by_site, confidence))
    verdicts = [
        _verdict(f"{stack}.{metric} on {network}", gain, bound, confidence)
        for (network, stack), gain in zip(cells, gains, strict=True)
    ]
    return RunComparison(metric, tuple(verdicts), tuple(run_differences(old, new)))


def _verdict(name: str, gain: Estimate, bound: float, confidence: float) -> Verdict:
    status = decide(gain, bound)
    limit = format_percent(bound, signed=False)
    how = "is" if gain.value is None else "changed by"
    more = format_unsure(status, gain, None)
    message = f"{name} {how} {format_change(gain)}; the limit is {limit} slower{more}"
    return Verdict(name, status, message, gain, bound, confidence)


def _values(run: Contents, site: str, network: str, stack: str, metric: str) -> Floats:
    loads = run.blocks.kept.filter(
        pl.col("site") == site, pl.col("network") == network, pl.col("stack") == stack
    )
    return loads.select(with_timeouts(metric))[metric].drop_nulls().to_numpy()

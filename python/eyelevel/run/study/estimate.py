"""Predict a plan's cost and its sensitivity, before the first load.

Predict how many blocks a gate needs so that equal stacks pass it, before the first load. Predict by
synthetic studies the sensitivity and length of a study that may stop early.
"""

import heapq
import math
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean

import numpy as np
import polars as pl
from numpy.typing import NDArray

from eyelevel.analysis.decisions import list_compared_networks, rule_of
from eyelevel.analysis.gains.cells import compare_cells, network_gains, pools_of
from eyelevel.analysis.gate import (
    Condition,
    Question,
    family_confidence,
    loads_of,
    pair_loads,
    pool_of,
    questions,
)
from eyelevel.analysis.run_files import read_stored_plan, read_table
from eyelevel.analysis.sensitivity import error_of_network, smallest_effect
from eyelevel.analysis.stats.estimate import POWER, Floats
from eyelevel.analysis.stats.pooled import freedom_of
from eyelevel.analysis.stats.quantile import BLOCKS_COUNTED_MAX, DECIDING_POWER, blocks_to_bound
from eyelevel.analysis.stats.quantile_gain import (
    blocks_to_decide,
    blocks_to_part,
    compute_bounded_gain,
    one_block_error,
    one_block_error_at_most,
    quantile_gain,
)
from eyelevel.analysis.stats.sequential import reach_in_errors
from eyelevel.analysis.stats.stopping_rule import Rule, Studies, run_studies, two_digits
from eyelevel.analysis.study import StudyResults, read_results
from eyelevel.analysis.trials.blocks import select_blocks
from eyelevel.plan.plan import Plan
from eyelevel.plan.time_limit import load_s
from eyelevel.sites.recorded import RecordedSite
from eyelevel.store.directory import TRIALS, list_committed
from eyelevel.store.pictures import PICTURES

STUDIES = 1000
SEED = 11


def gate_blocks(
    conditions: Sequence[Condition], plan: Plan, deviation: float, like: StudyResults | None = None
) -> int | None:
    """Return the fewest blocks with which 90 % of runs pass all conditions if the stacks are equal.

    The scatter is that of an earlier run (`like`), if it has the loads of a condition and enough of
    them; for a gain it is its network's pooled error. Else blocks scatter by `deviation`,
    independently over sites, and every load keeps its budget. A study that may stop early ends by
    its own rule, at most after that many blocks, as in synthetic studies. None if more than 1,000
    are needed.
    """
    family = questions(conditions, [network.name for network in plan.networks], plan.sites)
    confidence = family_confidence(len(family))
    power = 1 - (1 - DECIDING_POWER) / len(family)
    needed = [
        _estimate_blocks_needed(question, plan, deviation, like, confidence, power)
        for question in family
    ]
    return None if None in needed else max(count for count in needed if count is not None)


def _estimate_blocks_needed(
    question: Question,
    plan: Plan,
    deviation: float,
    like: StudyResults | None,
    confidence: float,
    power: float,
) -> int | None:
    condition, share = question.condition, question.condition.quantile
    if condition.reference is None:
        return _blocks_for_budget(question, like, confidence, power)
    distance = abs(math.log1p(max(condition.limit, -0.999)))
    error = deviation / math.sqrt(len(plan.sites)) * (one_block_error(1.0, share) if share else 1.0)
    if like is not None and (loads := pair_loads(question, like))[0].size:
        if share is None:
            seen, _ = compute_bounded_gain(loads, pool=pool_of(question, like))
        else:
            seen = quantile_gain(*loads[:2], share)
        error = one_block_error_at_most(seen) or error
    if share is not None:
        return blocks_to_decide(error, distance, share, confidence, power)
    if plan.stop:
        return _blocks_if_it_may_stop(plan, error, distance, confidence, power)
    return blocks_to_part(error, distance, confidence, power)


def _blocks_for_budget(
    question: Question, like: StudyResults | None, confidence: float, power: float
) -> int | None:
    condition, below = question.condition, 1.0
    assert condition.quantile is not None
    if like is not None and question.site in like.sites:
        (row,) = loads_of(question, condition.stack, like)
        measured = row[~np.isnan(row)]
        if len(measured):
            below = float(((measured < condition.limit) == condition.above).mean())
    share = condition.quantile if condition.above else 1 - condition.quantile
    return blocks_to_bound(share, below, confidence, power) if below > share else None


def _blocks_if_it_may_stop(
    plan: Plan, error: float, distance: float, confidence: float, power: float
) -> int | None:
    """Return the blocks for a gain in a study that may stop early; None if too many.

    It is the least number with which enough synthetic studies of equal stacks pass.
    """
    assert plan.stop is not None
    first = plan.stop.blocks_min
    counts = sorted({two_digits(first * 1.05**step) for step in range(120)})
    counts = [count for count in counts if first < count <= BLOCKS_COUNTED_MAX]
    draw = np.random.Generator(np.random.PCG64(SEED))
    noise: Floats = error * draw.standard_normal((STUDIES, BLOCKS_COUNTED_MAX))

    def enough(count: int) -> bool:
        rule = rule_of(replace(plan, blocks=count))
        found = run_studies(rule, noise[:, :count], first)
        passed = gain_below(found, rule, distance, 1 - confidence)
        return bool(passed.mean() >= power)

    place = bisect_left(counts, True, key=enough)
    return counts[place] if place < len(counts) else None


def gain_below(
    found: Studies, rule: Rule, distance: float, significance_level: float
) -> NDArray[np.bool_]:
    """Return whether each study's one-sided bound, where it stopped, is below a log limit."""
    ratios = {
        n: reach_in_errors(n, significance_level, rule.horizon, one_sided=True) / rule.reaches(n)[0]
        for n in np.unique(found.blocks).tolist()
    }
    part = np.array([ratios[n] for n in found.blocks.tolist()])
    with np.errstate(invalid="ignore"):  # an unbounded interval is below nothing
        values, reach = (found.low + found.high) / 2, (found.high - found.low) / 2
        below: NDArray[np.bool_] = values + reach * part < distance
    return below


VALUES_MAX = 100_000
"""The most values in all synthetic studies together: long plans get fewer studies, so that an
estimate takes seconds."""
_SEQUENTIAL_ESTIMATE_SEED = 4
STEPS = 12
"""The bisection steps; they find the effect to a four-thousandth of the range."""


@dataclass(frozen=True)
class SequentialEstimate:
    """The effect that a study finds, and the blocks that it takes.

    `effect`: the share by which a stack is faster if POWER of studies find it; None if there is no
    such effect. The median study of one comparison ends after `blocks_effect` with that effect,
    after `blocks_equal` with none.
    """

    effect: float | None
    blocks_effect: int | None
    blocks_equal: int


def sequential_estimate(plan: Plan, deviation: float) -> SequentialEstimate:
    """Simulate studies by the plan's own rule.

    `deviation`: the standard deviation of a repetition's mean log ratio. An effect is found if the
    report calls it faster, at a stop or at the last block. Repetitions are taken as independent and
    normal.
    """
    assert plan.stop is not None
    rule, blocks_min = rule_of(plan), plan.stop.blocks_min
    studies = max(100, min(STUDIES, VALUES_MAX // plan.blocks))
    draw = np.random.Generator(np.random.PCG64(_SEQUENTIAL_ESTIMATE_SEED))
    noise: Floats = deviation * draw.standard_normal((studies, plan.blocks))

    def run(effect: float) -> Studies:
        return run_studies(rule, noise - effect, blocks_min)

    def found(effect: float) -> bool:
        return bool((run(effect).claim < 0).mean() >= POWER)

    equal = int(np.median(run(0.0).blocks))
    reach, _ = rule.reaches(plan.blocks)
    # More than the last interval plus the smallest effect, below which a gain is called alike.
    high = 2 * (reach + 1) * deviation / math.sqrt(plan.blocks)
    high -= math.log1p(-rule.smallest_effect)
    if math.isinf(reach) or not found(high):
        return SequentialEstimate(None, None, equal)
    low = 0.0
    for _ in range(STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if found(middle) else (middle, high)
    return SequentialEstimate(-math.expm1(-high), int(np.median(run(high).blocks)), equal)


TRIAL_OVERHEAD_S = 3.5
"""The time of a trial beyond its load, in s: the bound of `make bench`."""
RECORD_BYTES = 10_000
LOAD_BYTES = 40_000
"""The size of a load with its frames: 21 to 55 kB for shipped sites
(docs/decisions/0007-frame-capture.md)."""
PICTURE_BYTES = 100_000
"""The size of a site's last frame, which is stored once; 43 to 146 kB for the shipped sites."""
COMMIT_S = 0.01
"""The time to commit a trial of a cluster: the bound of `benchmarks/cluster.py`."""
DEVIATION = 0.10
"""The standard deviation of a block's difference as a share of the reference, if none is known;
0.03 to 0.15 was measured on an idle machine."""


@dataclass(frozen=True)
class PlanEstimate:
    """Predictions of a study, each with its basis.

    `effects`: by network, the share by which a stack must be faster for 80 % of runs to find it,
    after correction for all comparisons. It is that of one gain over the sites, with an error
    pooled over the stacks; without an earlier run of as many sites, disturbances of several sites
    at once are assumed absent. For a plan that may stop early it comes from synthetic studies by
    its own rule and is the same on every network; `sequential` also has the numbers of blocks after
    which these stop. Time and disk are those of all blocks, `seconds` on `slots`, a block at a time
    on each, without the checks of machines before their first block. `timeout_s_max`: the longest
    time limit of a load. `gate_blocks`: the blocks that a given gate needs
    (`eyelevel.run.study.estimate`); None without a gate or if 1,000 are too few.
    """

    trials: int
    seconds: float
    time_source: str
    disk_bytes: float
    disk_source: str
    effects: Mapping[str, float]
    effect_source: str
    timeout_s_max: float
    gate_blocks: int | None = None
    gate_source: str = ""
    sequential: SequentialEstimate | None = None
    slots: int = 1


def estimate(
    plan: Plan,
    sites: Sequence[RecordedSite],
    like: Path | None = None,
    conditions: Sequence[Condition] = (),
    slots: int = 1,
) -> PlanEstimate:
    """Predict from the recordings' sizes, or from an earlier run's records in `like`."""
    trials = len(plan.stacks) * plan.blocks * len(sites) * len(plan.networks)
    cells_s = _cells_s(plan, sites)
    timeout_s_max = max(
        plan.browser.limit_of(site.body_bytes(), network)
        for site in sites
        for network in plan.networks
    )
    time_source = "sizes, rates and round trips, roughly"
    disk, disk_source = _disk_bytes(plan, len(sites)), "loads of the shipped sites"
    deviations: Mapping[str, float] = {}
    deviation, effect_source = DEVIATION, "an assumed scatter of 10 % between blocks"
    if like is not None:
        stored = read_stored_plan(like)
        table = read_table(like, stored)
        wall_ms: float | None = table.select(pl.col("wall_ms").mean()).item()
        if wall_ms is not None:
            cells_s = [len(plan.stacks) * wall_ms / 1e3] * len(cells_s)
            time_source = f"mean load of {like}"
        if (measured_bytes := _disk_bytes_like(plan, len(sites), like, stored.plan)) is not None:
            disk, disk_source = measured_bytes
        if deviations := _deviations(plan, stored.plan, table):
            deviation = math.sqrt(fmean(each**2 for each in deviations.values()))
            effect_source = f"the scatter of blocks in {like}"
    networks = list_compared_networks(plan)
    effects: Mapping[str, float] = {}
    sequential: SequentialEstimate | None = None
    scatter_source = effect_source
    of_repetition = deviation / math.sqrt(len(sites))
    if plan.blocks < 2:
        effect_source = "one block shows no spread"
    elif plan.stop:
        sequential, effect_source = _sequential(plan, of_repetition, effect_source)
        if sequential.effect is not None:
            effects = dict.fromkeys(networks, sequential.effect)
    else:
        effects = {
            network: _effect(plan, deviations.get(network, deviation) / math.sqrt(len(sites)))
            for network in networks
        }
        effect_source += f", after the correction for {_comparisons(plan)} comparisons"
    gate, gate_source = None, ""
    if conditions:
        results = None if like is None else read_results(like)
        gate = gate_blocks(conditions, plan, deviation, results)
        gate_source = (
            f"equal stacks, kept budgets pass in {DECIDING_POWER:.0%} of runs; {scatter_source}"
        )
    seconds, on_slots = _on_slots(cells_s * plan.blocks, slots, trials)
    at_most = "; at most, since it may stop early" if plan.stop else ""
    return PlanEstimate(
        trials,
        seconds,
        time_source + on_slots + at_most,
        disk,
        disk_source,
        effects,
        effect_source,
        timeout_s_max,
        gate,
        gate_source,
        sequential,
        slots,
    )


def repetition_s(plan: Plan, sites: Sequence[RecordedSite]) -> float:
    """Return the seconds of one repetition, a block of each site and network, by the estimate."""
    return sum(_cells_s(plan, sites))


def find_load_ms(plan: Plan, seconds: float) -> float:
    """Return the mean time of a load by the estimate of a repetition (`repetition_s`)."""
    loads = len(plan.stacks) * len(plan.sites) * len(plan.networks)
    return 1000 * max(0.0, seconds / loads - TRIAL_OVERHEAD_S)


def _cells_s(plan: Plan, sites: Sequence[RecordedSite]) -> list[float]:
    """Return the seconds of one block of each site and network, from the recordings' sizes."""
    return [
        len(plan.stacks) * (TRIAL_OVERHEAD_S + load_s(site.body_bytes(), network))
        for site in sites
        for network in plan.networks
    ]


def _on_slots(blocks_s: Sequence[float], slots: int, trials: int) -> tuple[float, str]:
    """Return the time of these blocks in s, and a note on slots for its source."""
    seconds = _spread_s(blocks_s, slots)
    if slots == 1:
        return seconds, ""
    text = f"; {slots} slots once their machines are admitted"
    commits_s = COMMIT_S * trials
    if commits_s <= seconds:
        return seconds, text
    return commits_s, f"{text}, as fast as one writer commits"


def _spread_s(blocks_s: Sequence[float], slots: int) -> float:
    """Return the time in s of blocks in their order, each on the first free slot."""
    if slots == 1:
        return math.fsum(blocks_s)
    free_s = [0.0] * min(slots, len(blocks_s))
    for block_s in blocks_s:
        heapq.heapreplace(free_s, free_s[0] + block_s)
    return max(free_s)


def _sequential(plan: Plan, deviation: float, source: str) -> tuple[SequentialEstimate, str]:
    """Estimate by synthetic studies, and return the estimate with its basis."""
    found = sequential_estimate(plan, deviation)
    if found.effect is None:
        return found, f"{plan.blocks} blocks are too few to stop at"
    count = _comparisons(plan)
    shared = f", the level shared by {count} comparisons" if count > 1 else ""
    return found, f"{source}; by its rule{shared}"


def _comparisons(plan: Plan) -> int:
    return len(plan.comparisons) * len(list_compared_networks(plan))


def _effect(plan: Plan, deviation: float) -> float:
    """Return the effect that a fixed number of blocks shows, as a share.

    `deviation` is that of a repetition's mean log ratio.
    """
    stacks = plan.causes.stacks if plan.causes else plan.stacks
    freedom = freedom_of(len(stacks), plan.blocks - 1)
    return smallest_effect(deviation / math.sqrt(plan.blocks), freedom, _comparisons(plan))


def _disk_bytes(plan: Plan, sites: int) -> float:
    trials = len(plan.stacks) * plan.blocks * sites * len(plan.networks)
    if not plan.browser.capture:
        return float(RECORD_BYTES * trials)
    return float(LOAD_BYTES * trials + PICTURE_BYTES * sites)


def _disk_bytes_like(plan: Plan, sites: int, like: Path, earlier: Plan) -> tuple[float, str] | None:
    """Estimate the disk space and its source from an earlier run; None if it has no loads.

    Each load's files count, and once per site its last frame.
    """
    names = list_committed(like)
    if not names:
        return None
    a_load = math.fsum(_size(like / TRIALS / name) for name in names) / len(names)
    pictures = _size(like / PICTURES) / len(earlier.sites)
    trials = len(plan.stacks) * plan.blocks * sites * len(plan.networks)
    logs, had = plan.browser.kept_logs(), earlier.browser.kept_logs()
    source = f"mean load of {like}"
    if more := [f"`{key}`" for key, value in logs.items() if value != had.get(key)]:
        source += f", without this plan's {' and '.join(more)}"
    return a_load * trials + pictures * sites, source


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def _deviations(plan: Plan, earlier: Plan, table: pl.DataFrame) -> dict[str, float]:
    """Return the standard deviation of a site's block in an earlier run, by network.

    It is computed as if sites were independent: that of a repetition's mean over the sites, times
    the root of their number. So disturbances of a stack on all sites of a repetition are included.
    """
    stacks, sites = [stack.name for stack in earlier.stacks], earlier.sites
    kept, metric = select_blocks(table, stacks).kept, plan.primary_metric
    cells = compare_cells(kept, [metric], earlier.comparisons)
    gains = network_gains(cells, sites, pools=pools_of(kept, [metric], sites))
    found = {each.name: error_of_network(gains, each.name) for each in earlier.networks}
    return {name: each.deviation * math.sqrt(len(sites)) for name, each in found.items() if each}

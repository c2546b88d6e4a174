"""What a plan costs, and what its number of runs can show: predicted before the first load."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from eyelevel.networks import Network, settling_s
from eyelevel.plan import Plan
from eyelevel.run.sites import RecordedSite, site_info
from eyelevel.stats import compare_cells, select_blocks, smallest_detectable
from eyelevel.store import PLAN_FILE, read_document

TRIAL_OVERHEAD_S = 3.5
"""A trial beyond the load: the bound of benchmarks/bench.py."""
ROUND_TRIPS = 12
"""Of a page: name, handshake, document, and a few levels of what it refers to."""
FAST_BIT_S = 10**9
"""Of a direction without a link."""
RECORD_BYTES = 150_000
"""Of a load with its frames: of the shipped sites 90 to 165 kB, and a record of 10."""
DEVIATION = 0.10
"""Of a block's difference as a share of the reference, where nothing is known; seen on an otherwise
idle machine: 0.03 to 0.15."""


@dataclass(frozen=True)
class PlanEstimate:
    """Predictions, each with what it goes by; `effect` as a share, at 80 % power and level 0.05.

    The effect is that of one network's mean gain over the sites, before Holm's correction.
    """

    trials: int
    seconds: float
    time_source: str
    disk_bytes: float
    disk_source: str
    effect: float | None
    effect_source: str


def estimate(plan: Plan, sites: Sequence[RecordedSite], like: Path | None = None) -> PlanEstimate:
    """Predict from the recordings' sizes, or from an earlier run's records in `like`."""
    loads = len(plan.stacks) * plan.blocks
    trials = loads * len(sites) * len(plan.networks)
    seconds = loads * math.fsum(
        TRIAL_OVERHEAD_S + min(plan.browser.timeout_s, _load_s(site, network))
        for site in sites
        for network in plan.networks
    )
    time_source = "recordings' sizes, rates and round trips; roughly"
    disk, disk_source = float(RECORD_BYTES * trials), "150 kB a load, as of the shipped sites"
    deviation, effect_source = DEVIATION, "blocks that scatter by 10 %, an assumption"
    if like is not None:
        document = read_document(like, PLAN_FILE)
        # Imported where it is used: the report's charts take long, and few commands need it.
        from eyelevel.report.contents import read_table

        _, table = read_table(like, document)
        if (wall_ms := table["wall_ms"].mean()) is not None:
            seconds, time_source = trials * float(wall_ms) / 1e3, f"mean load of {like}"
        files = [each.stat().st_size for each in like.glob("trials/*/*")]
        if table.height:
            disk, disk_source = sum(files) / table.height * trials, f"mean load of {like}"
        if (seen := _deviation(plan, document, table)) is not None:
            deviation, effect_source = seen, f"the scatter of blocks in {like}"
    effect = None
    if plan.blocks < 2:
        effect_source = "one block shows no spread"
    else:
        error = deviation / math.sqrt(plan.blocks * len(sites))
        effect = smallest_detectable(error, (plan.blocks - 1) * len(sites))
    return PlanEstimate(trials, seconds, time_source, disk, disk_source, effect, effect_source)


def _load_s(site: RecordedSite, network: Network) -> float:
    size_bits = 8 * float(site_info(site.path).get("body_bytes") or site.path.stat().st_size)
    shares, waiting_s = 1, 0.0
    if network.cross_traffic:
        shares += sum(kind.flows for kind in network.cross_traffic if kind.direction == "down")
        waiting_s = settling_s(network.rtt_ms_min, network.queue_ms)
    transfer_s = size_bits / (network.rate_down_bit_s or FAST_BIT_S) * shares
    return waiting_s + transfer_s + ROUND_TRIPS * network.rtt_ms_min / 1e3


def _deviation(plan: Plan, document: dict, table: pl.DataFrame) -> float | None:
    """The typical scatter of a block's gain in an earlier run, over its cells."""
    arms = [stack["name"] for stack in document["stacks"]]
    kept = select_blocks(table, arms).kept
    cells = compare_cells(kept, [plan.primary_metric], document["reference"], arms)
    seen = [
        cell.gain.standard_error * math.sqrt(cell.pairs)
        for cell in cells
        if cell.gain.standard_error is not None
    ]
    return math.sqrt(math.fsum(each**2 for each in seen) / len(seen)) if seen else None

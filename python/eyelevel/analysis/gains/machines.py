"""The machine as a factor: the loads of each, and how much gains depend on it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
import polars as pl

from eyelevel.analysis.gains.cells import Cell
from eyelevel.analysis.stats.censoring import too_many, up_to_limit
from eyelevel.analysis.stats.estimate import SIGNIFICANCE_LEVEL
from eyelevel.analysis.stats.families import holm
from eyelevel.analysis.stats.machines import (
    MachinesModel,
    OfMachine,
    gain_over_machines,
    largest_distance,
    no_model,
)
from eyelevel.analysis.trials.post_hoc_exclusions import MACHINE_CLASS
from eyelevel.base.json_types import JsonMapping
from eyelevel.plan.comparisons import Compared, Comparison
from eyelevel.store.outcomes import OUTCOMES_BY_NAME

ALARM_SHARE = 0.5
"""A share of the smallest effect of interest. Machines that deviate by more may turn a finding."""

FAILED = tuple(name for name, outcome in OUTCOMES_BY_NAME.items() if outcome.fault == "instrument")


@dataclass(frozen=True)
class MachineRow:
    """One machine of a run: its loads, its failures by the instrument's fault, and its class.

    `reason`: why it is not of the first class, or why its slots were retired.
    """

    machine: str
    name: str
    machine_class: str
    loads: int
    failures: int
    reason: str = ""


@dataclass(frozen=True)
class BetweenMachines(Compared):
    """One comparison on one network: `model` has the machines in the order of `machines`.

    `p_holm` tests one gain for all machines, corrected over all networks and comparisons.
    """

    network: str
    stack: str
    reference: str
    metric: str
    machines: tuple[str, ...]
    model: MachinesModel
    p_holm: float | None = None

    @property
    def alarms(self) -> bool:
        """Whether the gain differs between machines, after correction."""
        return self.p_holm is not None and self.p_holm <= SIGNIFICANCE_LEVEL

    @property
    def farthest(self) -> tuple[str, OfMachine] | None:
        """The machine that differs most from the others, with its estimate, if there is one."""
        place = largest_distance(self.model.machines)
        return None if place is None else (self.machines[place], self.model.machines[place])

    def exceeds(self, smallest_effect: float) -> bool:
        """Return whether machines deviate by more than ALARM_SHARE of the smallest effect."""
        deviation = self.model.deviation_machines
        return deviation is not None and deviation > ALARM_SHARE * smallest_effect


def machine_rows(
    table: pl.DataFrame, documents: Mapping[str, JsonMapping]
) -> tuple[MachineRow, ...]:
    """Return one row per machine that made loads, by name; empty if there is only one.

    `documents`: machine documents by ID (`eyelevel.store.machines`).
    """
    counted = table.group_by("machine", MACHINE_CLASS).agg(
        pl.len().alias("loads"), pl.col("outcome").is_in(FAILED).sum().alias("failures")
    )
    if counted.height < 2:
        return ()
    rows = []
    for machine, of_class, loads, failures in counted.iter_rows():
        known = documents.get(machine or "", {})
        retired = [f"slot {each['slot']}: {each['reason']}" for each in known.get("retired", ())]
        reasons = [known.get("reason", ""), *retired]
        rows.append(
            MachineRow(
                machine or "",
                known.get("name", "") or "without a cluster" * (machine is None),
                of_class,
                loads,
                failures,
                "; ".join(filter(None, reasons)),
            )
        )
    return tuple(sorted(rows, key=lambda row: (row.name, row.machine)))


def between_machines(
    kept: pl.DataFrame,
    cells: Sequence[Cell],
    metric: str,
    comparisons: Sequence[Comparison],
    networks: Sequence[str],
) -> tuple[BetweenMachines, ...]:
    """Return one result per network and comparison; empty if there is only one machine.

    `kept` has the kept blocks. A timeout counts as its limit.
    """
    blocks = kept.group_by("network", "site", "repetition").agg(
        pl.col("machine").first().fill_null(""), pl.col("started_at").min()
    )
    machines = tuple(sorted(blocks["machine"].unique()))
    if len(machines) < 2:
        return ()
    where = {
        (network, site, repetition): (started_at, machines.index(machine))
        for network, site, repetition, machine, started_at in blocks.iter_rows()
    }
    by_key: dict[tuple[str, Comparison], list[Cell]] = {}
    for cell in cells:
        if cell.metric == metric and len(cell.loads[0]):
            by_key.setdefault((cell.network, cell.comparison), []).append(cell)
    found = [
        BetweenMachines(
            network, comparison.stack, comparison.reference, metric, machines,
            _model(by_key.get((network, comparison), []), where, len(machines)),
        )
        for network, comparison in product(networks, comparisons)
    ]  # fmt: skip
    adjusted = holm([each.model.p for each in found])
    return tuple(replace(each, p_holm=p) for each, p in zip(found, adjusted, strict=True))


def _model(
    cells: Sequence[Cell], where: Mapping[tuple[str, str, int], tuple[str, int]], machines: int
) -> MachinesModel:
    late = max(sum(cell.timeouts for cell in cells), sum(cell.timeouts_reference for cell in cells))
    if reason := too_many(late, sum(cell.pairs for cell in cells)):
        return no_model(reason, machines)
    rows = []
    for place, cell in enumerate(cells):
        repetitions, *pair = cell.loads
        x, r = (up_to_limit(values, cell.limit) for values in pair)
        if not ((x > 0).all() and (r > 0).all() and np.isfinite(x).all() and np.isfinite(r).all()):
            return no_model(f"{cell.site} has no ratios", machines)
        for repetition, ratio in zip(repetitions.tolist(), np.log(x / r).tolist(), strict=True):
            started_at, machine = where[cell.network, cell.site, repetition]
            rows.append((started_at, repetition, place, machine, ratio))
    if not rows:
        return no_model("no complete block is left", machines)
    _, _, sites, of_machines, ratios = zip(*sorted(rows), strict=True)
    return gain_over_machines(ratios, sites, of_machines, machines)

"""Machines: the loads of each of a cluster's, and how much gains depend on them."""

from eyelevel.analysis.formats import format_p, format_percent
from eyelevel.analysis.gains.machines import BetweenMachines, MachineRow
from eyelevel.analysis.report_metrics import title_of
from eyelevel.analysis.study import StudyResults
from eyelevel.base.json_types import JsonObject
from eyelevel.report.html import Markup, element, join, make_titled_section, table
from eyelevel.report.statistic_cells import (
    estimate_cell,
    make_compared_json,
    make_tested_cell,
    make_tested_json,
    make_undetermined_cell,
)

GAINS_MAX = 4
"""The most columns of gains; more cannot be read side by side, and `--json` has all."""
NOTE = (
    "A machine's gain is over all sites with equal weight; for a site that it did not load, "
    "its difference from the other machines is taken to be the same as on the sites that it "
    "did load. The deviation says how far the machines' gains lie apart after chance has been "
    "subtracted; the scatter of blocks is what remains within a machine. The test compares "
    "machines with batches of their blocks, so that a disturbance of some minutes does not "
    "count as a difference. Its p is twice the smaller of two p values, that of the F test and "
    "that of the farthest machine, and is corrected after Holm over all networks and "
    "comparisons. It assumes that blocks scatter alike on every machine and site."
)
OTHERS_NOTE = (
    " If these machines are a random sample of such machines, the gain on another one would "
    "lie in the last column's interval in 19 of 20 cases."
)


def machines_section(results: StudyResults) -> Markup:
    """Return the section; empty for a run on one machine."""
    if not results.machines:
        return Markup("")
    between = results.between_machines
    has_others = any(each.model.other_machines.determined for each in between)
    note = NOTE + (OTHERS_NOTE if has_others else "")
    parts = [_machines_table(results)]
    if between:
        parts += [_format_between_table(results, has_others), element("p", note, class_="note")]
    return make_titled_section("machines", "Machines", *parts)


def _machines_table(results: StudyResults) -> Markup:
    listed = results.between_machines[:GAINS_MAX]
    has_reasons = any(row.reason for row in results.machines)
    columns = ["machine", "class", "loads", "failed", *map(_heading, listed)]
    rows: list[list[object]] = []
    for row in results.machines:
        cells: list[object] = [
            join([row.name or row.machine, " ", element("small", row.machine)]),
            _class(row),
            row.loads,
            row.failures,
        ]
        for each in listed:
            if row.machine in each.machines:
                estimate = each.model.machines[each.machines.index(row.machine)]
                cells.append(estimate_cell(estimate.gain, format_percent))
            else:
                cells.append(make_undetermined_cell("no complete block is left"))
        rows.append([*cells, *([row.reason or "none"] if has_reasons else [])])
    caption = f"Loads of each machine, and the gains that they show: {_metric(results)}"
    if left_out := len(results.between_machines) - len(listed):
        caption += f" ({left_out} more in report --json)"
    columns += ["remarks"] * has_reasons
    return table(caption, columns, rows, class_="gain-details")


def _class(row: MachineRow) -> str:
    """Return the number of a machine's class; machines without a number have their own.

    These were refused after they made loads, or are not in a cluster.
    """
    return row.machine_class if row.machine_class.isdecimal() else "its own"


def _heading(between: BetweenMachines) -> str:
    return f"{between.comparison} on {between.network}, gain and 95 % interval"


def _format_between_table(results: StudyResults, has_others: bool) -> Markup:
    columns = [
        "network", "stack", "reference", "machines deviate by", "blocks scatter by",
        "p of no deviation", "least like the others",
    ]  # fmt: skip
    columns += ["gain on another such machine, 95 % interval"] * has_others
    rows: list[list[object]] = []
    for each in results.between_machines:
        model = each.model
        deviation: object = _format_share(model.deviation_machines)
        if each.exceeds(results.smallest_effect):
            deviation = element("strong", deviation)
        cells: list[object] = [
            each.network,
            each.stack,
            each.reference,
            deviation,
            _format_share(model.deviation_blocks),
            make_tested_cell(model.test, "F") if each.p_holm is None else _format_test(each),
            _farthest(results, each),
        ]
        if has_others:
            cells.append(estimate_cell(model.other_machines, format_percent))
        rows.append(cells)
    caption = f"Between machines: {_metric(results)}"
    return table(caption, columns, rows, class_="gain-details")


def _format_test(between: BetweenMachines) -> Markup:
    assert between.p_holm is not None
    freedom = ", ".join(f"{count:.3g}" for count in between.model.test.degrees_of_freedom)
    statistic = element("small", f"F({freedom}) = {between.model.test.statistic:.3g}")
    return join([format_p(between.p_holm), statistic])


def _farthest(results: StudyResults, between: BetweenMachines) -> object:
    if between.farthest is None:
        return "none"
    machine, found = between.farthest
    p = "" if found.p_holm is None else f"p = {format_p(found.p_holm)}"
    return join([name_of(results, machine), element("small", p)])


def name_of(results: StudyResults, machine: str) -> str:
    """Return a machine's name, or its ID if the name is missing or not unique."""
    names = [row.name for row in results.machines]
    name = next((row.name for row in results.machines if row.machine == machine), "")
    return name if name and names.count(name) == 1 else machine


def _metric(results: StudyResults) -> str:
    return title_of(results.primary_metric)


def _format_share(value: float | None) -> str:
    return "none" if value is None else format_percent(value, signed=False)


def machines_json(results: StudyResults) -> JsonObject:
    """Return the machines as JSON; both lists are empty for a run on one machine."""
    return {
        "machines": [
            {
                "machine": row.machine or None,
                "name": row.name,
                "class": row.machine_class or None,
                "loads": row.loads,
                "failures": row.failures,
                "reason": row.reason or None,
            }
            for row in results.machines
        ],
        "between_machines": [
            {
                **make_compared_json(each),
                "machines": [
                    {
                        "machine": machine or None,
                        "gain": found.gain.as_json(),
                        "distance": found.distance,
                        "p_holm": found.p_holm,
                    }
                    for machine, found in zip(each.machines, each.model.machines, strict=True)
                ],
                "deviation_machines": each.model.deviation_machines,
                "deviation_blocks": each.model.deviation_blocks,
                "test": make_tested_json(each.model.test),
                "p_holm": each.p_holm,
                "other_machines": each.model.other_machines.as_json(),
            }
            for each in results.between_machines
        ],
    }

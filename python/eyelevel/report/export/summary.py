"""A run's findings for the terminal and for machines: the same numbers as the page's."""

from typing import Any

from eyelevel.analysis.gains.causes import NetworkSplit
from eyelevel.analysis.gains.steps import StepCells
from eyelevel.analysis.phrases import verdict
from eyelevel.analysis.study import Contents
from eyelevel.report.sections import cross_traffic
from eyelevel.report.sections.censored import censored_as_json
from eyelevel.report.sections.findings import answers, warnings
from eyelevel.report.sections.gain_details import p_values_as_json
from eyelevel.report.sections.level import levels_compared
from eyelevel.report.sections.other_sites import other_sites_as_json
from eyelevel.report.sections.restricted import restricted_as_json
from eyelevel.report.sections.robustness import further_as_json


def summary_of(contents: Contents) -> dict[str, Any]:
    """Findings as JSON has them; every estimate has the shape of `Estimate.as_json`.

    `answer`: a sentence for each stack. `gains`: one entry for each network, stack and metric with
    `gain` (share, negative is faster), its corrected p values with their `family` and, for
    the primary metric, `p_holm` and `verdict`. `differences_up_to_limit`: of the mean times up to
    the limit, where loads timed out. `other_sites`: what the gains would be on sites like these, by
    the mixed model. `site_tests`: the further tests of the comparisons that the page shows.
    `timeouts_censored`: what can be said of those in which loads timed out. `outcomes`: counts by
    stack and outcome. `cross_traffic`: null, or `flows` (medians by network and stack) and `harm`
    (as the gains). `causes`: by network and stack the parts of the difference in milliseconds, of a
    plan with `causes`. `after_load`: of each step the medians and paired differences by site,
    network, stack and metric. `levels`: of the pairs that are compared, as far as they were
    measured on this machine when the run began.
    """
    plan = contents.plan
    metric, smallest = plan["primary_metric"], plan["smallest_effect_of_interest"]
    counts: dict[str, dict[str, int]] = {stack: {} for stack in contents.stacks}
    for row in contents.table.group_by("stack", "outcome").len().sort("outcome").iter_rows():
        counts[row[0]][row[1]] = row[2]
    planned = {trial["block"] for trial in plan["trials"]}
    return {
        "title": plan["title"],
        "plan_hash": plan["hash"],
        "reference": plan["reference"],
        "primary_metric": metric,
        "answer": answers(contents),
        "stopped": contents.stopped["reason"] if contents.stopped else None,
        "warnings": [f"{head} {text}" for head, text in warnings(contents)],
        "trials": contents.table.height,
        "trials_planned": len(plan["trials"]),
        "blocks_planned": len(planned),
        "blocks_excluded": [
            {"block": each.block, "reason": each.reason} for each in contents.blocks.excluded
        ],
        "levels": list(levels_compared(contents)),
        "outcomes": counts,
        "gains": [
            {
                "network": each.network,
                "stack": each.stack,
                "metric": each.metric,
                "gain": each.gain.as_json(),
                "p_holm": each.p_holm,
                **p_values_as_json(tests),
                "verdict": verdict(each, smallest) if each.metric == metric else None,
            }
            for tests in contents.gain_tests
            for each in (tests.gain,)
        ],
        "differences_up_to_limit": restricted_as_json(contents),
        "other_sites": other_sites_as_json(contents),
        "site_tests": further_as_json(contents),
        "timeouts_censored": censored_as_json(contents),
        "cross_traffic": cross_traffic.as_json(contents),
        "causes": [_causes(each) for each in contents.splits],
        "after_load": [_step(each) for each in contents.steps],
    }


def _causes(each: NetworkSplit) -> dict[str, Any]:
    split = each.split
    parts = {"difference": split.difference, **split.causes}
    parts |= {"interaction": split.interaction, "remaining": split.remaining}
    return {
        "network": each.network,
        "stack": each.stack,
        "parts_ms": {name: part.as_json() for name, part in parts.items()},
    }


def _step(step: StepCells) -> dict[str, Any]:
    return {
        "step": step.text,
        "differences": [
            {
                "site": cell.site,
                "network": cell.network,
                "stack": cell.stack,
                "metric": cell.metric,
                "pairs": cell.pairs,
                "median": cell.median,
                "median_reference": cell.median_reference,
                "difference": cell.difference.as_json(),
            }
            for cell in step.cells
        ],
    }

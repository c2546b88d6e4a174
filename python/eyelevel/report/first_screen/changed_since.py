"""Warnings about changes after a run began, which its numbers do not show by themselves."""

import math

from eyelevel.analysis.formats import format_percent
from eyelevel.analysis.study import StudyResults

Warning = tuple[str, str]
"""The heading of a warning, and its sentence."""

WIDTH_TOLERANCE = 1e-9
"""The relative tolerance of a width: the same records give the same one, up to rounding."""


def warn_of_unmeasured_loads(contents: StudyResults) -> list[Warning]:
    """Warn of loads on the machine that at first only committed, whose path was not checked."""
    loads = sum(each.loads for each in contents.run_environments if not each.is_measured)
    if not loads:
        return []
    these = "load was" if loads == 1 else "loads were"
    text = (
        f"{loads} {these} made without --cluster on the machine that began the run with it, and so "
        "without the checks that come before a run's first load: neither its path nor its level "
        "was measured. `eyelevel validate path` and `eyelevel validate level` measure them there."
    )
    return [("A machine that made loads was not checked.", text)]


def warn_of_other_intervals(contents: StudyResults) -> list[Warning]:
    """Warn of comparisons whose interval differs from the one that ended their loads."""
    if not contents.stopped or contents.declared or contents.sites_chosen:
        return []
    widths = {
        (each.network, each.stack, each.reference): each.gain.high - each.gain.low
        for each in contents.gains
        if each.metric == contents.primary_metric
        and each.gain.low is not None
        and each.gain.high is not None
    }
    found = []
    for each in contents.stopped["comparisons"]:
        then = each.get("width")
        now = widths.get((each["network"], each["stack"], each["reference"]))
        if each["repetition"] is None or then is None:
            continue
        if now is None or not math.isclose(now, then, rel_tol=WIDTH_TOLERANCE):
            points = "no interval" if now is None else f"{format_percent(now, signed=False)}"
            found.append(
                f"{each['stack']} against {each['reference']} on {each['network']} was decided "
                f"with an interval {format_percent(then, signed=False)} wide, and now has {points}"
            )
    if not found:
        return []
    text = (
        f"{'; '.join(found)}. Records count otherwise than when the study stopped: a machine was "
        "found to differ later, and its loads became a class of their own, or records were added, "
        "removed or measured by another version. The numbers here are of the records as they "
        "count now."
    )
    return [("The study was stopped by other numbers than these.", text)]

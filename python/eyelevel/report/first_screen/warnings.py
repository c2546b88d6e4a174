"""Warnings that accompany the numbers: about the answer, the level, the loads, the machine.

Warnings about the machines that made the loads. Warnings about changes after a run began, which its
numbers do not show by themselves.
"""

import math
from collections.abc import Mapping, Sequence

import polars as pl

from eyelevel.analysis.claims import (
    FEW_BLOCKS,
    SIGNIFICANCE_LEVEL,
    Undecided,
    count_blocks,
    count_pairs,
    estimate_needed,
    is_first_look,
)
from eyelevel.analysis.formats import format_p_equation, format_percent
from eyelevel.analysis.gains.machines import ALARM_SHARE
from eyelevel.analysis.sensitivity import Sensitivity, sensitivities
from eyelevel.analysis.stats.stopping_rule import BLOCKS_COUNTED_MAX
from eyelevel.analysis.study import StudyResults
from eyelevel.analysis.trials.starvation import CPU_FOREIGN_SHARE_MAX, LATE, find_disturbed_blocks
from eyelevel.plan.plan import Plan
from eyelevel.plan.variants import variant_of
from eyelevel.report.sections.gains import warn_of_drift
from eyelevel.report.sections.level import not_level, warn_of_unmeasured
from eyelevel.report.sections.machines import name_of

Warning = tuple[str, str]
EDITED = "edited: "
"""How a recording's changes begin that edits made (`crates/edit`)."""
"""The heading of a warning, and its sentence."""

WIDTH_TOLERANCE = 1e-9
"""The relative tolerance of a width: the same records give the same one, up to rounding."""


def _warn_of_unmeasured_loads(results: StudyResults) -> list[Warning]:
    """Warn of loads on the machine that at first only committed, whose path was not checked."""
    loads = sum(each.loads for each in results.run_environments if not each.is_measured)
    if not loads:
        return []
    these = "load was" if loads == 1 else "loads were"
    text = (
        f"{loads} {these} made without --cluster on the machine that began the run with it, and so "
        "without the checks that come before a run's first load: neither its path nor its level "
        "was measured. `eyelevel validate path` and `eyelevel validate level` measure them there."
    )
    return [("A machine that made loads was not checked.", text)]


def _warn_of_other_intervals(results: StudyResults) -> list[Warning]:
    """Warn of comparisons whose interval differs from the one that ended their loads."""
    if not results.stopped or results.declared or results.sites_chosen:
        return []
    widths = {
        (each.network, each.stack, each.reference): each.gain.high - each.gain.low
        for each in results.gains
        if each.metric == results.primary_metric
        and each.gain.low is not None
        and each.gain.high is not None
    }
    found = []
    for each in results.stopped["comparisons"]:
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


def warnings(results: StudyResults) -> list[Warning]:
    """Return all warnings, the most serious first."""
    return [
        *first_warnings(results),
        *load_warnings(results),
        *machine_warnings(results),
        *_warn_of_sites(results),
        *answer_warnings(results),
        *warn_of_unmeasured(results),
    ]


def first_warnings(results: StudyResults) -> list[Warning]:
    """Return the warnings that come before the answer."""
    return [
        *_warn_of_unfinished(results),
        *_warn_of_undeclared(results),
        *outcomes_differ(results),
        *not_level(results),
    ]


def _warn_of_undeclared(results: StudyResults) -> list[Warning]:
    if not results.declared:
        return []
    declared = ", ".join(map(str, results.declared))
    text = (
        f"The plan asks about {declared}. The comparisons shown here were chosen after the loads "
        "had been made, and the corrections allow for these comparisons only."
    )
    return [("These are not the comparisons that the plan declared.", text)]


def answer_warnings(results: StudyResults) -> list[Warning]:
    """Return the warnings about the limits of the answer."""
    found = []
    if results.stopped:
        head = "The study stopped early."
        if results.stopped["repetition"] is None:
            head = "Part of the study stopped early."
        hold = (
            "These intervals hold no matter when the study stops."
            if results.may_stop
            else "The end did not depend on the results, so the intervals hold."
        )
        text = f"{results.stopped['reason']}. {hold}"
        found.append((head, text))
    for network, reason in results.too_disturbed.items():
        found.append((f"No answer on {network}.", f"{reason[0].upper()}{reason[1:]}."))
    found += _warn_of_other_intervals(results)
    found += without_verdict(results)
    found += _machines_deviate(results)
    found += warn_of_drift(results)
    if count_blocks(results) < FEW_BLOCKS and not results.may_stop:
        found.append(_few_blocks(results))
    return found


def level_warnings(results: StudyResults) -> list[Warning]:
    """Return the warnings about differences besides the stacks themselves."""
    return [*_warn_of_sites(results), *warn_of_unmeasured(results)]


def _warn_of_sites(results: StudyResults) -> list[Warning]:
    found = []
    altered = {
        site: changes
        for site, every in results.environment.get("altered_sites", {}).items()
        if (changes := _besides_edits(site, every, results.plan))
    }
    if altered:
        found.append(_warn_of_alterations(altered))
    for site, share in results.environment.get("secure_shares", {}).items():
        seen = results.table.filter((pl.col("site") == site) & (pl.col("outcome") == "ok"))
        middle = seen["cleartext_share"].median()
        loaded = ""
        if isinstance(middle, float):
            loaded = f" ({format_percent(middle, signed=False)} of the bytes of its loads)"
        text = (
            f"{format_percent(1 - share, signed=False)} of its objects{loaded} were recorded "
            "over http. With every stack they come in cleartext over HTTP/1.1, as they did "
            "when recorded, so the stacks have less to differ in than on an all-https page."
        )
        found.append((f"{site} is not entirely https.", text))
    return found


def _besides_edits(site: str, changes: Sequence[str], plan: Plan) -> list[str]:
    """Return a recording's changes without the edits of its variant, which the plan asks about."""
    edited = {variant.name for variant in plan.variants if variant.edits}
    is_edited = variant_of(site) in edited
    return [each for each in changes if not (is_edited and each.startswith(EDITED))]


def _warn_of_alterations(by_site: Mapping[str, Sequence[str]]) -> Warning:
    """Warn once of all recordings that were altered, with what was done to the first of them."""
    if len(by_site) == 1:
        ((site, changes),) = by_site.items()
        text = f"{'. '.join(changes)}. Its loads show how the altered page behaves."
        return f"{site} was altered after recording.", text
    named = [f"{site}: {'. '.join(changes)}" for site, changes in by_site.items()]
    if len(named) > NAMED_MAX:
        named[NAMED_MAX:] = [f"{len(named) - NAMED_MAX} more, which `environment.json` has"]
    text = f"{'. '.join(named)}. Their loads show how the altered pages behave."
    return f"{len(by_site)} recordings were altered after recording.", text


def load_warnings(results: StudyResults) -> list[Warning]:
    """Return the warnings about the records."""
    if not results.foreign:
        return []
    text = f"{results.foreign} records that are not in the plan are left out."
    return [("The directory holds other records.", text)]


def outcomes_differ(results: StudyResults) -> list[Warning]:
    """Warn of stacks that differ in how often their loads time out or fail."""
    warnings_found = []
    for test, what in (
        (results.timeout_rates, "time out"),
        (results.failure_rates, "fail because of the instrument"),
    ):
        if test.p is not None and test.p <= SIGNIFICANCE_LEVEL:
            text = (
                f"Loads {what} more often with some stacks than with others (uncorrected p = "
                f"{test.p:.2g}); "
                "see “Outcomes” under “For reviewers”."
            )
            warnings_found.append(("Outcomes differ between stacks.", text))
    return warnings_found


def _warn_of_unfinished(results: StudyResults) -> list[Warning]:
    if not results.unfinished:
        return []
    blocks = results.blocks.whole
    text = (
        f"{results.unfinished}, and {blocks} of {results.blocks_planned} blocks are complete. "
        "The numbers describe only these blocks, and their intervals do not allow for stopping "
        "a run early. To load the rest, run the same command with --resume."
    )
    return [("No verdict: the run is not complete.", text)]


def _few_blocks(results: StudyResults) -> Warning:
    text = "So few blocks cannot show small effects, and one quiet or busy moment weighs heavily."
    if found := sensitivities(results):
        text = (
            f"Differences smaller than {_format_effects(found, results.networks)} would often be "
            "missed; of so few blocks, that is itself an estimate."
        )
    if is_first_look(results):
        text += f" {OVERSTATED}"
    low, high = count_pairs(results)
    counted = f"{low} to {high}" if low < high else str(high)
    planned = results.plan.blocks
    of_planned = f" of {planned}" if high < planned else ""
    counted += f" {'block' if high == 1 else 'blocks'}"
    return (f"Only {counted}{of_planned} per site and network.", text)


def _format_effects(found: Sequence[Sensitivity], networks: Sequence[str]) -> str:
    """Return the smallest and the largest, each with its network; one if all are the same."""
    ordered = sorted(found, key=lambda each: each.effect)
    low, high = (format_percent(each.effect, signed=False) for each in (ordered[0], ordered[-1]))
    if low == high:
        some = "" if len(found) == len(networks) else f" ({', '.join(e.network for e in ordered)})"
        return f"about {low}{some}"
    return f"about {low} ({ordered[0].network}) to {high} ({ordered[-1].network})"


OVERSTATED = "A first look finds only gains that look large, and so overstates them."
"""The winner's curse (Gelman and Carlin, Perspectives on Psychological Science 9, 2014)."""

NAMED_MAX = 3  # comparisons; more would bury the message


def without_verdict(results: StudyResults) -> list[Warning]:
    """Return a heading and sentences on what would decide the open comparisons."""
    found = estimate_needed(results)
    if not found:
        return []
    is_stated = False
    sentences = []
    for each in found[:NAMED_MAX]:
        sentences.append(_would_decide(each, is_stated=is_stated))
        is_stated = is_stated or each.more_blocks is not None
    if len(found) > NAMED_MAX:
        more = len(found) - NAMED_MAX
        which = "1 more comparison is" if more == 1 else f"{more} more comparisons are"
        sentences.append(f"{which} undecided.")
    return [("Undecided.", " ".join(sentences))]


def _would_decide(each: Undecided, *, is_stated: bool) -> str:
    """Return a sentence on the blocks that would decide a comparison.

    `is_stated`: an earlier sentence has the chance of deciding.
    """
    which = f"{each.comparison} on {each.network}"
    if not each.gain.gain.determined:
        return f"{which} has no interval: {each.gain.gain.reason}."
    if each.more_blocks is None or each.more_minutes is None:
        return (
            f"{which}: at the spread seen here, not even {BLOCKS_COUNTED_MAX} blocks would "
            "decide it; a quieter machine may help."
        )
    more = f"{each.more_blocks} more, or {_format_minutes(each.more_minutes)} of loads."
    if is_stated:
        return f"{which}: about {each.blocks} blocks; {more}"
    return (
        f"{which}: a study of about {each.blocks} blocks would decide it in four of five cases; "
        f"that is {more}"
    )


def _format_minutes(minutes: float) -> str:
    if minutes < 1:
        return "less than a minute"
    count = round(minutes)
    return f"about {count} {'minute' if count == 1 else 'minutes'}"


def machine_warnings(results: StudyResults) -> list[Warning]:
    """Return the warnings about disturbances, paths, versions and differences of machines."""
    found = [*_warn_of_disturbance(results), *_warn_of_late_packets(results)]
    broken = [
        f"{name}: {check['measured']} (bound: {check['bound']})"
        for name, check in results.environment.get("path_checks", {}).items()
        if check["passed"] is False
    ]
    if broken:
        text = (
            f"Measured when the run began: {'; '.join(broken)}. Loads with late packets "
            "count, unless most of a stack's are late; `eyelevel validate path` shows whether the "
            "machine can do better."
        )
        found.append(("The emulated network was not within its bounds.", text))
    found += _warn_of_unmeasured_loads(results)
    found += _warn_of_differing_machine(results)
    if _have_versions_changed(results):
        text = "The loads were made with more than one version; see “What was run”."
        found.append(("Versions changed during the run.", text))
    return found


def _warn_of_disturbance(results: StudyResults) -> list[Warning]:
    """Warn of disturbed blocks."""
    table = results.table
    if not (disturbed := find_disturbed_blocks(table)):
        return []
    share = table["cpu_foreign_share"].max()
    worst = ""
    if isinstance(share, float) and share > CPU_FOREIGN_SHARE_MAX:
        worst = f", up to {format_percent(share, signed=False)} of the processor time"
    blocks = table["block"].n_unique()
    text = (
        f"Other programs or the hypervisor disturbed {len(disturbed)} of {blocks} blocks{worst}. "
        "Such a block is left out with the loads of all stacks, so that none is favoured."
    )
    return [("The machine was busy.", text)]


def late_loads(results: StudyResults) -> int:
    """Return how many of the compared loads had late packets."""
    return int(results.blocks.kept[LATE].sum())


def _warn_of_late_packets(results: StudyResults) -> list[Warning]:
    """Warn of late packets, and of loads without real-time priority and its consequences."""
    texts = []
    cores = set(results.table["browser_cores"].drop_nulls().to_list())
    if cores:
        left = " to ".join(map(str, sorted({min(cores), max(cores)})))
        texts.append(
            "To release packets on time without it, each lab kept one core to itself and left the "
            f"browser {left}: pages with heavy scripts load more slowly this way."
        )
    if late := late_loads(results):
        texts.append(
            f"{late} of {results.blocks.kept.height} compared loads had late packets. They "
            "count: to leave them out would favour the stack that is late when it is slow."
        )
    without = any(
        each.environment.get("realtime_allowed") is False for each in results.run_environments
    )
    if not texts or not without:
        return [("Packets were late.", texts[-1])] if late else []
    remedy = (
        "With the priority the emulated network goes before all other programs: "
        "`eyelevel doctor` says how to allow it."
    )
    return [("Labs had no real-time priority.", " ".join([*texts, remedy]))]


def _machines_deviate(results: StudyResults) -> list[Warning]:
    """Warn of the gain that varies most between machines, if by more than ALARM_SHARE allows."""
    smallest = results.smallest_effect
    over = [each for each in results.between_machines if each.exceeds(smallest)]
    if not over:
        return []
    worst = max(over, key=lambda each: each.model.deviation_machines or 0.0)
    assert worst.model.deviation_machines is not None
    shares = [worst.model.deviation_machines, ALARM_SHARE * smallest]
    deviation, bound = (format_percent(share, signed=False) for share in shares)
    chance = "more than chance would usually explain" if worst.alarms else "which may be chance"
    text = (
        f"The gain of {worst.comparison} on {worst.network} varies by {deviation} between "
        f"machines, {chance}; half of the smallest effect of interest is {bound}. The table of "
        "machines shows which machine gave which gain."
    )
    return [("Machines differ.", text)]


def _warn_of_differing_machine(results: StudyResults) -> list[Warning]:
    """Warn if machines differ significantly in a gain, however small the deviation."""
    found = [each for each in results.between_machines if each.alarms]
    if not found:
        return []
    worst = max(found, key=lambda each: each.model.deviation_machines or 0.0)
    assert worst.farthest is not None and worst.p_holm is not None
    machine, estimate = worst.farthest
    gain = "unknown" if estimate.gain.value is None else format_percent(estimate.gain.value)
    text = (
        f"The machines do not agree on the gain of {worst.comparison} on {worst.network} "
        f"({format_p_equation(worst.p_holm)}); {name_of(results, machine)} differs most from "
        f"the others, with {gain}."
    )
    return [("Gains depend on the machine.", text)]


def _have_versions_changed(results: StudyResults) -> bool:
    """Return whether the loads of a variant, or of a plan without them, have several versions."""
    by_variant: dict[str, set[str]] = {}
    for stack, versions in results.table.select("stack", "versions").unique().iter_rows():
        by_variant.setdefault(variant_of(stack), set()).add(versions)
    return any(len(versions) > 1 for versions in by_variant.values())

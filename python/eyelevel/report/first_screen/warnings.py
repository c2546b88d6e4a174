"""Warnings that accompany the numbers: about the answer, the level, the loads, the machine."""

from collections.abc import Sequence

import polars as pl

from eyelevel.analysis.claims import count_blocks, count_pairs, is_first_look
from eyelevel.analysis.formats import format_percent
from eyelevel.analysis.phrases import FEW_BLOCKS, SIGNIFICANCE_LEVEL
from eyelevel.analysis.sensitivity import Sensitivity, sensitivities
from eyelevel.analysis.stats.stopping_rule import BLOCKS_COUNTED_MAX
from eyelevel.analysis.study import StudyResults
from eyelevel.analysis.undecided import Undecided, estimate_needed
from eyelevel.report.first_screen.changed_since import Warning, warn_of_other_intervals
from eyelevel.report.first_screen.machine_warnings import machines_deviate, of_machine
from eyelevel.report.sections.drift import warn_of_drift
from eyelevel.report.sections.level import not_level, warn_of_unmeasured


def warnings(contents: StudyResults) -> list[Warning]:
    """Return all warnings, the most serious first."""
    return [
        *first_warnings(contents),
        *of_loads(contents),
        *of_machine(contents),
        *_of_sites(contents),
        *of_answer(contents),
        *warn_of_unmeasured(contents),
    ]


def first_warnings(contents: StudyResults) -> list[Warning]:
    """Return the warnings that come before the answer."""
    return [
        *_warn_of_unfinished(contents),
        *_warn_of_undeclared(contents),
        *outcomes_differ(contents),
        *not_level(contents),
    ]


def _warn_of_undeclared(contents: StudyResults) -> list[Warning]:
    if not contents.declared:
        return []
    asked = ", ".join(map(str, contents.declared))
    text = (
        f"The plan asks about {asked}. The comparisons shown here were chosen after the loads "
        "had been made, and the corrections allow for these comparisons only."
    )
    return [("These are not the comparisons that the plan declared.", text)]


def of_answer(contents: StudyResults) -> list[Warning]:
    """Return the warnings about the limits of the answer."""
    found = []
    if contents.stopped:
        head = "The study stopped early."
        if contents.stopped["repetition"] is None:
            head = "Part of the study stopped early."
        text = f"{contents.stopped['reason']}. These intervals hold no matter when the study stops."
        found.append((head, text))
    for network, reason in contents.too_disturbed.items():
        found.append((f"No answer on {network}.", f"{reason[0].upper()}{reason[1:]}."))
    found += warn_of_other_intervals(contents)
    found += without_verdict(contents)
    found += machines_deviate(contents)
    found += warn_of_drift(contents)
    if count_blocks(contents) < FEW_BLOCKS and not contents.may_stop:
        found.append(_few_blocks(contents))
    return found


def of_level(contents: StudyResults) -> list[Warning]:
    """Return the warnings about differences besides the stacks themselves."""
    return [*_of_sites(contents), *warn_of_unmeasured(contents)]


def _of_sites(contents: StudyResults) -> list[Warning]:
    found = []
    for site, altered in contents.environment.get("altered_sites", {}).items():
        text = f"{'. '.join(altered)}. Its loads show how the altered page behaves."
        found.append((f"{site} was altered after recording.", text))
    for site, share in contents.environment.get("secure_shares", {}).items():
        seen = contents.table.filter((pl.col("site") == site) & (pl.col("outcome") == "ok"))
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


def of_loads(contents: StudyResults) -> list[Warning]:
    """Return the warnings about the records."""
    if not contents.foreign:
        return []
    text = f"{contents.foreign} records that are not in the plan are left out."
    return [("The directory holds other records.", text)]


def outcomes_differ(contents: StudyResults) -> list[Warning]:
    """Warn of stacks that differ in how often their loads time out or fail."""
    warnings_found = []
    for test, what in (
        (contents.timeout_rates, "time out"),
        (contents.failure_rates, "fail because of the instrument"),
    ):
        if test.p is not None and test.p <= SIGNIFICANCE_LEVEL:
            text = (
                f"Loads {what} more often with some stacks than with others (p = {test.p:.2g}); "
                "see “Outcomes” under “For reviewers”."
            )
            warnings_found.append(("Outcomes differ between stacks.", text))
    return warnings_found


def _warn_of_unfinished(contents: StudyResults) -> list[Warning]:
    if not contents.unfinished:
        return []
    blocks = contents.blocks.whole
    text = (
        f"{contents.unfinished}, and {blocks} of {contents.blocks_planned} blocks are complete. "
        "The numbers describe only these blocks, and their intervals do not allow for stopping "
        "a run early. To load the rest, run the same command with --resume."
    )
    return [("No verdict: the run is not complete.", text)]


def _few_blocks(contents: StudyResults) -> Warning:
    text = "So few blocks cannot show small effects, and one quiet or busy moment weighs heavily."
    if found := sensitivities(contents):
        text = (
            f"Differences smaller than {_format_effects(found, contents.networks)} would often be "
            "missed; of so few blocks, that is itself an estimate."
        )
    if is_first_look(contents):
        text += f" {OVERSTATED}"
    low, high = count_pairs(contents)
    counted = f"{low} to {high}" if low < high else str(high)
    planned = int(contents.plan["blocks"])
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


def without_verdict(contents: StudyResults) -> list[Warning]:
    """Return a heading and sentences on what would decide the open comparisons."""
    found = estimate_needed(contents)
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

"""What a reader must know beside the numbers: of the answer, the level, the loads, the machine."""

from dataclasses import replace

import polars as pl

from eyelevel.analysis.decisions import rule_of
from eyelevel.analysis.formats import NO_BREAK, format_p_equation, format_percent
from eyelevel.analysis.gains.machines import ALARM_SHARE
from eyelevel.analysis.gains.sequential import (
    BLOCKS_COUNTED_MAX,
    ComparisonState,
    blocks_needed,
    comparison_states,
)
from eyelevel.analysis.phrases import FEW_BLOCKS, SIGNIFICANCE_LEVEL, detectable
from eyelevel.analysis.study import Contents
from eyelevel.report.sections.level import not_level, not_measured
from eyelevel.report.sections.machines import name_of

# Load average over cores, read before the run needs any: the half of them must be free.
BUSY_SHARE = 0.5

Warning = tuple[str, str]
"""A heading and a sentence."""


def warnings(contents: Contents) -> list[Warning]:
    """All of them, the gravest first."""
    return [
        *said_first(contents),
        *of_loads(contents),
        *of_machine(contents),
        *_of_sites(contents),
        *of_answer(contents),
        *not_measured(contents),
    ]


def said_first(contents: Contents) -> list[Warning]:
    """What must be said before the answer."""
    return [
        *_unfinished(contents),
        *_not_declared(contents),
        *outcomes_differ(contents),
        *not_level(contents),
    ]


def _not_declared(contents: Contents) -> list[Warning]:
    if not contents.declared:
        return []
    asked = ", ".join(map(str, contents.declared))
    text = (
        f"Its plan asks about {asked}. What is shown here was chosen when the loads were there, "
        "and corrections allow for these comparisons alone."
    )
    return [("Not what the study declared.", text)]


def of_answer(contents: Contents) -> list[Warning]:
    """How far the answer carries."""
    found = []
    if contents.stopped:
        head = "The study stopped early."
        if contents.stopped["repetition"] is None:
            head = "Part of the study stopped early."
        text = f"{contents.stopped['reason']}. These intervals hold whenever one stops."
        found.append((head, text))
    found += not_sure_enough(contents)
    found += machines_deviate(contents)
    if (blocks := contents.plan["blocks"]) < FEW_BLOCKS and not contents.may_stop:
        found.append(_few_blocks(contents, blocks))
    return found


def of_level(contents: Contents) -> list[Warning]:
    """What else may make a difference than the stacks themselves."""
    return [*_of_sites(contents), *not_measured(contents)]


def _of_sites(contents: Contents) -> list[Warning]:
    found = []
    for site, altered in contents.environment.get("altered_sites", {}).items():
        text = f"{'. '.join(altered)}. Its loads say how the altered page behaves."
        found.append((f"{site} is not as it was recorded.", text))
    for site, share in contents.environment.get("secure_shares", {}).items():
        seen = contents.table.filter((pl.col("site") == site) & (pl.col("outcome") == "ok"))
        middle = seen["cleartext_share"].median()
        loaded = ""
        if isinstance(middle, float):
            loaded = f" ({format_percent(middle, signed=False)} of the bytes of its loads)"
        text = (
            f"{format_percent(1 - share, signed=False)} of its objects{loaded} were recorded over "
            "http: they come in cleartext over HTTP/1.1 with every stack, as they did, so that "
            "stacks have less to tell them apart than on a page of https."
        )
        found.append((f"{site} is not all https.", text))
    return found


def of_loads(contents: Contents) -> list[Warning]:
    """Of the records themselves."""
    if not contents.foreign:
        return []
    text = f"{contents.foreign} records that the plan does not name are left out."
    return [("Other records in the directory.", text)]


def of_machine(contents: Contents) -> list[Warning]:
    """What the machine did to the loads."""
    found = []
    load, cores = (contents.environment.get(key) for key in ("load_1min", "cores"))
    if load is not None and cores is not None and load > BUSY_SHARE * cores:
        text = (
            f"When the run began, {load:.1f} processes were competing for {cores} cores. Loads may "
            "have waited for the processor, and stacks that need more of it look slower."
        )
        found.append(("The machine was busy.", text))
    broken = [
        f"{name} {check['measured']} (bound: {check['bound']})"
        for name, check in contents.environment.get("path_checks", {}).items()
        if check["passed"] is False
    ]
    if broken:
        text = (
            f"Measured when the run began: {'; '.join(broken)}. Loads that saw late packets are "
            "excluded; `eyelevel validate path` shows whether the machine can do better."
        )
        found.append(("The emulated network was not within its bounds.", text))
    found += _machine_is_off(contents)
    if len(_versions(contents)) > 1:
        text = "The loads were made with more than one version; see what was run."
        found.append(("Versions changed during the run.", text))
    return found


def machines_deviate(contents: Contents) -> list[Warning]:
    """Where gains hang on the machine by more than half of what matters: the worst of them."""
    smallest = contents.smallest_effect
    over = [each for each in contents.between_machines if each.exceeds(smallest)]
    if not over:
        return []
    worst = max(over, key=lambda each: each.model.deviation_machines or 0.0)
    assert worst.model.deviation_machines is not None
    shares = [worst.model.deviation_machines, ALARM_SHARE * smallest]
    deviation, bound = (format_percent(share, signed=False) for share in shares)
    chance = "which chance seldom does" if worst.alarms else "which may be chance"
    text = (
        f"The gain of {worst.comparison} on {worst.network} deviates by {deviation} from one to "
        f"the other, {chance}; half of the smallest effect of interest is {bound}. The table of "
        "machines says which."
    )
    return [("Machines differ.", text)]


def _machine_is_off(contents: Contents) -> list[Warning]:
    """One sentence where machines do not give one gain, however little they deviate."""
    found = [each for each in contents.between_machines if each.alarms]
    if not found:
        return []
    worst = max(found, key=lambda each: each.model.deviation_machines or 0.0)
    assert worst.farthest is not None and worst.p_holm is not None
    machine, of_machine = worst.farthest
    gain = "unknown" if of_machine.gain.value is None else format_percent(of_machine.gain.value)
    text = (
        f"Of {worst.comparison} on {worst.network} machines do not give one gain "
        f"({format_p_equation(worst.p_holm)}); {name_of(contents, machine)} is least like the "
        f"others, with {gain}."
    )
    return [("Gains hang on the machine.", text)]


def outcomes_differ(contents: Contents) -> list[Warning]:
    """What must be said before anything else: stacks differ in how often their loads end badly."""
    warnings_found = []
    for test, what in (
        (contents.timeout_rates, "time out"),
        (contents.failure_rates, "fail by the instrument's fault"),
    ):
        if test.p is not None and test.p <= SIGNIFICANCE_LEVEL:
            text = (
                f"Loads {what} more often with some stacks than with others "
                f"(p = {test.p:.2g}); see the outcomes below. What is left may not be comparable."
            )
            warnings_found.append(("Outcomes differ between stacks.", text))
    return warnings_found


def _unfinished(contents: Contents) -> list[Warning]:
    if not contents.unfinished:
        return []
    blocks = contents.blocks.kept["block"].n_unique()
    text = (
        f"{contents.unfinished}, {blocks} of {contents.blocks_planned} blocks are whole. The "
        "numbers describe these; their intervals do not allow for ending a run before its end. "
        "The same command with --resume loads the rest."
    )
    return [("No verdict: the run is not complete.", text)]


def _few_blocks(contents: Contents, blocks: int) -> Warning:
    effects = detectable(contents.gains, contents.primary_metric)
    text = "So few cannot show small effects, and a quiet moment or a busy one weighs heavily."
    if effects:
        low, high = (format_percent(effect, signed=False) for effect in effects)
        size = f"about {high}" if low == high else f"{low} to {high}, by comparison and network,"
        text = (
            f"With the spread seen here, a true difference smaller than {size} would often be "
            "missed. Take it as a first look, not as a study."
        )
    return (f"Only {blocks} {'block' if blocks == 1 else 'blocks'}.", text)


def _versions(contents: Contents) -> set[str]:
    return set(contents.table["versions"].unique())


NAMED_MAX = 3  # comparisons; more would bury what they say


def not_sure_enough(contents: Contents) -> list[Warning]:
    """A heading and a sentence where an interval is wider than the plan asked for; else nothing.

    Nothing, too, while the run goes on, which is not sure enough by its nature.
    """
    if not contents.may_stop or not contents.blocks.kept.height:
        return []
    if contents.unfinished:
        return []
    plan = contents.planned
    rule = replace(rule_of(plan), futility=False)
    width_max, metric = rule.width_max, contents.primary_metric
    gains = [gain for gain in contents.gains if gain.metric == metric]
    states = comparison_states(gains, rule, plan.blocks, plan.blocks)
    unsure = [comparison for comparison in states if comparison.state == "open"]
    if not unsure:
        return []
    clauses = [_format_width(comparison) for comparison in unsure[:NAMED_MAX]]
    if len(unsure) > NAMED_MAX:
        rest = len(unsure) - NAMED_MAX
        clauses.append(f"{rest} more {'is' if rest == 1 else 'are'} not sure enough, either")
    clauses[0] = clauses[0].replace("the interval", "The interval", 1)
    or_sign = ", or no wider than the gain" if rule.clear_sign else ""
    text = f"{'; '.join(clauses)}; asked for was at most {_format_points(width_max)}{or_sign}."
    needed = [
        blocks_needed(gain, rule)
        for gain, comparison in zip(gains, states, strict=True)
        if comparison.state == "open"
    ]
    if None not in needed:
        most = max(count for count in needed if count is not None)
        text += f" Blocks that scatter as these did would have to be about {most}."
    elif any(comparison.width is not None for comparison in unsure):
        text += (
            f" With blocks that scatter as these did, {BLOCKS_COUNTED_MAX} would not be enough: "
            "a quieter machine may be."
        )
    return [("Not sure enough.", text)]


def _format_width(comparison: ComparisonState) -> str:
    which = f"{comparison.comparison} on {comparison.network}"
    if comparison.width is None:
        return f"{which} has no interval"
    return f"the interval of {which} is {_format_points(comparison.width)} wide"


def _format_points(width: float) -> str:
    """A width of an interval of shares: `12.3 percentage points`."""
    return f"{format_percent(width, signed=False).removesuffix(f'{NO_BREAK}%')} percentage points"

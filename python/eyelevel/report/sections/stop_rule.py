"""Whether the answer of a study with a stop rule is sure enough, and what that would take."""

from eyelevel.analysis.formats import NO_BREAK, format_percent
from eyelevel.analysis.gains.sequential import (
    BLOCKS_COUNTED_MAX,
    Comparison,
    blocks_needed,
    comparisons,
)
from eyelevel.analysis.study import Contents

NAMED_MAX = 3  # comparisons; more would bury what they say

UNSURE = ("open", "futile")


def not_sure_enough(contents: Contents) -> list[tuple[str, str]]:
    """A heading and a sentence where an interval is wider than the plan asked for; else nothing.

    Nothing, too, while the run goes on, which is not sure enough by its nature.
    """
    rule = contents.plan.get("stop")
    if not rule or not contents.blocks.kept.height:
        return []
    if contents.table.height < contents.trials_planned:
        return []
    width_max = rule["interval_width_max"]
    smallest = contents.smallest_effect
    metric = contents.primary_metric
    gains = [gain for gain in contents.gains if gain.metric == metric]
    states = comparisons(gains, width_max, smallest, contents.plan["blocks"], futility=False)
    unsure = [comparison for comparison in states if comparison.state in UNSURE]
    if not unsure:
        return []
    clauses = [_format_width(comparison) for comparison in unsure[:NAMED_MAX]]
    if len(unsure) > NAMED_MAX:
        clauses.append(f"{len(unsure) - NAMED_MAX} more are not sure enough, either")
    text = f"{'; '.join(clauses)}; at most {_format_points(width_max)} were asked for."
    needed = [
        blocks_needed(gain, width_max, len(gains))
        for gain, comparison in zip(gains, states, strict=True)
        if comparison.state in UNSURE
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


def _format_width(comparison: Comparison) -> str:
    which = f"{comparison.stack} on {comparison.network}"
    if comparison.width is None:
        return f"{which} has no interval"
    return f"the interval of {which} is {_format_points(comparison.width)} wide"


def _format_points(width: float) -> str:
    """A width of an interval of shares: `12.3 percentage points`."""
    return f"{format_percent(width, signed=False).removesuffix(f'{NO_BREAK}%')} percentage points"

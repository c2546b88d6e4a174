"""Of a study that runs until its answer is sure enough: whether it is, and what it would take."""

from eyelevel.analysis.gains.sequential import (
    BLOCKS_COUNTED_MAX,
    Comparison,
    blocks_needed,
    comparisons,
)
from eyelevel.analysis.phrases import NO_BREAK, percent
from eyelevel.analysis.study import Contents

NAMED_MAX = 3  # comparisons; more would bury what they say

UNSURE = ("open", "futile")


def not_sure_enough(contents: Contents) -> list[tuple[str, str]]:
    """A heading and a sentence where an interval is wider than the plan asked for; else nothing.

    Of a run that is over: one that goes on is not sure enough by its nature.
    """
    rule = contents.plan.get("stop")
    if not rule or not contents.blocks.kept.height:
        return []
    if contents.table.height < len(contents.plan["trials"]):
        return []
    asked = rule["interval_width_max"]
    smallest = contents.plan["smallest_effect_of_interest"]
    metric = contents.plan["primary_metric"]
    gains = [each for each in contents.gains if each.metric == metric]
    found = comparisons(gains, asked, smallest, contents.plan["blocks"], futility=False)
    unsure = [each for each in found if each.state in UNSURE]
    if not unsure:
        return []
    said = [_width(each) for each in unsure[:NAMED_MAX]]
    if len(unsure) > NAMED_MAX:
        said.append(f"{len(unsure) - NAMED_MAX} more are not sure enough, either")
    text = f"{'; '.join(said)}; at most {_points(asked)} were asked for."
    needed = [
        blocks_needed(gain, asked, len(gains))
        for gain, state in zip(gains, found, strict=True)
        if state.state in UNSURE
    ]
    if None not in needed:
        most = max(each for each in needed if each is not None)
        text += f" Blocks that scatter as these did would have to be about {most}."
    elif any(each.width is not None for each in unsure):
        text += (
            f" With blocks that scatter as these did, {BLOCKS_COUNTED_MAX} would not be enough: "
            "a quieter machine may be."
        )
    return [("Not sure enough.", text)]


def _width(each: Comparison) -> str:
    which = f"{each.stack} on {each.network}"
    if each.width is None:
        return f"{which} has no interval"
    return f"the interval of {which} is {_points(each.width)} wide"


def _points(width: float) -> str:
    """A width of an interval of shares: `12.3 percentage points`."""
    return f"{percent(width, signed=False).removesuffix(f'{NO_BREAK}%')} percentage points"

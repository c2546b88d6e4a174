"""The first effects of a run that goes on: a look, not a result."""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path

from eyelevel.plan.plan import Plan
from eyelevel.store.directory import PLAN_FILE, read_document

SHOWN_MAX = 4


def effects_so_far(plan: Plan, directory: Path) -> Callable[[], str]:
    """What gives the primary metric's gains over the blocks so far, in one line.

    At most SHOWN_MAX, the largest first. They are not corrected and come without a verdict: who
    stops at what they show is misled (`stop` in a plan is the way to stop early).
    """
    # Imported where it is used: the statistics take long, and few commands need them; and before
    # the first load, which would else wait for it in the middle of a run.
    from eyelevel.analysis.formats import format_interval, format_percent
    from eyelevel.analysis.gains.causes import without_twins
    from eyelevel.analysis.gains.cells import compare_cells, network_gains
    from eyelevel.analysis.study import read_table
    from eyelevel.analysis.trials.blocks import select_blocks

    # scipy's tests are imported at their first use, and take a processor two seconds.
    import_module("scipy.stats")

    document = read_document(directory, PLAN_FILE)

    def look() -> str:
        _, table = read_table(directory, document)
        blocks = select_blocks(table, [stack.name for stack in plan.stacks])
        shown = document
        if plan.causes:
            shown, table, blocks = without_twins(document, table, blocks)
        stacks = [stack["name"] for stack in shown["stacks"]]
        metric = plan.primary_metric
        cells = compare_cells(blocks.kept, [metric], plan.reference, stacks)
        gains = network_gains(cells, sorted(blocks.kept["site"].unique()))
        known = [gain for gain in gains if gain.gain.value is not None]
        known.sort(key=lambda gain: -abs(gain.gain.value or 0.0))
        phrases = []
        for gain in known[:SHOWN_MAX]:
            reach = f" [{format_interval(gain.gain)}]" if gain.gain.determined else ""
            phrases.append(
                f"{gain.stack} on {gain.network} {format_percent(gain.gain.value or 0.0)}{reach}"
            )
        if not phrases:
            return ""
        count = blocks.kept["block"].n_unique()
        more = f" and {len(known) - SHOWN_MAX} more" if len(known) > SHOWN_MAX else ""
        return (
            f"so far, of {count} {'block' if count == 1 else 'blocks'}: {'; '.join(phrases)}{more}"
        )

    return look

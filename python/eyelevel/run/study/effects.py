"""Report the effects of a running study, with intervals that hold at any number of peeks."""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path

from eyelevel.plan.plan import Plan
from eyelevel.run.study.facts import FactsSoFar
from eyelevel.store.directory import PLAN_FILE, read_document

SHOWN_MAX = 4


def live_effects(
    plan: Plan, directory: Path, *, peek: bool, facts: FactsSoFar | None = None
) -> Callable[[], str] | None:
    """Return a function that returns the primary metric's gains so far in one line, or None.

    With a fixed number of blocks there are none unless `peek` is set: stopping at the first t
    interval that excludes zero gives wrong results in a fourth of runs
    (`benchmarks.statistics.peeking`). The gains are those with a confidence sequence, at most
    SHOWN_MAX, the largest first.
    """
    if plan.stop is None and not peek:
        return None
    # Imported here: the statistics take long, and few commands need them; and before
    # the first load, since otherwise the import would interrupt the run.
    from eyelevel.analysis.decisions import horizon_of, judge_prefix, networks_compared
    from eyelevel.analysis.formats import format_interval, format_percent
    from eyelevel.analysis.gains.causes import without_twins
    from eyelevel.analysis.gains.sequential import sequential_gains
    from eyelevel.analysis.trials.blocks import select_blocks

    # scipy's tests are imported at their first use, which takes a processor two seconds.
    import_module("scipy.stats")

    document = read_document(directory, PLAN_FILE)
    so_far = facts or FactsSoFar(directory)
    sites = [site["name"] for site in document["sites"]]
    networks = networks_compared(plan)

    def look() -> str:
        table = judge_prefix(so_far.read(), plan.primary_metric)
        blocks = select_blocks(table, [stack.name for stack in plan.stacks])
        if plan.causes:
            _, _, blocks = without_twins(document, table, blocks)
        kept = blocks.kept
        asked = plan.primary_metric, plan.comparisons, networks, sites
        gains = sequential_gains(kept, *asked, horizon_of(plan))
        known = [gain for gain in gains if gain.gain.determined]
        known.sort(key=lambda gain: -abs(gain.gain.value or 0.0))
        phrases = [
            f"{gain.comparison} on {gain.network} {format_percent(gain.gain.value or 0.0)} "
            f"[{format_interval(gain.gain)}]"
            for gain in known[:SHOWN_MAX]
        ]
        if not phrases:
            return ""
        count = kept["block"].n_unique()
        more = f" and {len(known) - SHOWN_MAX} more" if len(known) > SHOWN_MAX else ""
        return (
            f"so far, of {count} {'block' if count == 1 else 'blocks'}: {'; '.join(phrases)}{more}"
            " (these intervals hold at every look)"
        )

    return look

"""Whether a sequential study may stop: looked at after each repetition (spec/plan.md, `stop`)."""

from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path

from eyelevel.analysis.gains.sequential import ComparisonState, State, comparisons, sequential_gains
from eyelevel.analysis.trials.blocks import select_blocks
from eyelevel.plan.plan import Plan
from eyelevel.store.directory import PLAN_FILE, STOP_FILE, read_document, write_document

_SAID: dict[State, str] = {
    "narrow enough": "known closely enough",
    "no difference that matters": "no difference that matters",
    "futile": "not to be known closely enough by all blocks, either",
}
NAMED_MAX = 3  # comparisons of one kind; more are counted


def stopped_since(found: Sequence[ComparisonState]) -> str:
    """Why a study may stop, in words: what each of its comparisons has come to."""
    sentences = []
    for state, words in _SAID.items():
        of_kind = [
            f"{comparison.comparison} on {comparison.network}"
            for comparison in found
            if comparison.state == state
        ]
        if of_kind:
            many = len(of_kind) > NAMED_MAX
            named = f"{len(of_kind)} comparisons" if many else ", ".join(of_kind)
            sentences.append(f"{named}: {words}")
    return "; ".join(sentences)


def networks_compared(plan: Plan) -> list[str]:
    """The networks on which is compared: all but counterfactuals."""
    twins = plan.causes.networks.values() if plan.causes else ()
    return [network.name for network in plan.networks if network.name not in twins]


def stopping_rule(plan: Plan, directory: Path) -> Callable[[int], str] | None:
    """Given the repetition that is done, why the study may stop, or nothing; None without a rule.

    Writes `stop.json` when it may.
    """
    rule = plan.stop
    if rule is None:
        return None
    document = read_document(directory, PLAN_FILE)
    sites = [site["name"] for site in document["sites"]]
    every = [stack.name for stack in plan.stacks]
    networks = networks_compared(plan)

    def look(repetition: int) -> str:
        if repetition < rule.blocks_min or repetition >= plan.blocks:
            return ""
        # Imported where it is used: the statistics take long, and few commands need them.
        from eyelevel.analysis.gains.causes import without_twins
        from eyelevel.analysis.study import read_table

        _, table = read_table(directory, document)
        blocks = select_blocks(table, every)
        if plan.causes:
            _, _, blocks = without_twins(document, table, blocks)
        kept = blocks.kept
        gains = sequential_gains(kept, plan.primary_metric, plan.comparisons, networks, sites)
        compared_now = comparisons(
            gains,
            rule.interval_width_max,
            plan.smallest_effect_of_interest,
            plan.blocks,
            rule.futility,
        )
        if any(comparison.state == "open" for comparison in compared_now):
            return ""
        reason = f"after {repetition} of {plan.blocks} blocks: {stopped_since(compared_now)}"
        value = {
            "version": 1,
            "repetition": repetition,
            "reason": reason,
            "comparisons": [asdict(comparison) for comparison in compared_now],
        }
        write_document(directory, STOP_FILE, value)
        return reason

    return look

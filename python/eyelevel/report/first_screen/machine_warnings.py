"""Warnings about the machines that made the loads."""

from eyelevel.analysis.formats import format_p_equation, format_percent
from eyelevel.analysis.gains.machines import ALARM_SHARE
from eyelevel.analysis.study import StudyResults
from eyelevel.analysis.trials.disturbance import CPU_FOREIGN_SHARE_MAX, LATE, find_disturbed_blocks
from eyelevel.report.first_screen.changed_since import Warning, warn_of_unmeasured_loads
from eyelevel.report.sections.machines import name_of


def of_machine(contents: StudyResults) -> list[Warning]:
    """Return the warnings about disturbances, paths, versions and differences of machines."""
    found = [*_warn_of_disturbance(contents), *_warn_of_late_packets(contents)]
    broken = [
        f"{name}: {check['measured']} (bound: {check['bound']})"
        for name, check in contents.environment.get("path_checks", {}).items()
        if check["passed"] is False
    ]
    if broken:
        text = (
            f"Measured when the run began: {'; '.join(broken)}. Loads with late packets "
            "count, unless most of a stack's are late; `eyelevel validate path` shows whether the "
            "machine can do better."
        )
        found.append(("The emulated network was not within its bounds.", text))
    found += warn_of_unmeasured_loads(contents)
    found += _warn_of_differing_machine(contents)
    if len(_versions(contents)) > 1:
        text = "The loads were made with more than one version; see “What was run”."
        found.append(("Versions changed during the run.", text))
    return found


def _warn_of_disturbance(contents: StudyResults) -> list[Warning]:
    """Warn of disturbed blocks."""
    table = contents.table
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


def late_loads(contents: StudyResults) -> int:
    """Return how many of the compared loads had late packets."""
    return int(contents.blocks.kept[LATE].sum())


def _warn_of_late_packets(contents: StudyResults) -> list[Warning]:
    """Warn of late packets, and of loads without real-time priority and its consequences."""
    texts = []
    cores = set(contents.table["browser_cores"].drop_nulls().to_list())
    if cores:
        left = " to ".join(map(str, sorted({min(cores), max(cores)})))
        texts.append(
            "To release packets on time without it, each lab kept one core to itself and left the "
            f"browser {left}: pages with heavy scripts load more slowly this way."
        )
    if late := late_loads(contents):
        texts.append(
            f"{late} of {contents.blocks.kept.height} compared loads had late packets. They "
            "count: to leave them out would favour the stack that is late when it is slow."
        )
    without = any(
        each.environment.get("realtime_allowed") is False for each in contents.run_environments
    )
    if not texts or not without:
        return [("Packets were late.", texts[-1])] if late else []
    remedy = (
        "With the priority the emulated network goes before all other programs: "
        "`eyelevel doctor` says how to allow it."
    )
    return [("Labs had no real-time priority.", " ".join([*texts, remedy]))]


def machines_deviate(contents: StudyResults) -> list[Warning]:
    """Warn of the gain that varies most between machines, if by more than ALARM_SHARE allows."""
    smallest = contents.smallest_effect
    over = [each for each in contents.between_machines if each.exceeds(smallest)]
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


def _warn_of_differing_machine(contents: StudyResults) -> list[Warning]:
    """Warn if machines differ significantly in a gain, however small the deviation."""
    found = [each for each in contents.between_machines if each.alarms]
    if not found:
        return []
    worst = max(found, key=lambda each: each.model.deviation_machines or 0.0)
    assert worst.farthest is not None and worst.p_holm is not None
    machine, of_machine = worst.farthest
    gain = "unknown" if of_machine.gain.value is None else format_percent(of_machine.gain.value)
    text = (
        f"The machines do not agree on the gain of {worst.comparison} on {worst.network} "
        f"({format_p_equation(worst.p_holm)}); {name_of(contents, machine)} differs most from "
        f"the others, with {gain}."
    )
    return [("Gains depend on the machine.", text)]


def _versions(contents: StudyResults) -> set[str]:
    return set(contents.table["versions"].unique())

"""What a reader must know of the machines that made the loads."""

import polars as pl

from eyelevel.analysis.formats import format_p_equation, format_percent
from eyelevel.analysis.gains.machines import ALARM_SHARE
from eyelevel.analysis.study import Contents
from eyelevel.report.first_screen.changed_since import Warning, loaded_unmeasured
from eyelevel.report.sections.machines import name_of

# Load average over cores, read before the run needs any: the half of them must be free.
BUSY_SHARE = 0.5


def of_machine(contents: Contents) -> list[Warning]:
    """What the machine did to the loads."""
    found = [*_machine_was_busy(contents), *_without_priority(contents)]
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
    found += loaded_unmeasured(contents)
    found += _machine_is_off(contents)
    if len(_versions(contents)) > 1:
        text = "The loads were made with more than one version; see “What was run”."
        found.append(("Versions changed during the run.", text))
    return found


def _machine_was_busy(contents: Contents) -> list[Warning]:
    """Of the machines that made loads the busiest one, and how many there are like it."""
    busy = []
    for machine in contents.loaded_on:
        load, cores = (machine.environment.get(key) for key in ("load_1min", "cores"))
        if load is not None and cores and load > BUSY_SHARE * cores:
            busy.append((load / cores, load, cores, machine.name))
    if not busy:
        return []
    _, load, cores, name = max(busy)
    when = f"When {name} joined" if name else "When the run began"
    others = f" {len(busy)} of {len(contents.loaded_on)} machines were busy." if name else ""
    text = (
        f"{when}, {load:.1f} processes were competing for {cores} cores.{others} Loads may have "
        "waited for the processor, which makes stacks that need more of it look slower."
    )
    return [("The machine was busy.", text)]


def _without_priority(contents: Contents) -> list[Warning]:
    """Where labs had to do without the priority: what that cost the pages, and which loads."""
    without = any(each.environment.get("realtime_allowed") is False for each in contents.loaded_on)
    texts = []
    cores = set(contents.table["browser_cores"].drop_nulls().to_list())
    if cores:
        left = " to ".join(map(str, sorted({min(cores), max(cores)})))
        texts.append(
            "To release packets on time without it, each lab kept one core to itself and left the "
            f"browser {left}: pages with heavy scripts load more slowly this way."
        )
    starved = contents.table.filter(pl.col("outcome") == "starved").height
    if without and starved:
        texts.append(
            f"{starved} of {contents.table.height} loads were starved and are not counted."
        )
    if not texts:
        return []
    remedy = (
        "With the priority the emulated network goes before all other programs: "
        "`eyelevel doctor` says how to allow it."
    )
    return [("Labs had no real-time priority.", " ".join([*texts, remedy]))]


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
    chance = "more than chance would usually explain" if worst.alarms else "which may be chance"
    text = (
        f"The gain of {worst.comparison} on {worst.network} varies by {deviation} between "
        f"machines, {chance}; half of the smallest effect of interest is {bound}. The table of "
        "machines shows which machine gave which gain."
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
        f"The machines do not agree on the gain of {worst.comparison} on {worst.network} "
        f"({format_p_equation(worst.p_holm)}); {name_of(contents, machine)} differs most from "
        f"the others, with {gain}."
    )
    return [("Gains depend on the machine.", text)]


def _versions(contents: Contents) -> set[str]:
    return set(contents.table["versions"].unique())

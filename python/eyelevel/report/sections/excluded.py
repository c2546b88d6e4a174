"""Every block that is left out of the comparison: none is hidden, however many there are."""

from eyelevel.analysis.study import Contents
from eyelevel.report.html import Markup, element, table


def excluded_table(contents: Contents) -> Markup:
    """One row a site, network and reason, with the repetitions that it took away."""
    excluded = contents.blocks.excluded
    planned = len({trial["block"] for trial in contents.plan["trials"]})
    if not excluded:
        return element("p", f"No block is excluded; all {planned} are compared.")
    found: dict[tuple[str, str, str], list[int]] = {}
    for each in excluded:
        found.setdefault((each.site, each.network, each.reason), []).append(each.repetition)
    rows = [[*key, spans(repetitions)] for key, repetitions in found.items()]
    caption = f"Excluded blocks, with the loads of all stacks: {len(excluded)} of {planned}"
    return table(caption, ["site", "network", "why", "repetitions"], rows, class_="loads")


def spans(numbers: list[int]) -> str:
    """Numbers in few words: `1, 3 to 5`."""
    parts: list[list[int]] = []
    for number in sorted(numbers):
        if parts and number == parts[-1][-1] + 1:
            parts[-1].append(number)
        else:
            parts.append([number])
    return ", ".join(
        str(part[0]) if len(part) == 1 else f"{part[0]} to {part[-1]}" for part in parts
    )

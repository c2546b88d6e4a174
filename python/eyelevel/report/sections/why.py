"""Why: each difference in parts, from the counterfactuals of the same blocks."""

from eyelevel.analysis.gains.causes import NetworkSplit
from eyelevel.analysis.phrases import NO_BREAK
from eyelevel.analysis.shown import title_of
from eyelevel.analysis.study import Contents
from eyelevel.plan.causes import MEANINGS
from eyelevel.report.drawings import Drawings
from eyelevel.report.html import Markup, element, join, table
from eyelevel.report.sections.load_traces import traces
from eyelevel.stats.estimate import Estimate

NAMES = {
    "handshake": "handshakes",
    "window": "limit of the window",
    "think_time": "think time",
    "loss": "random loss",
}


def why_section(contents: Contents, drawings: Drawings) -> Markup:
    """The parts by network and stack, of a plan with `causes`; and what typical loads were like."""
    parts = [*_causes(contents), *traces(contents, drawings)]
    if not parts:
        return Markup("")
    return element("section", element("h2", "Why", id="why"), *parts, aria_labelledby="why")


def _causes(contents: Contents) -> list[Markup]:
    if not contents.splits:
        return []
    metric = title_of(contents.plan["primary_metric"])
    columns = ["part", "ms", "95 % interval", "round trips"]
    tables = [
        table(
            join([element("strong", f"{each.stack} on {each.network}"), " ",
                  element("span", f"against {contents.plan['reference']}")]),
            columns,
            _rows(each),
            class_="causes",
        )
        for each in contents.splits
    ]  # fmt: skip
    meanings = "; ".join(
        f"{NAMES[name]}: {MEANINGS[name]}" for name in contents.plan["causes"]["names"]
    )
    note = (
        f"Each stack also ran without one cause and without all of them, in the same blocks. A "
        f"cause's part of the difference in {metric} is the difference with it minus the "
        "difference without it. The interaction is what all causes contribute together beyond the "
        f"sum of the single ones; what remains is the difference without any. Without: {meanings}. "
        "Intervals are not corrected for their number."
    )
    return [
        *(element("p", sentence) for sentence in why_sentences(contents.splits)),
        element("div", *tables, class_="pair"),
        element("p", note, class_="note"),
    ]


def why_sentences(splits: tuple[NetworkSplit, ...]) -> list[str]:
    """Of each difference the largest part whose interval excludes zero, in words; else that none
    does: the largest of parts that may all be noise is no cause."""
    said = []
    for each in splits:
        parts = {NAMES[name]: part for name, part in each.split.causes.items()}
        parts |= {"their interaction": each.split.interaction, "other causes": each.split.remaining}
        certain = {name: part for name, part in parts.items() if part.excludes_zero}
        whole, subject = each.split.difference, f"{each.stack} on {each.network}"
        if whole.value is None:
            said.append(f"{subject}: undetermined ({whole.reason}).")
            continue
        reach = f"95 % interval {_reach(whole)}" if whole.determined else whole.reason
        subject += f": of {_ms(whole.value)} ({reach})"
        if not certain:
            said.append(f"{subject} no part is told from none.")
            continue
        name, part = max(certain.items(), key=lambda one: abs(one[1].value or 0.0))
        value = part.value or 0.0
        said.append(
            f"{subject} the largest part that is told from none, {_ms(value)} ({_reach(part)})"
            f"{_rtts(value, each.rtt_ms)}, is due to {name}."
        )
    return said


def _reach(part: Estimate) -> str:
    return f"{_ms(part.low or 0.0)} to {_ms(part.high or 0.0)}"


def _rows(each: NetworkSplit) -> list[list[object]]:
    split = each.split
    parts = [(NAMES[name], part) for name, part in split.causes.items()]
    parts += [("interaction", split.interaction), ("remains", split.remaining)]
    rows = [_row("difference", split.difference, each.rtt_ms)]
    return rows + [_row(name, part, each.rtt_ms) for name, part in parts]


def _row(name: str, part: Estimate, rtt_ms: float) -> list[object]:
    if part.value is None:
        return [name, "undetermined", part.reason, ""]
    reach = part.reason or "none"
    if part.low is not None and part.high is not None:
        reach = _reach(part)
    rtts = f"{part.value / rtt_ms:+.2f}".replace("-", "−") if rtt_ms else "none"
    return [name, _ms(part.value), reach, rtts]


def _ms(value: float) -> str:
    return f"{value:+.0f}{NO_BREAK}ms".replace("-", "−").replace("+0", "0").replace("−0", "0")


def _rtts(value: float, rtt_ms: float) -> str:
    return f" or {abs(value) / rtt_ms:.2f} round trips" if rtt_ms else ""

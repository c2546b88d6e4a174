"""A methods paragraph and references to paste into a paper, written from the plan.

The appendix: how our QUIC compares with the kernel's TCP on the machine that ran the study. The
papers' figures on the page, each drawn when it is opened, and the names of their tables.
"""

from eyelevel.analysis.conditions import (
    describe_conditions,
    describe_smallest_effect,
    list_planned_stacks,
)
from eyelevel.analysis.report_metrics import title_of
from eyelevel.analysis.stats.pooled import BORROWED_FREEDOM, STACKS_MIN
from eyelevel.analysis.study import StudyResults
from eyelevel.analysis.yardstick import EXPLANATION, RATIO_AIM, notes, row
from eyelevel.report.citation import own_bibtex
from eyelevel.report.figures.catalogue import FIGURES, SECTIONS, TABLES, TRACES
from eyelevel.report.html import Markup, element, make_titled_section, table
from eyelevel.report.page_data import PageData

BIBTEX = """\
@inproceedings{wolsing2019performance,
  author = {Wolsing, Konrad and R{\\"u}th, Jan and Wehrle, Klaus and Hohlfeld, Oliver},
  title = {A Performance Perspective on Web Optimized Protocol Stacks: {TCP+TLS+HTTP/2} vs. {QUIC}},
  booktitle = {Proceedings of the Applied Networking Research Workshop},
  year = {2019}
}
@mastersthesis{das2014evaluation,
  author = {Das, Somak R.},
  title = {Evaluation of {QUIC} on Web Page Performance},
  school = {Massachusetts Institute of Technology},
  year = {2014}
}"""


def references(results: StudyResults) -> str:
    """Return the references: eyelevel as the study ran it, and the papers that it follows."""
    version = results.environment.get("versions", {}).get("eyelevel")
    return "\n".join([*([own_bibtex(version)] if version else []), BIBTEX])


def paragraph(results: StudyResults) -> str:
    """Return the methods of the study, in the past tense and in numbers."""
    plan = results.plan
    counts = [len(plan.sites), len(plan.networks), len(plan.stacks)]
    versions = results.environment.get("versions", {})
    whole = results.blocks.whole
    planned = results.blocks_planned
    conditions = describe_conditions(plan)
    again = any(stack.visitor == "known" for stack in list_planned_stacks(plan))
    load = "load, together with the visit before it," if again else "load"
    sure = _describe_stop_rule(results) if results.may_stop else _describe_fixed_blocks(results)
    compared = ", ".join(map(str, results.comparisons))
    if results.declared:
        declared = ", ".join(map(str, results.declared))
        compared += f", chosen after the loads had been made (the plan had declared {declared})"
    return (
        f"{_count(counts[0], 'recorded site')} {'was' if counts[0] == 1 else 'were'} replayed "
        f"with eyelevel {versions.get('eyelevel', '')} from recorded addresses over "
        f"{_count(counts[1], 'emulated network')} into {versions.get('browser', 'a browser')} on "
        f"Linux {versions.get('kernel', '')}, {f'{conditions}, ' if conditions else ''}with "
        f"{_count(counts[2], 'protocol stack')}. Trials were randomised in complete blocks (seed "
        f"{plan.seed}): in each of at most {_count(plan.blocks, 'repetition')} every stack "
        f"loaded every site once over every network, each {load} in a new browser and new "
        f"network namespaces. The primary metric, {title_of(results.primary_metric)}, was "
        "declared beforehand, with a smallest effect of interest of "
        f"{describe_smallest_effect(plan)}. Of a page that replaced its document, times ran "
        "from the first one's navigation start to the newest one's events. "
        f"{whole} of {planned} blocks were whole; a load in which the instrument failed was left "
        "out with the pairs that it was part of. Timeouts count as their limit, and in medians as "
        "slower than it. Gains are geometric means over the sites of X / reference within blocks, "
        "minus one. The comparisons were "
        f"{compared}. {sure} {_describe_external(results)}The plan's hash is {results.plan_hash}."
    )


def _describe_external(results: StudyResults) -> str:
    """Describe what servers other than ours were refused; empty without any."""
    if all(stack.is_ours for stack in results.plan.stacks):
        return ""
    return (
        "External servers ran confined, on devices with the queueing discipline pfifo_fast and "
        "without the socket option SO_TXTIME. "
    )


def _describe_fixed_blocks(results: StudyResults) -> str:
    """Describe the intervals of a study with a fixed number of blocks."""
    shared = ""
    if len(results.stacks) >= STACKS_MIN:
        shared = (
            ", with variances moderated by those of the network's other stacks, which count as "
            f"{BORROWED_FREEDOM:g} degrees of freedom"
        )
    ended = f" {results.stopped['reason'].capitalize()}." if results.stopped else ""
    return (
        "Intervals are 95 % intervals of Student's t over repetitions, where each "
        "repetition counts with its mean over the sites of log(X / reference)"
        f"{shared}; the "
        "primary metric's p values are corrected after Holm over all networks and "
        f"comparisons.{ended}"
    )


def _describe_stop_rule(results: StudyResults) -> str:
    """Describe the stopping rule of a study, and its result."""
    rule = results.plan.stop
    assert rule is not None
    ends = [
        "its interval excluded 0 while the median had the same sign",
        "two one-sided bounds at the same level lay within the smallest effect of interest",
    ]
    if rule.futility:
        ends.append("neither could be expected by the last block")
    decided = results.stopped["reason"] if results.stopped else "none"
    return (
        "The gain is bounded by confidence sequences, which hold at all looks together; the "
        "level of 5 % is shared equally by all comparisons. After each repetition from number "
        f"{rule.blocks_min} on, a comparison was decided on the blocks up to then as soon as "
        f"{', or '.join(ends)}; a network's loads ended with its last comparison. "
        f"Decided before the last block: {decided}."
    )


def _count(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def methods_section(results: StudyResults) -> Markup:
    """Return the paragraph and the references, each with a button to copy it."""
    return make_titled_section(
        "cite",
        "To cite",
        element("p", paragraph(results), data_copy="the methods paragraph"),
        element(
            "details",
            element("summary", "References in BibTeX"),
            element("pre", references(results), tabindex="0", data_copy="references in BibTeX"),
        ),
    )


COLUMNS = [
    "network", "congestion control", "TCP, Mbit/s", "QUIC, Mbit/s", "ratio", "95 % interval",
    "repeated, %, TCP / QUIC", "queueing delay p95, ms, TCP / QUIC", "",
]  # fmt: skip


def appendix_section(results: StudyResults) -> Markup:
    """Return the cells of the yardstick as measured when the run began, or how to measure them."""
    cells = results.environment.get("stacks_validated") or []
    if not cells:
        text = (
            "Not measured on this machine with this build and kernel before the run began. To "
            "measure it: "
        )
        command = element("code", "eyelevel validate stacks")
        return make_titled_section(
            "yardstick",
            "Appendix: our QUIC beside the kernel's TCP",
            element("p", text, command, "."),
        )
    rows = [[*row(cell), ", ".join(notes(cell))] for cell in cells]
    introduction = (
        "The same bulk transfer (10 MB or 30 s) over the kernel's TCP and over our QUIC with "
        "the same congestion control; medians, corrected for headers. The ratio is QUIC's "
        f"goodput over TCP's. Without loss it should lie between {RATIO_AIM[0]} and "
        f"{RATIO_AIM[1]}."
    )
    parts = [
        element("p", introduction),
        table("Goodput by network and congestion control", COLUMNS, rows),
    ]
    if any(cell["loss"] for cell in cells):
        parts.append(element("p", EXPLANATION, class_="note"))
    return make_titled_section("yardstick", "Appendix: our QUIC beside the kernel's TCP", *parts)


def figures_section(results: StudyResults, data: PageData) -> Markup:
    """Return the section; its charts go to `data`."""
    parts, absent = [], []
    for figure in FIGURES:
        if figure.name in (*TRACES, *SECTIONS):
            continue
        drawing = data.place(figure)
        if drawing is None:
            absent.append(figure.name)
        else:
            parts.append(drawing)
    tables = [each.name for each in TABLES if each.name not in TRACES and each.rows(results).height]
    note = f"Each is a command, too: eyelevel figures DIR --only {FIGURES[0].name}. "
    if tables:
        note += f"It also writes the papers' tables: {', '.join(tables)}. "
    if absent:
        note += f"This run has nothing for {', '.join(absent)}."
    return make_titled_section(
        "figures", "Figures of the papers", *parts, element("p", note, class_="note")
    )

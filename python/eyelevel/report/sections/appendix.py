"""The appendix: how our QUIC compares with the kernel's TCP on the machine that ran the study."""

from eyelevel.analysis.study import StudyResults
from eyelevel.analysis.yardstick import EXPLANATION, RATIO_AIM, notes, row
from eyelevel.report.html import Markup, element, table, titled_section

COLUMNS = [
    "network", "congestion control", "TCP, Mbit/s", "QUIC, Mbit/s", "ratio", "95 % interval",
    "repeated, %, TCP / QUIC", "queueing delay p95, ms, TCP / QUIC", "",
]  # fmt: skip


def appendix_section(contents: StudyResults) -> Markup:
    """Return the cells of the yardstick as measured when the run began, or how to measure them."""
    cells = contents.environment.get("stacks_validated") or []
    if not cells:
        text = (
            "Not measured on this machine with this build and kernel before the run began. To "
            "measure it: "
        )
        command = element("code", "eyelevel validate stacks")
        return titled_section(
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
    return titled_section("yardstick", "Appendix: our QUIC beside the kernel's TCP", *parts)

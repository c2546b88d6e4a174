"""The flows that shared the path with pages: their rates, their fairness, their cost."""

from eyelevel.analysis.cross_traffic import flows_of, harms, twins
from eyelevel.analysis.formats import format_percent
from eyelevel.analysis.report_metrics import title_of
from eyelevel.analysis.study import StudyResults
from eyelevel.base.json_types import JsonObject
from eyelevel.report.html import Markup, element, make_titled_section, table
from eyelevel.report.statistic_cells import estimate_cell

NOTE = (
    "Harm is (with - without) / with cross traffic (Ware et al. 2019), computed from the "
    "geometric mean over the sites of the ratios of loads paired by repetition; its interval "
    "is computed as for the gains. 0 is no harm, 100 % the worst. Jain's index compares the "
    "flows of one direction: 1 means that all had the same goodput. The page's share counts "
    "the bytes down until its load event. Flows and shares are medians over the counted loads."
)


def cross_traffic_json(results: StudyResults) -> JsonObject:
    """Return flows and harm as JSON; null for a plan without cross traffic."""
    if not twins(results.plan):
        return {"cross_traffic": None}
    return {
        "cross_traffic": {
            "flows": flows_of(results),
            "harm": [
                {
                    "network": harm.network,
                    "stack": harm.stack,
                    "metric": harm.metric,
                    "without": harm.alone,
                    "harm": harm.harm.as_json(),
                }
                for harm in harms(results)
            ],
        }
    }


def cross_traffic_section(results: StudyResults) -> Markup:
    """Return the section; empty for a plan without cross traffic."""
    partners = twins(results.plan)
    if not partners:
        return Markup("")
    flows = [
        [
            row["network"],
            row["stack"],
            ", ".join(f"{kind} {goodput / 1e6:.2f}" for kind, goodput in row["goodput_bit_s"]),
            ", ".join(f"{way} {index:.3f}" for way, index in row["fairness_index"].items()),
            "–" if row["page_share"] is None else format_percent(row["page_share"], False),
        ]
        for row in flows_of(results)
    ]
    rows = [
        [
            title_of(row.metric),
            row.network,
            row.alone,
            row.stack,
            estimate_cell(row.harm, format_percent),
        ]
        for row in harms(results)
    ]
    absent = [name for name, alone in partners.items() if alone is None]
    return make_titled_section(
        "cross-traffic",
        "Cross traffic",
        table(
            "Bulk transfers beside the page",
            ["network", "stack", "goodput in Mbit/s", "Jain's index", "page's share"],
            flows,
        ),
        table(
            "Harm to the page",
            ["metric", "network", "compared with", "stack", "harm, 95 % interval"],
            rows,
        )
        if rows
        else Markup(""),
        element("p", _absent(absent), class_="note") if absent else Markup(""),
        element("p", NOTE, class_="note"),
    )


def _absent(names: list[str]) -> str:
    return (
        f"The harm of {', '.join(names)} is unknown: the plan has no network with the same "
        "settings but without cross traffic."
    )

"""What the gains would be on other sites like the study's, by the mixed model."""

from typing import Any

from eyelevel.analysis.phrases import percent
from eyelevel.analysis.shown import title_of
from eyelevel.analysis.study import Contents
from eyelevel.report.html import Markup
from eyelevel.report.statistic_cells import collapsed_table, estimate_cell, p_value

NOTE = (
    "The gains above are of these very sites. Here the sites are taken as a random sample of those "
    "one asks about, and the interval covers others like them: a mixed model of log(X / reference) "
    "with sites at random. It assumes that the sites were chosen without an eye to the stacks, and "
    "that sites and runs scatter about normally on the log scale. Sites scatter by how far their "
    "own gains are from the typical one, runs by how far single blocks are from their site's. "
    "p is not corrected for the number of networks and stacks."
)


def other_sites_details(contents: Contents) -> Markup:
    """Collapsed; nothing below five sites."""
    if not contents.sites_models:
        return Markup("")
    primary = contents.plan["primary_metric"]
    of_these = {(e.network, e.stack): e.gain for e in contents.gains if e.metric == primary}
    rows: list[list[object]] = []
    for each in contents.sites_models:
        model, gain = each.model, each.model.gain
        own = of_these.get((each.network, each.stack))
        rows.append(
            [
                each.network,
                each.stack,
                estimate_cell(gain, percent),
                "none" if gain.p is None else p_value(gain.p),
                estimate_cell(own, percent) if own else "none",
                _share(model.deviation_sites),
                _share(model.deviation_runs),
            ]
        )
    columns = [
        "network", "stack", "gain on such sites, 95 % interval", "p",
        "gain on these sites, 95 % interval", "sites scatter by", "runs scatter by",
    ]  # fmt: skip
    note = NOTE
    if contents.plan.get("stop"):
        note += " It does not allow for a study that stops when it has seen enough."
    caption = f"{title_of(primary)}: a mixed model over sites"
    return collapsed_table("On other sites like these", caption, columns, rows, note)


def other_sites_json(contents: Contents) -> dict[str, Any]:
    """The same for machines: an object a network and stack."""
    return {
        "other_sites": [
            {
                "network": each.network,
                "stack": each.stack,
                "metric": each.metric,
                "gain": each.model.gain.as_json(),
                "deviation_sites": each.model.deviation_sites,
                "deviation_runs": each.model.deviation_runs,
            }
            for each in contents.sites_models
        ]
    }


def _share(value: float | None) -> str:
    return "none" if value is None else percent(value, signed=False)

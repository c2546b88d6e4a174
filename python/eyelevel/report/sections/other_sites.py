"""The gains expected on other sites like the study's, by the mixed model."""

from eyelevel.analysis.formats import format_p, format_percent
from eyelevel.analysis.report_metrics import title_of
from eyelevel.analysis.study import StudyResults
from eyelevel.base.json_types import JsonObject
from eyelevel.report.html import Markup
from eyelevel.report.statistic_cells import collapsed_table, compared_json, estimate_cell

NOTE = (
    "The gains above are those of these very sites. Here the sites are treated as a random "
    "sample of the sites in question, so that the interval covers others like them: a mixed "
    "model of log(X / reference) with random sites. It assumes that the sites were chosen "
    "without regard to the stacks, and that sites and runs scatter about normally on the log "
    "scale. The scatter of sites says how far their own gains lie from the typical one, the "
    "scatter of runs how far single blocks lie from their site's gain. p is not corrected for "
    "the number of networks and comparisons."
)


def other_sites_details(contents: StudyResults) -> Markup:
    """Return the models, collapsed; empty with fewer than five sites."""
    if not contents.sites_models:
        return Markup("")
    primary = contents.primary_metric
    gains = {
        (gain.network, gain.comparison): gain.gain
        for gain in contents.gains
        if gain.metric == primary
    }
    rows: list[list[object]] = []
    for network_model in contents.sites_models:
        model, estimate = network_model.model, network_model.model.gain
        of_these_sites = gains.get((network_model.network, network_model.comparison))
        rows.append(
            [
                network_model.network,
                network_model.stack,
                network_model.reference,
                estimate_cell(estimate, format_percent),
                "none" if estimate.p is None else format_p(estimate.p),
                estimate_cell(of_these_sites, format_percent) if of_these_sites else "none",
                _format_share(model.deviation_sites),
                _format_share(model.deviation_runs),
            ]
        )
    columns = [
        "network", "stack", "reference", "gain on such sites, 95 % interval", "p",
        "gain on these sites, 95 % interval", "sites scatter by", "runs scatter by",
    ]  # fmt: skip
    caption = f"{title_of(primary)}: a mixed model over sites"
    return collapsed_table("On other sites like these", caption, columns, rows, NOTE)


def other_sites_json(contents: StudyResults) -> JsonObject:
    """Return the models as JSON, one object per network and comparison."""
    return {
        "other_sites": [
            {
                **compared_json(model),
                "gain": model.model.gain.as_json(),
                "deviation_sites": model.model.deviation_sites,
                "deviation_runs": model.model.deviation_runs,
            }
            for model in contents.sites_models
        ]
    }


def _format_share(value: float | None) -> str:
    return "none" if value is None else format_percent(value, signed=False)

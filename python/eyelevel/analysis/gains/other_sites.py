"""The mixed model over sites for every network and comparison of a study."""

from collections.abc import Sequence
from dataclasses import dataclass

from eyelevel.analysis.gains.cells import Cell
from eyelevel.analysis.stats.censoring.timeouts import too_many, up_to_limit
from eyelevel.analysis.stats.estimate import undetermined
from eyelevel.analysis.stats.mixed_model import SITES_MIN, SitesModel, gain_over_sites
from eyelevel.plan.comparisons import Compared, Comparison

NAMED_MAX = 3


@dataclass(frozen=True)
class NetworkModel(Compared):
    """The mixed model's estimate for one stack on one network, for sites like the study's."""

    network: str
    stack: str
    reference: str
    metric: str
    model: SitesModel


def models_over_sites(
    cells: Sequence[Cell],
    metric: str,
    comparisons: Sequence[Comparison],
    networks: Sequence[str],
    sites: Sequence[str],
) -> list[NetworkModel]:
    """Return one model per network and comparison; empty if there are fewer than five sites.

    The p values are not corrected for the number of networks and comparisons. A timeout counts as
    its limit. A model is undetermined if a site has no complete block: sites that cannot be
    measured are seldom like the others.
    """
    if len(sites) < SITES_MIN:
        return []
    by_key: dict[tuple[str, Comparison], list[Cell]] = {}
    for cell in cells:
        if cell.metric == metric and len(cell.loads[0]):
            by_key.setdefault((cell.network, cell.comparison), []).append(cell)
    models = []
    for network in networks:
        for asked in comparisons:
            model = _model(by_key.get((network, asked), []), sites)
            models.append(NetworkModel(network, asked.stack, asked.reference, metric, model))
    return models


def _model(cells: Sequence[Cell], sites: Sequence[str]) -> SitesModel:
    if absent := [site for site in sites if site not in {cell.site for cell in cells}]:
        which = ", ".join(absent) if len(absent) <= NAMED_MAX else f"{len(absent)} sites"
        return SitesModel(undetermined(f"no complete block of {which}", len(sites)))
    late = max(sum(cell.timeouts for cell in cells), sum(cell.timeouts_reference for cell in cells))
    if reason := too_many(late, sum(cell.pairs for cell in cells)):
        return SitesModel(undetermined(reason, len(sites)))
    return gain_over_sites(
        {
            cell.site: (up_to_limit(x, cell.limit), up_to_limit(r, cell.limit))
            for cell in cells
            for _, x, r in (cell.loads,)
        }
    )

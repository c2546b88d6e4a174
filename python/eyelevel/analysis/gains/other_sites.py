"""The mixed model over sites of every network and stack of a study."""

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from eyelevel.analysis.trials.blocks import loads_by_site, paired
from eyelevel.stats.estimate import undetermined
from eyelevel.stats.mixed_model import SITES_MIN, SitesModel, gain_over_sites

NAMED_MAX = 3


@dataclass(frozen=True)
class NetworkModel:
    """What the mixed model says of one stack on one network, for sites like the study's."""

    network: str
    stack: str
    metric: str
    model: SitesModel


def models_over_sites(
    kept: pl.DataFrame,
    metric: str,
    reference: str,
    stacks: Sequence[str],
    networks: Sequence[str],
    sites: Sequence[str],
) -> list[NetworkModel]:
    """One model a network and stack, from the kept blocks; none of fewer than five sites.

    The p values are not corrected for the number of networks and stacks. Undetermined if a site
    has no complete block: sites that cannot be measured are seldom like the others.
    """
    if len(sites) < SITES_MIN:
        return []
    models = []
    for network in networks:
        loads = loads_by_site(kept, {(network, site) for site in sites}, [metric])
        absent = [site for site in sites if (network, site) not in loads]
        for stack in stacks:
            if stack == reference:
                continue
            if absent:
                which = ", ".join(absent) if len(absent) <= NAMED_MAX else f"{len(absent)} sites"
                model = SitesModel(undetermined(f"no complete block of {which}", len(sites)))
            else:
                model = gain_over_sites(
                    {
                        site: paired(by_stack[stack][metric], by_stack[reference][metric])
                        for (_, site), by_stack in loads.items()
                    }
                )
            models.append(NetworkModel(network, stack, metric, model))
    return models

"""Make a plan of one site and stack without a file, for `eyelevel load` and the validations."""

from collections.abc import Sequence

from eyelevel.plan.browser import Browser
from eyelevel.plan.file.model import PlanKeys
from eyelevel.plan.networks.network import Network
from eyelevel.plan.plan import Plan
from eyelevel.plan.stacks import Stack


def one_cell(
    site: str,
    networks: Sequence[Network],
    stack: Stack,
    blocks: int,
    seed: int,
    browser: Browser | None = None,
) -> Plan:
    """Return the plan of one site and stack, with the defaults of a plan file."""
    defaults = PlanKeys.model_construct()
    return Plan(
        title="",
        sites=(site,),
        networks=tuple(networks),
        stacks=(stack,),
        comparisons=(),
        blocks=blocks,
        seed=seed,
        primary_metric=defaults.primary_metric,
        smallest_effect_of_interest=defaults.smallest_effect_of_interest,
        browser=browser or Browser(),
        source="",
    )

"""One cell of a study: the network and the stack that the options name."""

from eyelevel.plan import NETWORKS_BY_NAME, STACKS_BY_NAME, Network, PlanError, Stack
from eyelevel.plan.nearest import unknown


def named_network(name: str) -> Network:
    """The preset; PlanError with the nearest name where there is none."""
    if name not in NETWORKS_BY_NAME:
        raise PlanError([f"--network: {unknown('network', name, NETWORKS_BY_NAME)}"])
    return NETWORKS_BY_NAME[name]


def named_stack(name: str) -> Stack:
    """The preset; PlanError with the nearest name where there is none."""
    if name not in STACKS_BY_NAME:
        raise PlanError([f"--stack: {unknown('stack', name, STACKS_BY_NAME)}"])
    return STACKS_BY_NAME[name]

"""One cell of a study: the stack that an option names; its network is `find_network`'s."""

from eyelevel.nearest import unknown
from eyelevel.plan import REFUSED_PRESETS, STACKS_BY_NAME, PlanError, Stack


def named_stack(name: str) -> Stack:
    """The preset; PlanError with the nearest name where there is none."""
    if name in REFUSED_PRESETS:
        raise PlanError([f"--stack {name}: {REFUSED_PRESETS[name]}"])
    if name not in STACKS_BY_NAME:
        raise PlanError([f"--stack: {unknown('stack', name, STACKS_BY_NAME)}"])
    return STACKS_BY_NAME[name]

"""One cell of a study: the stack that an option names; its network is `find_network`'s."""

from eyelevel.nearest import unknown
from eyelevel.plan import REFUSED_PRESETS, STACKS_BY_NAME, PlanError, Stack


def named_stack(name: str, option: str = "--stack") -> Stack:
    """The preset; PlanError with the nearest name where there is none. `option`: where it was
    given."""
    if name in REFUSED_PRESETS:
        raise PlanError([f"{option} {name}: {REFUSED_PRESETS[name]}"])
    if name not in STACKS_BY_NAME:
        raise PlanError([f"{option}: {unknown('stack', name, STACKS_BY_NAME)}"])
    return STACKS_BY_NAME[name]

"""What is wrong with a plan file's shape, in words: from pydantic's errors."""

from typing import Any

from pydantic import BaseModel

from eyelevel.nearest import unknown
from eyelevel.plan.lines import Path
from eyelevel.plan.model import CrossTrafficTable, NetworkTable, PlanFile, StackTable, StopTable
from eyelevel.plan.stacks import TCP_FAST_OPEN

# Keys that people try for another one which is not alike in its letters.
_OTHER_WORDS = {
    "runs": "blocks",
    "repetitions": "blocks",
    "protocols": "stacks",
    "base_stack": "base",
    "congestion_control": "cc",
    "viewport": "device",
    "mobile": "device",
    "cpu_throttling": "cpu_slowdown",
    "dark": "color_scheme",
    "dark_mode": "color_scheme",
    "js": "javascript",
    "block": "blocked_hosts",
}
# Keys of a stack that no stack can have, with the reason.
_REFUSED_KEYS = {
    "tcp_fast_open": TCP_FAST_OPEN,
    "fast_open": TCP_FAST_OPEN,
    "tfo": TCP_FAST_OPEN,
}


def explain_mistake(found: Any) -> tuple[Path, str]:
    """The place and the message of one validation error."""
    path: Path = tuple(found["loc"])
    key = path[-1]
    if found["type"] == "extra_forbidden":
        if key == "loss":
            return path, (
                "`loss` does not say of what: write `loss_two_way` (a request or its response is "
                "lost, as in the papers) or `loss_down` and `loss_up` (one packet is lost)"
            )
        tables = {"networks": NetworkTable, "stacks": StackTable, "stop": StopTable}
        model: type[BaseModel] = tables.get(str(path[0]), PlanFile)
        if len(path) == 1:
            model = PlanFile
        if "cross_traffic" in path[:-1]:
            model = CrossTrafficTable
        if model is StackTable and key in _REFUSED_KEYS:
            return path, f"`{key}`: {_REFUSED_KEYS[key]}"
        if (other := _OTHER_WORDS.get(str(key))) in model.model_fields:
            return path, f"unknown key `{key}`; did you mean `{other}`?"
        return path, unknown("key", str(key), model.model_fields)
    if found["type"] == "missing":
        return path[:-1], f"`{key}` is missing"
    name = next((part for part in reversed(path) if isinstance(part, str)), "")
    return path, f"`{name}`: {found['msg'].removeprefix('Value error, ')}"

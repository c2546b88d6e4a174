"""All that is wrong with a plan's text, each with file and line; pydantic's errors in words."""

from collections.abc import Callable, Collection, Mapping

from eyelevel.errors import PlanError, reason_of, unknown
from eyelevel.networks.cross_traffic import CrossTraffic
from eyelevel.plan.browser import Browser
from eyelevel.plan.file.model import NetworkTable, PlanFile, StackTable
from eyelevel.plan.file.toml_lines import Path, line_numbers, line_of
from eyelevel.plan.plan import StopRule
from eyelevel.plan.stack_presets import TCP_FAST_OPEN
from eyelevel.plan.stacks import Stack
from eyelevel.settings import annotations_of, names_tried

# Keys that people try for another one which is not alike in its letters.
_OTHER_WORDS = {
    "runs": "blocks",
    "repetitions": "blocks",
    "protocols": "stacks",
    "base_stack": "base",
    **names_tried(Stack),
    **names_tried(Browser),
}
_KEYS: Mapping[str, Collection[str]] = {
    "networks": NetworkTable.model_fields,
    "stacks": StackTable.model_fields,
    "stop": annotations_of(StopRule),
}
# Keys of a stack that no stack can have, with the reason.
_REFUSED_KEYS = {
    "tcp_fast_open": TCP_FAST_OPEN,
    "fast_open": TCP_FAST_OPEN,
    "tfo": TCP_FAST_OPEN,
}


def explain_mistake(found: object) -> tuple[Path, str]:
    """Return the place and the message of one validation error."""
    path: Path = tuple(found["loc"])
    key = path[-1]
    if found["type"] in ("extra_forbidden", "unexpected_keyword_argument"):
        if key == "loss":
            return path, (
                "`loss` does not say which loss is meant: write `loss_two_way` (a request or "
                "its response is lost, as in the papers) or `loss_down` and `loss_up` (one "
                "packet is lost)"
            )
        keys: Collection[str] = PlanFile.model_fields
        if "cross_traffic" in path[:-1]:
            keys = annotations_of(CrossTraffic)
        elif len(path) > 1 and path[0] in _KEYS:
            keys = _KEYS[str(path[0])]
        if keys is StackTable.model_fields and key in _REFUSED_KEYS:
            return path, f"`{key}`: {_REFUSED_KEYS[key]}"
        if (other := _OTHER_WORDS.get(str(key))) in keys:
            return path, f"unknown key `{key}`; did you mean `{other}`?"
        return path, unknown("key", str(key), keys)
    if key != "comparisons" and path[0] == "comparisons":
        return path[:2], "`comparisons`: each is two names: a stack and its reference"
    if found["type"] in ("missing", "missing_argument"):
        return path[:-1], f"`{key}` is missing; add it"
    # Of a union, pydantic names the alternative behind the key.
    keys_of_path = (part for part in reversed(path) if isinstance(part, str) and "[" not in part)
    name = next(keys_of_path, "")
    return path, f"`{name}`: {reason_of(found)}"


class KeyedError(ValueError):
    """An error in one key of a table; `key` locates its line."""

    def __init__(self, key: str, message: str) -> None:
        super().__init__(message)
        self.key = key


MESSAGE_MAX = 600
Report = Callable[[Path, str], None]


class Problems:
    """Gathered, so that a plan is mended in one go; told in the order of their lines."""

    def __init__(self, file: str, text: str) -> None:
        self._file = file
        self._lines = line_numbers(text)
        self._found: list[tuple[int, str]] = []
        self.places: Mapping[str, list[int]] = {}
        """By key, where in the file each element of an expanded list stands."""

    def add(self, path: Path, message: str) -> None:
        """`path` leads to the value as it is now, with the patterns expanded."""
        line = line_of(self._lines, self._origin(path))
        if len(message) > MESSAGE_MAX:  # it has a value of the plan's, which may be of any length
            message = f"{message[:MESSAGE_MAX]}..."
        self._found.append((line, f"{self._file}:{line}: {message}"))

    def refused(self) -> PlanError:
        """Return an error with all problems so far."""
        return PlanError(
            [message for _, message in sorted(self._found, key=lambda entry: entry[0])]
        )

    def refuse_any(self) -> None:
        """Raise PlanError if there is a problem."""
        if self._found:
            raise self.refused()

    def _origin(self, path: Path) -> Path:
        origins = self.places.get(str(path[0]), []) if path else []
        if len(path) > 1 and isinstance(path[1], int) and path[1] < len(origins):
            return (path[0], origins[path[1]], *path[2:])
        return path

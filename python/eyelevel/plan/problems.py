"""All that is wrong with a plan's text, each with its file and line."""

from collections.abc import Callable, Mapping

from eyelevel.plan.errors import PlanError
from eyelevel.plan.lines import Path, line_numbers, line_of

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
        self._found.append((line, f"{self._file}:{line}: {message}"))

    def refused(self) -> PlanError:
        """With every problem so far."""
        return PlanError([said for _, said in sorted(self._found, key=lambda each: each[0])])

    def refuse_any(self) -> None:
        """Raises PlanError where there is a problem."""
        if self._found:
            raise self.refused()

    def _origin(self, path: Path) -> Path:
        at = self.places.get(str(path[0]), []) if path else []
        if len(path) > 1 and isinstance(path[1], int) and path[1] < len(at):
            return (path[0], at[path[1]], *path[2:])
        return path

"""Describe an input: its name in messages, its limits, and the error that refuses it."""

from collections.abc import Callable
from dataclasses import dataclass, field

from eyelevel.base.errors import OutsideError, PlanError, refusal_of
from eyelevel.base.from_outside.limits import Limit
from eyelevel.base.from_outside.words import escape_control_characters, excerpt


@dataclass(frozen=True)
class Source:
    """An input to read; `name` is the file's name as the user knows it."""

    name: str
    limit: Limit
    error: Callable[[str], Exception] = field(default=OutsideError)

    def refusal(self, fault: str, place: str = "", remedy: str | None = None) -> Exception:
        """Return the error to raise; `place` is a line number or a key."""
        where = escape_control_characters(self.name, keep="") + (f":{place}" if place else "")
        return self.error(f"{where}: {fault}; {remedy or self.limit.remedy}")

    def too_long(self) -> Exception:
        """Return the error for an input with too many bytes."""
        return self.refusal(f"over {self.limit.bytes_max / 1e6:,.0f} MB, more than any {self.kind}")

    def too_many(self) -> Exception:
        """Return the error for an input with too many values."""
        return self.refusal(f"over {self.limit.values_max:,} values, more than any {self.kind}")

    @property
    def kind(self) -> str:
        """Name of the expected kind of input."""
        return self.limit.name

    def unreadable(self, error: OSError) -> Exception:
        """Return the error for a file that the system refuses to read."""
        why = excerpt(refusal_of(error))
        return self.error(f"reading {escape_control_characters(self.name, keep='')}: {why}")


def plan_error(message: str) -> PlanError:
    """Return a plan's error with one line, for a source's `error`."""
    return PlanError([message])

"""Find the objects of a recording that its page's Early Hints name."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from eyelevel.base.json_types import JsonMapping
from eyelevel.lab.binary import run_tool

NAMED_MAX = 3
"""Objects that a sentence names; more are counted."""


@dataclass(frozen=True)
class EarlyHints:
    """The Early Hints of a recording's page."""

    hinted: tuple[str, ...]
    """The URLs that they name, in the document's order; at least one."""
    left_out: tuple[tuple[str, str], ...]
    """The render-blocking objects that they do not name, each with its reason: the end of a
    sentence that begins with the URL."""

    @property
    def sentence(self) -> str:
        """Return what is named and what is not, in a sentence without its subject."""
        text = f"Early Hints name {_list(self.hinted)}"
        others = [f"{url} {reason}" for url, reason in self.left_out]
        return f"{text}; left out: {_list(others)}" if others else text


def find_early_hints(recording: Path) -> EarlyHints:
    """Return the Early Hints of a recording's page; raises LabError if they would name nothing."""
    return read_early_hints(run_tool(["archive", "early-hints", str(recording)]))


def read_early_hints(found: JsonMapping) -> EarlyHints:
    """Return the Early Hints in the data plane's form (`spec/lab-events.md`)."""
    left_out = tuple((each["url"], each["reason"]) for each in found["left_out"])
    return EarlyHints(tuple(found["hinted"]), left_out)


def _list(parts: Sequence[str]) -> str:
    more = f" and {len(parts) - NAMED_MAX} more" if len(parts) > NAMED_MAX else ""
    return ", ".join(parts[:NAMED_MAX]) + more

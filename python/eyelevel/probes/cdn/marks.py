"""Read the table of evidence for CDNs: `marks.tsv` of this package, and a user's own."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from eyelevel.base.errors import ProbeError
from eyelevel.base.from_outside.files import lines_of
from eyelevel.base.from_outside.limits import CDN_MARKS, WORD_LINE_BYTES_MAX
from eyelevel.base.from_outside.source import Source
from eyelevel.base.from_outside.words import excerpt

SHIPPED = Path(__file__).with_name("marks.tsv")
KINDS = ("cname", "server")


@dataclass(frozen=True)
class Marks:
    """CDNs by suffix of a name and by value of `Server`, in lower case."""

    suffixes: dict[str, str] = field(default_factory=dict)
    servers: dict[str, str] = field(default_factory=dict)

    def of_names(self, names: Iterable[str]) -> str | None:
        """Return the CDN of the last name in a chain of CNAMEs that is in the table.

        Returns None if there is none.

        The last one, since a chain may lead from one CDN to the one that serves; of two matching
        suffixes the longer one counts.
        """
        found = None
        for name in names:
            labels = name.lower().rstrip(".").split(".")
            suffixes = (".".join(labels[first:]) for first in range(len(labels)))
            found = next((self.suffixes[each] for each in suffixes if each in self.suffixes), found)
        return found

    def of_server(self, value: str) -> str | None:
        """Return the CDN whose servers send this `Server` value; None if unknown."""
        lower = value.strip().lower()
        exact = self.servers.get(lower)
        begun = (
            cdn
            for mark, cdn in self.servers.items()
            if mark.endswith("*") and lower.startswith(mark[:-1])
        )
        return exact or next(begun, None)


def read_marks(own: Path | None = None) -> Marks:
    """Read the shipped table and the user's lines, which take precedence.

    Raises `ProbeError` naming a line.
    """
    marks = Marks()
    for path in (SHIPPED, *([own] if own else [])):
        source = Source(str(path), CDN_MARKS, ProbeError)
        for number, line in lines_of(path, source, WORD_LINE_BYTES_MAX):
            if not line.strip() or line.lstrip("\ufeff").startswith("#"):
                continue
            kind, value, cdn = _fields(line, f"{path}, line {number}")
            table = marks.suffixes if kind == "cname" else marks.servers
            table[value] = cdn
    return marks


def _fields(line: str, place: str) -> tuple[str, str, str]:
    """Parse a line to kind, value and CDN; further columns are ignored."""
    kind, value, cdn, *_ = (each.strip() for each in (*line.split("\t"), "", ""))
    value = value.lower().strip(".") if kind == "cname" else value.lower()
    if kind not in KINDS or not value.rstrip("*") or not cdn:
        raise ProbeError(
            f"{place}: `{excerpt(line)}` does not identify a CDN: write cname or server, its "
            "value and the CDN's name, separated by tabs"
        )
    return kind, value, cdn

"""Names of slots, which contain the machine and its number of slots."""

import hashlib
import platform
import re
from dataclasses import dataclass
from pathlib import Path

ID_HEX = 10
_MACHINE_ID = Path("/etc/machine-id")
_NAME = re.compile(r"(?P<machine>[0-9a-z-]+)/(?P<number>\d+)of(?P<count>\d+) (?P<host>[^@]*)(@.*)?")


@dataclass(frozen=True)
class SlotName:
    """A worker's name; a slot's name is this plus a suffix unique to its process."""

    machine: str
    """Id of the machine, the same each time it joins."""
    host: str
    """Host name, for messages."""
    number: int
    count: int

    def __str__(self) -> str:
        return f"{self.machine}/{self.number}of{self.count} {self.host}"

    @classmethod
    def of(cls, text: str) -> "SlotName":
        """Parse a slot's name. Raises `ValueError` for a worker of another application."""
        found = _NAME.fullmatch(text)
        if found is None:
            raise ValueError(f"{text} is not a slot of eyelevel worker")
        return cls(found["machine"], found["host"], int(found["number"]), int(found["count"]))


def is_ours(text: str) -> bool:
    """Return whether a worker is one of ours; a scheduler may have others."""
    return _NAME.fullmatch(text) is not None


def machine_id(host: str | None = None) -> str:
    """Return this machine's id, derived from /etc/machine-id and the host name."""
    given = _MACHINE_ID.read_text().strip() if _MACHINE_ID.exists() else ""
    text = f"{given} {host or platform.node()}"
    return hashlib.sha256(text.encode()).hexdigest()[:ID_HEX]

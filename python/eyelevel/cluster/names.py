"""Names of slots: each tells its machine, and how many the machine has."""

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
    """A worker's name; behind it a slot's has what is unique to the process."""

    machine: str
    """Its ID: the same whenever it comes again."""
    host: str
    """What people call it."""
    number: int
    count: int

    def __str__(self) -> str:
        return f"{self.machine}/{self.number}of{self.count} {self.host}"

    @classmethod
    def of(cls, text: str) -> "SlotName":
        """Raises ValueError for what is no slot of ours."""
        found = _NAME.fullmatch(text)
        if found is None:
            raise ValueError(f"{text} is not a slot of eyelevel worker")
        return cls(found["machine"], found["host"], int(found["number"]), int(found["count"]))


def is_ours(text: str) -> bool:
    """Return whether a worker is one of ours: a scheduler may have others."""
    return _NAME.fullmatch(text) is not None


def machine_id(host: str | None = None) -> str:
    """This machine's: of what its system was given when it was installed, and its name."""
    given = _MACHINE_ID.read_text().strip() if _MACHINE_ID.exists() else ""
    text = f"{given} {host or platform.node()}"
    return hashlib.sha256(text.encode()).hexdigest()[:ID_HEX]

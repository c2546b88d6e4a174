"""Logs of connections and packets that a trial asks for: from the lab's files into the result."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from eyelevel.json_types import JsonMapping
from eyelevel.store.directory import LOGS


@dataclass
class CollectedLogs:
    """The lab's `connection_logs`, and what its files held at the end, by their names in the
    trial's folder."""

    config: JsonMapping | None = None
    files: dict[str, bytes] = field(default_factory=dict)


@contextmanager
def connection_logs(kinds: Sequence[str]) -> Iterator[CollectedLogs]:
    """A folder for the lab's files, read when the block ends; none if no kind is asked for."""
    if not kinds:
        yield CollectedLogs()
        return
    with TemporaryDirectory(prefix="eyelevel-logs-") as folder:
        logs = CollectedLogs({"folder": folder, "kinds": list(kinds)})
        yield logs
        for file in sorted(Path(folder).iterdir()):
            if content := file.read_bytes():  # no qlog over TCP, no TCP_INFO over QUIC
                logs.files[f"{LOGS}/{file.name}"] = content

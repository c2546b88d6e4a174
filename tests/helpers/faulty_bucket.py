"""A bucket of obstore's in memory, whose faults come by a script."""

from collections.abc import Callable, Iterator

from obstore.store import MemoryStore

from eyelevel.run.bucket.objects import BucketError, ExistsError, ObstoreObjects

Fault = Callable[[str], str]
"""A fault of a create, by the object's name: none (""), or a word of `FaultyBucket.create`."""


class FaultyBucket:
    """A faulty `eyelevel.run.bucket.objects.Objects`; `tried` has the names of creates in order."""

    def __init__(self, fault: Fault = lambda name: "") -> None:
        self.fault = fault
        self.real = ObstoreObjects(MemoryStore(), "using memory://")
        self.tried: list[str] = []
        self.read: list[str] = []

    def create(self, name: str, content: bytes) -> None:
        self.tried.append(name)
        match self.fault(name):
            case "conflict, nothing landed":
                raise ExistsError
            case "landed, answer lost":
                self.real.create(name, content)
                raise BucketError("using memory://: connection reset")
            case "network":
                raise BucketError("using memory://: connection refused")
        self.real.create(name, content)

    def replace(self, name: str, content: bytes) -> None:
        self.real.replace(name, content)

    def get(self, name: str, bytes_max: int) -> bytes | None:
        self.read.append(name)
        return self.real.get(name, bytes_max)

    def names(self, folder: str) -> Iterator[str]:
        return self.real.names(folder)


class Clock:
    """A clock that goes on as somebody sleeps."""

    def __init__(self) -> None:
        self.now_s = 0.0
        self.slept: list[float] = []

    def __call__(self) -> float:
        return self.now_s

    def sleep(self, s: float) -> None:
        self.slept.append(s)
        self.now_s += s

"""Slots of a Dask cluster for the loop of a run."""

import pickle
import queue
import time
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

from distributed import Future
from distributed.comm.core import CommClosedError
from distributed.scheduler import KilledWorker

from eyelevel.cluster.admission import Admissions, Submit
from eyelevel.cluster.connection import Connection
from eyelevel.cluster.names import is_ours
from eyelevel.plan.trials import Trial
from eyelevel.run.block.inputs import keep_input
from eyelevel.run.block.load import BlockWork, Missing, load_block
from eyelevel.run.study.dispatch import Block
from eyelevel.run.study.slots import Came, Event, Joined, Lost, OnStart
from eyelevel.store.packed import PackedTrial

POLL_S = 0.5
"""How often is looked which slots are there."""
WAKE_S = 0.2


@dataclass(frozen=True)
class _Called:
    """A call that is made as it is unpickled. A scheduler reads the tasks that pass through it, and
    has nothing of ours: to it this is bytes for a function of Python's."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...]

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return self.function, self.arguments


class ClusterSlots:
    """A slot a worker process; its name is the worker's and unique to the process."""

    def __init__(
        self,
        connection: Connection,
        work: BlockWork,
        on_start: OnStart,
        admissions: Callable[[Submit], Admissions],
    ) -> None:
        self._connection, self._work, self._on_start = connection, work, on_start
        self._admissions = admissions(self._asked)
        self._joined: set[str] = set()
        self._addresses: dict[str, str] = {}
        self._blocks: dict[str, tuple[Block, Future[Any]]] = {}
        self._ended: queue.SimpleQueue[tuple[str, Future[Any]]] = queue.SimpleQueue()
        self._polled_s = float("-inf")

    def start(self, slot: str, block: Block) -> None:
        """As `Slots.start`: the block goes to that slot and to no other."""
        for trial in block.trials:
            self._on_start(trial)
        self._begin(slot, block)

    def _begin(self, slot: str, block: Block) -> None:
        future = self._submitted(slot, load_block, self._work, block.trials)
        self._blocks[slot] = block, future
        future.add_done_callback(lambda _: self._ended.put((slot, future)))

    def _asked(self, slot: str, question: Callable[[], Any]) -> "Future[Any]":
        future = self._submitted(slot, question)
        future.add_done_callback(lambda _: self._ended.put((slot, future)))
        return future

    def _submitted(self, slot: str, function: Callable[..., Any], *arguments: Any) -> "Future[Any]":
        future: Future[Any] = self._connection.client.submit(
            pickle.loads,
            pickle.dumps(_Called(function, arguments)),
            key=f"{function.__name__}-{uuid4()}",
            workers=[self._addresses[slot]],
            allow_other_workers=False,
            pure=False,
            retries=0,
        )
        return future

    def wait(self) -> Sequence[Event]:
        """As `Slots.wait`: slots come and go, too."""
        events: list[Event] = []
        if time.monotonic() >= self._polled_s + POLL_S:
            events += self._polled()
            self._polled_s = time.monotonic()
        try:
            slot, future = self._ended.get(timeout=0.0 if events else WAKE_S)
        except queue.Empty:
            return events
        return [*events, *self._over(slot, future)]

    def restart(self, slot: str) -> None:
        """Its process is ended and another begun; the loss is told by `wait`."""
        self._connection.client.restart_workers([self._addresses[slot]], raise_for_error=False)

    def _polled(self) -> list[Event]:
        was_up, there = self._connection.is_up, self._workers()
        lost = [slot for slot in self._addresses if slot not in there]
        came = [slot for slot in there if slot not in self._addresses]
        self._addresses = there
        events: list[Event] = []
        for slot in lost:
            # What a scheduler took with it is no fault of what it had.
            events += self._went(slot, is_blamed=was_up and self._connection.is_up)
        for slot in came:
            events += self._admissions.came(slot)
        return self._noted(events)

    def _went(self, slot: str, *, is_blamed: bool) -> list[Event]:
        self._blocks.pop(slot, None)
        self._admissions.went(slot)
        if slot not in self._joined:
            return []
        self._joined.discard(slot)
        return [Lost(slot, is_blamed)]

    def _noted(self, events: list[Event]) -> list[Event]:
        self._joined |= {event.slot for event in events if isinstance(event, Joined)}
        return events

    def _workers(self) -> dict[str, str]:
        """The addresses of those that are there, by slot; none without a scheduler."""
        if not self._connection.is_up and not self._connection.dial():
            return {}
        try:
            self._connection.beat()
            workers = self._connection.client.scheduler_info(n_workers=-1)["workers"]
        except (OSError, CommClosedError, TimeoutError):  # it went at this moment
            return {}
        slots = {f"{each['name']}@{each['id']}": address for address, each in workers.items()}
        return {slot: address for slot, address in slots.items() if is_ours(slot)}

    def _over(self, slot: str, future: "Future[Any]") -> list[Event]:
        block, expected = self._blocks.get(slot, (None, None))
        if slot not in self._addresses:
            return []  # it was lost meanwhile
        if block is None or expected is not future:
            return self._noted(self._admissions.over(slot, future))
        del self._blocks[slot]
        try:
            found: list[PackedTrial] | Missing = future.result()
            if isinstance(found, Missing):
                for needed in found.inputs:
                    content = Path(needed.path).read_bytes()
                    self._submitted(slot, keep_input, needed, content).result()
                self._begin(slot, block)
                return []
        except (KilledWorker, CancelledError):
            del self._addresses[slot]
            return self._went(slot, is_blamed=self._connection.is_up)
        finally:
            future.release()
        by_name = {trial.hash: trial for trial in block.trials}
        outcomes: tuple[tuple[Trial, str], ...] = tuple(
            (by_name[each.name], each.outcome) for each in found
        )
        return [Came(slot, outcomes, is_last=True, packed=tuple(found))]

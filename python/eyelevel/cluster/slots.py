"""Slots of a Dask cluster for the loop of a run."""

import queue
import time
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError
from pathlib import Path
from typing import Any
from uuid import uuid4

from distributed import Client, Future
from distributed.scheduler import KilledWorker

from eyelevel.cluster.worker import machine_of
from eyelevel.plan.trials import Trial
from eyelevel.run.study.dispatch import Block
from eyelevel.run.study.inputs import keep_input
from eyelevel.run.study.packed_block import BlockWork, Missing, load_block
from eyelevel.run.study.slots import Came, Event, Joined, Lost, OnStart
from eyelevel.store.packed import PackedTrial

POLL_S = 0.5
"""How often is looked which slots are there."""
WAKE_S = 0.2


class ClusterSlots:
    """A slot a worker process; its name is the worker's and unique to the process."""

    def __init__(self, client: Client, work: BlockWork, on_start: OnStart) -> None:
        self._client, self._work, self._on_start = client, work, on_start
        self._addresses: dict[str, str] = {}
        self._blocks: dict[str, tuple[Block, Future[Any]]] = {}
        self._ended: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._polled_s = float("-inf")

    def start(self, slot: str, block: Block) -> None:
        """As `Slots.start`: the block goes to that slot and to no other."""
        for trial in block.trials:
            self._on_start(trial)
        self._begin(slot, block)

    def _begin(self, slot: str, block: Block) -> None:
        future = self._submitted(slot, load_block, self._work, block.trials)
        self._blocks[slot] = block, future
        future.add_done_callback(lambda _: self._ended.put(slot))

    def _submitted(self, slot: str, function: Callable[..., Any], *arguments: Any) -> "Future[Any]":
        return self._client.submit(
            function,
            *arguments,
            key=f"{function.__name__}-{uuid4()}",
            workers=[self._addresses[slot]],
            allow_other_workers=False,
            pure=False,
            retries=0,
        )

    def wait(self) -> Sequence[Event]:
        """As `Slots.wait`: slots come and go, too."""
        events: list[Event] = []
        if time.monotonic() >= self._polled_s + POLL_S:
            events += self._polled()
            self._polled_s = time.monotonic()
        try:
            slot = self._ended.get(timeout=0.0 if events else WAKE_S)
        except queue.Empty:
            return events
        return [*events, *self._over(slot)]

    def restart(self, slot: str) -> None:
        """Its process is ended and another begun; the loss is told by `wait`."""
        self._client.restart_workers([self._addresses[slot]], raise_for_error=False)

    def _polled(self) -> list[Event]:
        workers = self._client.scheduler_info(n_workers=-1)["workers"]
        there = {f"{each['name']}@{each['id']}": address for address, each in workers.items()}
        lost = [slot for slot in self._addresses if slot not in there]
        joined = [slot for slot in there if slot not in self._addresses]
        self._addresses = there
        for slot in lost:
            self._blocks.pop(slot, None)
        return [*map(Lost, lost), *(Joined(slot, machine_of(slot)) for slot in joined)]

    def _over(self, slot: str) -> list[Event]:
        if slot not in self._blocks:
            return []  # it was lost meanwhile
        block, future = self._blocks.pop(slot)
        try:
            found: list[PackedTrial] | Missing = future.result()
            if isinstance(found, Missing):
                for needed in found.inputs:
                    content = Path(needed.path).read_bytes()
                    self._submitted(slot, keep_input, needed, content).result()
                self._begin(slot, block)
                return []
        except (KilledWorker, CancelledError):
            self._addresses.pop(slot, None)
            return [Lost(slot)]
        finally:
            future.release()
        by_name = {trial.hash: trial for trial in block.trials}
        outcomes: tuple[tuple[Trial, str], ...] = tuple(
            (by_name[each.name], each.outcome) for each in found
        )
        return [Came(slot, outcomes, is_last=True, packed=tuple(found))]

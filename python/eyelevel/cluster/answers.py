"""What slots are asked, and their answers, which are fetched side by side."""

import asyncio
import itertools
import pickle
import queue
import time
from collections.abc import Callable
from concurrent.futures import CancelledError
from concurrent.futures import Future as Coming
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from distributed import Client, Future
from distributed.comm.core import CommClosedError
from tornado.platform.asyncio import BaseAsyncIOLoop

from eyelevel.cluster.connection import Connection
from eyelevel.errors import LabError

AGAIN_S = 0.5
"""How soon an answer that could not be fetched is fetched again."""
UNREACHED_S = 120.0
"""How long that goes on: a slot that is gone is missed after half of it."""


class AnswerLostError(Exception):
    """Nobody has what a slot was asked any more, by no fault of the slot: the way to the scheduler
    broke, or Dask's client connected anew."""


@dataclass(frozen=True)
class _Called:
    """A call that is made as it is unpickled. A scheduler reads the tasks that pass through it, and
    has nothing of ours: to it this is bytes for a function of Python's."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...]

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return self.function, self.arguments


@dataclass(frozen=True)
class Answer:
    """A slot has one, and if `coming` is there, it was fetched; `us`: who had asked."""

    slot: str
    us: str
    future: "Future[Any]"
    coming: "Coming[Any] | None" = None

    def result(self) -> Any:
        """Of one that was fetched. Raises what was raised there, and AnswerLostError."""
        assert self.coming is not None
        try:
            return self.coming.result()
        except CancelledError as error:
            raise AnswerLostError from error
        except OSError as error:
            if self.future.status == "error":
                raise
            raise AnswerLostError from error


class Answers:
    """Of one run. Nothing here waits for a slot: one answer comes over a slow link, another from a
    process that stands still."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._coming: dict[Coming[Any], str] = {}
        # Those that were fetched come first, since they are in memory here.
        self._told: queue.PriorityQueue[tuple[bool, int, Answer]] = queue.PriorityQueue()
        self._number = itertools.count()

    def ask(
        self, slot: str, us: str, address: str, function: Callable[..., Any], *arguments: Any
    ) -> "Future[Any]":
        """Call a function on a slot; `next` tells when it has answered."""
        future: Future[Any] = self._connection.client.submit(
            pickle.loads,
            pickle.dumps(_Called(function, arguments)),
            key=f"{function.__name__}-{uuid4()}",
            workers=[address],
            allow_other_workers=False,
            pure=False,
            retries=0,
        )
        future.add_done_callback(lambda _: self._tell(Answer(slot, us, future)))
        return future

    def fetch(self, answer: Answer, address: str) -> None:
        """What was returned there lies there; `next` tells when it is here, or never will be.

        Raises AnswerLostError if the scheduler was away meanwhile.
        """
        slot, us, future, client = answer.slot, answer.us, answer.future, self._connection.client
        if future.client is not client:
            raise AnswerLostError
        assert isinstance(client.loop, BaseAsyncIOLoop)
        coming = asyncio.run_coroutine_threadsafe(
            _brought(client, future, address), client.loop.asyncio_loop
        )
        self._coming[coming] = slot
        # Not `coming` itself, which would hold its answer until Python looks for circles.
        coming.add_done_callback(lambda done: self._tell(Answer(slot, us, future, done)))

    def next(self, timeout_s: float) -> Answer | None:
        """The next one that there is to fetch, or that was fetched."""
        try:
            _, _, answer = self._told.get(timeout=timeout_s)
        except queue.Empty:
            return None
        if answer.coming:
            self._coming.pop(answer.coming, None)
        return answer

    def give_up(self, slot: str) -> None:
        """What is fetched from a slot that is gone, for which Dask would go on waiting."""
        for coming in [each for each, of in self._coming.items() if of == slot]:
            coming.cancel()
            del self._coming[coming]

    def _tell(self, answer: Answer) -> None:
        self._told.put((answer.coming is None, next(self._number), answer))


async def _brought(client: Client, future: "Future[Any]", address: str) -> Any:
    """The answer from its slot, by a call of its own. Raises what was raised there.

    `Client.gather` puts several into one call, which whoever gives up one of them ends for all, and
    has no more than five calls under way.
    """
    failed_s: float | None = None
    while future.status not in ("error", "cancelled"):
        if client.scheduler is None:
            raise CommClosedError("the scheduler is gone")
        try:
            reply = await client.scheduler.gather(keys=[future.key])
        except OSError:  # one connection of many, if the client has its scheduler still
            if client.status != "running":
                raise
        else:
            if reply["status"] == "OK":
                return reply["data"][future.key]
            # Its slot is going, which is seen soon, or nobody can reach it.
            failed_s = failed_s or time.monotonic()
            if time.monotonic() > failed_s + UNREACHED_S:
                raise LabError(
                    f"the scheduler could not fetch its answer from {address} for "
                    f"{UNREACHED_S / 60:g} minutes; open the ports of that machine to it"
                )
        await asyncio.sleep(AGAIN_S)
    return await client.gather(future, asynchronous=True)  # raises before it calls anybody

"""Call functions on slots, and fetch their results independently of each other."""

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

from eyelevel.base.errors import LabError
from eyelevel.cluster.connection import Connection

RETRY_S = 0.5
"""Seconds between attempts to fetch a result."""
UNREACHED_S = 120.0
"""Seconds for which fetching is retried; a lost slot is detected within half of that."""


class AnswerLostError(Exception):
    """A slot's result was lost without its fault: the scheduler's connection broke."""


@dataclass(frozen=True)
class _Call:
    """A call that is executed when it is unpickled.

    A scheduler unpickles the tasks that it forwards and may not have eyelevel installed. This way
    it only sees bytes and `pickle.loads`.
    """

    function: Callable[..., Any]
    arguments: tuple[Any, ...]

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return self.function, self.arguments


@dataclass(frozen=True)
class Answer:
    """A slot's result, fetched if `coming` is set; `us` is the id of the client that asked."""

    slot: str
    us: str
    future: "Future[Any]"
    coming: "Coming[Any] | None" = None

    def result(self) -> Any:
        """Return the fetched result. Raises the exception of the call, and `AnswerLostError`."""
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
    """The results of one run.

    Nothing here waits for one slot: one result may arrive over a slow link, and another one come
    from a suspended process.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._coming: dict[Coming[Any], str] = {}
        # Fetched results are first in the queue, since they occupy memory.
        self._ready: queue.PriorityQueue[tuple[bool, int, Answer]] = queue.PriorityQueue()
        self._number = itertools.count()

    def ask(
        self, slot: str, us: str, address: str, function: Callable[..., Any], *arguments: Any
    ) -> "Future[Any]":
        """Call a function on a slot; `next` returns its result."""
        future: Future[Any] = self._connection.client.submit(
            pickle.loads,
            pickle.dumps(_Call(function, arguments)),
            key=f"{function.__name__}-{uuid4()}",
            workers=[address],
            allow_other_workers=False,
            pure=False,
            retries=0,
        )
        future.add_done_callback(lambda _: self._put(Answer(slot, us, future)))
        return future

    def fetch(self, answer: Answer, address: str) -> None:
        """Start fetching a result from its slot; `next` returns it or its error.

        Raises `AnswerLostError` if the connection to the scheduler was replaced meanwhile.
        """
        slot, us, future, client = answer.slot, answer.us, answer.future, self._connection.client
        if future.client is not client:
            raise AnswerLostError
        assert isinstance(client.loop, BaseAsyncIOLoop)
        coming = asyncio.run_coroutine_threadsafe(
            _fetch_answer(client, future, address), client.loop.asyncio_loop
        )
        self._coming[coming] = slot
        # Not `coming` itself: the reference cycle would keep the result until a garbage collection.
        coming.add_done_callback(lambda done: self._put(Answer(slot, us, future, done)))

    def next(self, timeout_s: float) -> Answer | None:
        """Return the next result that is fetched or can be fetched; None after the timeout."""
        try:
            _, _, answer = self._ready.get(timeout=timeout_s)
        except queue.Empty:
            return None
        if answer.coming:
            self._coming.pop(answer.coming, None)
        return answer

    def give_up(self, slot: str) -> None:
        """Cancel all fetches from a slot that left; Dask would wait for them."""
        for coming in [each for each, of in self._coming.items() if of == slot]:
            coming.cancel()
            del self._coming[coming]

    def _put(self, answer: Answer) -> None:
        self._ready.put((answer.coming is None, next(self._number), answer))


async def _fetch_answer(client: Client, future: "Future[Any]", address: str) -> Any:
    """Fetch one result from its slot. Raises the exception of the call.

    `Client.gather` fetches several results in one call, so that cancelling one cancels all, and
    makes at most five calls at once.
    """
    failed_s: float | None = None
    while future.status not in ("error", "cancelled"):
        if client.scheduler is None:
            raise CommClosedError("the scheduler is gone")
        try:
            reply = await client.scheduler.gather(keys=[future.key])
        except OSError:  # a connection to a worker, if the scheduler's is open
            if client.status != "running":
                raise
        else:
            if reply["status"] == "OK":
                return reply["data"][future.key]
            # Its slot is leaving, which is detected soon, or it is unreachable.
            failed_s = failed_s or time.monotonic()
            if time.monotonic() > failed_s + UNREACHED_S:
                raise LabError(
                    f"the scheduler could not fetch its answer from {address} for "
                    f"{UNREACHED_S / 60:g} minutes; open the ports of that machine to it"
                )
        await asyncio.sleep(RETRY_S)
    return await client.gather(future, asynchronous=True)  # raises before it calls a worker

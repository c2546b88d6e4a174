"""Slots of a Dask cluster, as the loop of a run uses them.

Call functions on slots, and fetch their results independently of each other. Decide which recording
or trace is sent to which slot, once per machine.
"""

import asyncio
import itertools
import pickle
import queue
import time
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import CancelledError
from concurrent.futures import Future as Coming
from dataclasses import dataclass, replace
from enum import Enum
from threading import Thread
from typing import Any
from uuid import uuid4

from distributed import Client, Future
from distributed.comm.core import CommClosedError
from distributed.scheduler import KilledWorker
from tornado.platform.asyncio import BaseAsyncIOLoop

from eyelevel.base.errors import ExpectedError, InputChangedError, LabError
from eyelevel.cluster.admission import Admissions, Submit
from eyelevel.cluster.connection import Connection
from eyelevel.cluster.names import SlotName, is_ours
from eyelevel.cluster.settings import GIVE_BACK_BLOCKS, give_back
from eyelevel.plan.trials import Trial
from eyelevel.run.block.inputs import Input, content_of, keep_input
from eyelevel.run.block.load import BlockWork, Missing, TooLargeError, check_answer, load_block
from eyelevel.run.study.dispatch import Block
from eyelevel.run.study.slots import Event, OnStart, SlotAdded, SlotLost, TrialsFinished
from eyelevel.store.packed import PackedTrial

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


COMING_MAX = 4
"""Maximum concurrent transfers: each needs several times its size in memory here, and on a
shared link a dozen at once would all be late.
"""


class NextStep(Enum):
    """Next step of a slot that requested an input and is not sent it now."""

    LOOK = "look again"
    WAIT = "wait"


Step = Input | NextStep
"""An input to send to the slot, or what the slot does instead."""


class InputTransfers:
    """The transfers of a run: each input is sent to a machine once.

    The slot that requests it first receives it. The machine's other slots wait meanwhile, as does
    any slot that makes a request while `COMING_MAX` transfers are running, and check again when the
    input has arrived. If it is then missing, the machine's cache was cleared, and the slot is sent
    the input.
    """

    def __init__(self) -> None:
        self._there: set[tuple[str, str]] = set()
        """Pairs of machine and digest of an input that it has."""
        self._looked: set[tuple[str, str]] = set()
        """Pairs of slot and digest for which it checked again or was sent the input."""
        self._coming: dict[str, tuple[str, str]] = {}
        """Machine and digest of each running transfer, by receiving slot."""
        self._waiting: dict[str, Sequence[Input]] = {}
        """Inputs that waiting slots lack, in order of request."""

    def request(self, slot: str, lacking: Sequence[Input]) -> Step:
        """Return the next step of a slot that lacks these inputs."""
        machine = SlotName.of(slot).machine
        for needed in lacking:
            is_there, looked = (machine, needed.digest), (slot, needed.digest)
            if is_there in self._coming.values():
                self._waiting[slot] = lacking
                return NextStep.WAIT
            if is_there not in self._there or looked in self._looked:
                if len(self._coming) == COMING_MAX:
                    self._waiting[slot] = lacking
                    return NextStep.WAIT
                self._coming[slot] = is_there
                self._looked.add(looked)
                return needed
            self._looked.add(looked)
        return NextStep.LOOK

    def on_received(self, slot: str) -> list[tuple[str, Step]]:
        """Note that a slot received its input.

        Returns the next steps of it and of waiting slots.
        """
        self._there.add(self._coming.pop(slot))
        return [(slot, NextStep.LOOK), *self._serve_waiting()]

    def on_slot_left(self, slot: str) -> list[tuple[str, Step]]:
        """Note that a slot left during its transfer; returns the next steps of waiting slots."""
        self._waiting.pop(slot, None)
        return [] if self._coming.pop(slot, None) is None else self._serve_waiting()

    def is_pending(self, slot: str) -> bool:
        """Return whether a transfer to a slot is running."""
        return slot in self._coming

    def _serve_waiting(self) -> list[tuple[str, Step]]:
        """Return the next steps of waiting slots that can continue."""
        waiting, self._waiting = self._waiting, {}
        steps = [(slot, self.request(slot, lacking)) for slot, lacking in waiting.items()]
        return [(slot, step) for slot, step in steps if step is not NextStep.WAIT]


POLL_S = 0.5
"""Seconds between checks of which slots are present."""
WAKE_S = 0.2
BREAK_OFF_S = 5.0


def _one_line(error: Exception) -> str:
    """Return an error as one line."""
    if isinstance(error, ExpectedError):
        return str(error)
    return f"{type(error).__name__}: {(str(error).splitlines() or [''])[0]}"


class ClusterSlots:
    """The slots of a cluster, one per worker process.

    A slot's name consists of the worker's name and the process's address.
    """

    def __init__(
        self,
        connection: Connection,
        work: BlockWork,
        on_start: OnStart,
        admissions: Callable[[Submit], Admissions],
        on_seen: Callable[[Collection[str], Collection[str]], None] = lambda slots, refused: None,
    ) -> None:
        """Prepare the slots.

        `on_seen` is called regularly with the present slots and refused machines.
        """
        self._connection, self._work, self._on_start = connection, work, on_start
        self._on_seen = on_seen
        self._admissions = admissions(self._call)
        self._joined: set[str] = set()
        self._restarting: set[str] = set()
        self._addresses: dict[str, str] = {}
        self._clients: dict[str, str] = {}
        """Id of our client at the time each slot joined; it is renewed when a slot returns,
        since results sent before may be lost.
        """
        self._blocks: dict[str, tuple[Block, Future[Any] | None]] = {}
        """Each slot's block and its last call; the call is None while the slot waits for files."""
        self._transfers = InputTransfers()
        self._answers = Answers(connection)
        self._polled_s = float("-inf")
        self._over_blocks = 0

    def start(self, slot: str, block: Block) -> None:
        """Implement `Slots.start`: the block runs on that slot only."""
        for trial in block.trials:
            self._on_start(trial)
        self._begin(slot, block)

    def _begin(self, slot: str, block: Block) -> None:
        work = replace(self._work, client=self._clients[slot])
        # Send copies: pickling gives an object a dictionary of half a kilobyte, and the
        # plan's own trials stay in memory to the end.
        trials = tuple(replace(trial) for trial in block.trials)
        self._blocks[slot] = block, self._call(slot, load_block, work, trials)

    def _call(self, slot: str, function: Callable[..., Any], *arguments: Any) -> "Future[Any]":
        address = self._addresses[slot]
        return self._answers.ask(slot, self._clients[slot], address, function, *arguments)

    def wait(self) -> Sequence[Event]:
        """Implement `Slots.wait`; slots may join and leave."""
        events: list[Event] = []
        if time.monotonic() >= self._polled_s + POLL_S:
            events += self._poll()
            self._polled_s = time.monotonic()
        answer = self._answers.next(0.0 if events else WAKE_S)
        if answer is None:
            return events
        if self._clients.get(answer.slot) != answer.us:
            answer.future.release()  # the slot was lost meanwhile
            return events
        return [*events, *(self._handle_answer(answer) if answer.coming else self._fetch(answer))]

    def restart(self, slot: str) -> None:
        """Restart a slot's process without waiting for its nanny; `wait` reports the loss."""
        if slot not in self._restarting:
            self._restarting.add(slot)
            Thread(
                target=self._begin_again, args=(slot, self._addresses[slot]), daemon=True
            ).start()

    def _begin_again(self, slot: str, address: str) -> None:
        try:
            self._connection.restart([address])
        finally:
            self._restarting.discard(slot)

    def break_off(self) -> None:
        """Restart all busy slots, which would otherwise continue with blocks of an ended run."""
        busy = [self._addresses[slot] for slot in self._blocks if slot in self._addresses]
        if busy and self._connection.is_up:
            self._connection.restart(busy, BREAK_OFF_S)

    def _poll(self) -> list[Event]:
        was_up, ending = self._connection.is_up, set(self._restarting)
        # A slot that is being restarted does not join while its old process exists: it
        # would leave again, with its new block.
        ending -= self._addresses.keys()
        there = {slot: at for slot, at in self._workers().items() if slot not in ending}
        lost = [slot for slot in self._addresses if slot not in there]
        came = [slot for slot in there if slot not in self._addresses]
        self._addresses = there
        events: list[Event] = []
        for slot in lost:
            # A lost scheduler is not the fault of the slots that it had.
            events += self._remove(slot, is_blamed=was_up and self._connection.is_up)
        for slot in came:
            self._clients[slot] = f"{self._work.client} {uuid4()}"
            events += self._admissions.on_slot_joined(slot)
        self._on_seen(there, self._admissions.refused)
        return self._note_added(events)

    def _is_current(self, future: "Future[Any]") -> bool:
        """Return whether a future belongs to the currently connected scheduler."""
        return self._connection.is_up and future.client is self._connection.client

    def _remove(self, slot: str, *, is_blamed: bool, why: str = "") -> list[Event]:
        lost, future = self._blocks.pop(slot, (None, None))
        if future:
            future.release()  # with other settings a scheduler would wait for the slot
        self._clients.pop(slot)
        self._admissions.on_slot_left(slot)
        self._answers.give_up(slot)
        self._resume_waiting(self._transfers.on_slot_left(slot))
        if slot not in self._joined:
            return []
        self._joined.discard(slot)
        retired = (
            self._admissions.on_slot_lost(slot, lost.number, why) if lost and is_blamed else []
        )
        return [SlotLost(slot, is_blamed, why), *retired]

    def _note_added(self, events: list[Event]) -> list[Event]:
        self._joined |= {event.slot for event in events if isinstance(event, SlotAdded)}
        return events

    def _workers(self) -> dict[str, str]:
        """Return the addresses of the present slots by name; empty without a scheduler."""
        try:
            if not self._connection.is_up and not self._connection.dial():
                return {}
            self._connection.beat()
            workers = self._connection.client.scheduler_info(n_workers=-1)["workers"]
        except (OSError, CommClosedError, TimeoutError):  # it was lost at this moment
            return {}
        slots = {f"{each['name']}@{address}": address for address, each in workers.items()}
        return {slot: address for slot, address in slots.items() if is_ours(slot)}

    def _fetch(self, answer: Answer) -> list[Event]:
        try:
            self._answers.fetch(answer, self._addresses[answer.slot])
        except AnswerLostError:
            return self._drop(answer.slot)
        return []

    def _drop(self, slot: str) -> list[Event]:
        """Restart a slot whose result is lost: its process may still be working on it."""
        self.restart(slot)
        del self._addresses[slot]
        return self._remove(slot, is_blamed=False)

    def _supply(self, slot: str, block: Block, step: Step) -> None:
        """Perform a slot's next step. Raises `InputChangedError` if a file to send has changed."""
        match step:
            case NextStep.LOOK:
                self._begin(slot, block)
            case NextStep.WAIT:
                self._blocks[slot] = block, None
            case needed:
                content = content_of(needed)
                self._blocks[slot] = block, self._call(slot, keep_input, needed, content)

    def _resume_waiting(self, steps: Sequence[tuple[str, Step]]) -> None:
        """Perform the next steps of present slots that waited for files."""
        for slot, step in steps:
            if slot in self._addresses:
                self._supply(slot, self._blocks[slot][0], step)

    def _handle_answer(self, answer: Answer) -> list[Event]:
        slot, future = answer.slot, answer.future
        block, expected = self._blocks.get(slot, (None, None))
        if block is None or expected is not future:
            return self._handle_machine_answer(answer)
        try:
            if self._transfers.is_pending(slot):
                answer.result()  # of `keep_input`, raises the error of `keep_input`
                self._resume_waiting(self._transfers.on_received(slot))
                return []
            found: list[PackedTrial] | Missing = answer.result()
            if isinstance(found, Missing):
                self._supply(slot, block, self._transfers.request(slot, found.inputs))
                return []
            check_answer([trial.hash for trial in block.trials], found)
        except KilledWorker:
            del self._addresses[slot]
            return self._remove(slot, is_blamed=self._is_current(future))
        except AnswerLostError:
            return self._drop(slot)
        except (InputChangedError, TooLargeError):
            del self._blocks[slot]
            raise
        except Exception as error:  # any error of the slot's own code
            self.restart(slot)
            del self._addresses[slot]
            return self._remove(slot, is_blamed=True, why=_one_line(error))
        finally:
            future.release()
        del self._blocks[slot]
        self._over_blocks += 1
        if self._over_blocks % GIVE_BACK_BLOCKS == 0:
            give_back()
        by_name = {trial.hash: trial for trial in block.trials}
        outcomes: tuple[tuple[Trial, str], ...] = tuple(
            (by_name[each.name], each.outcome) for each in found
        )
        came = TrialsFinished(slot, outcomes, is_last=True, packed=tuple(found))
        return [came, *self._admissions.on_loads_finished(slot, found)]

    def _handle_machine_answer(self, answer: Answer) -> list[Event]:
        """Handle a machine's answer to a question.

        A machine that could not answer is asked again when it returns.
        """
        slot = answer.slot
        try:
            answered = answer.result()
        except KilledWorker:
            del self._addresses[slot]
            return self._remove(slot, is_blamed=False)
        except AnswerLostError:
            return self._drop(slot)
        except ExpectedError as error:
            answered = error
        except Exception as error:  # a machine of another version may lack the function
            answered = LabError(
                f"it cannot say what it is ({_one_line(error)}); have the same eyelevel there"
            )
        return self._note_added(self._admissions.on_answer(slot, answer.future, answered))

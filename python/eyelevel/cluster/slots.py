"""Slots of a Dask cluster, as the loop of a run uses them."""

import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from threading import Thread
from typing import Any
from uuid import uuid4

from distributed import Future
from distributed.comm.core import CommClosedError
from distributed.scheduler import KilledWorker

from eyelevel.base.errors import ExpectedError, InputChangedError, LabError
from eyelevel.cluster.admission import Admissions, Submit
from eyelevel.cluster.answers import Answer, AnswerLostError, Answers
from eyelevel.cluster.connection import Connection
from eyelevel.cluster.input_transfers import InputTransfers, NextStep, Step
from eyelevel.cluster.names import is_ours
from eyelevel.cluster.settings import GIVE_BACK_BLOCKS, give_back
from eyelevel.plan.trials import Trial
from eyelevel.run.block.inputs import content_of, keep_input
from eyelevel.run.block.load import BlockWork, Missing, TooLargeError, check_answer, load_block
from eyelevel.run.study.dispatch import Block
from eyelevel.run.study.slots import Event, OnStart, SlotAdded, SlotLost, TrialsFinished
from eyelevel.store.packed import PackedTrial

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
            if self._transfers.is_coming(slot):
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
            said = answer.result()
        except KilledWorker:
            del self._addresses[slot]
            return self._remove(slot, is_blamed=False)
        except AnswerLostError:
            return self._drop(slot)
        except ExpectedError as error:
            said = error
        except Exception as error:  # a machine of another version may lack the function
            said = LabError(
                f"it cannot say what it is ({_one_line(error)}); have the same eyelevel there"
            )
        return self._note_added(self._admissions.on_answer(slot, answer.future, said))

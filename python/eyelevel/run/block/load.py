"""Load a block and return its trials as bytes, for another process to commit."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from eyelevel.base.errors import ExpectedError, StoreError
from eyelevel.base.json_types import JsonObject
from eyelevel.load.quiet_host import WAIT_S_MAX, HostWait
from eyelevel.load.trial import TrialResult, run_trial
from eyelevel.plan.trials import Trial
from eyelevel.run.block.attempts import RETRIES, pack_result, with_retries
from eyelevel.run.block.inputs import Input, resolve
from eyelevel.store.packed import PackedTrial, check_unpacked


class Load(Protocol):
    """A function that loads a trial's page: `run_trial`, or a test's own."""

    def __call__(
        self,
        trial: Trial,
        archive: str,
        *,
        trace_files: Mapping[str, str],
        host_wait: HostWait | None,
    ) -> TrialResult:
        """Load a trial (`eyelevel.load.trial.run_trial`)."""


@dataclass(frozen=True)
class BlockWork:
    """The settings for loading any block of a run; sent to the slots."""

    client: str
    """A unique name of the committing process: files that it has received are not sent again."""
    recordings: Mapping[str, Input]
    """The recordings by `Trial.recording`."""
    traces: Mapping[str, Input] = field(default_factory=dict)
    """The traces by digest."""
    retries: int = RETRIES
    host_wait_s: float = WAIT_S_MAX
    load: Load = run_trial


SLOT_VARIABLE = "EYELEVEL_SLOT"
"""The environment variable with the slot of this process, `MACHINE/NUMBER`."""

_sent: dict[str, set[str]] = {}
"""The names of images that this process has sent, by client."""


BLOCK_BYTES_MAX = 2**30
"""The most bytes of a block's results: slot, scheduler and client hold them in memory at once."""


class TooLargeError(ExpectedError):
    """Raised for a block whose results are too large to send; later ones would be as well."""


@dataclass(frozen=True)
class Missing:
    """Files that a block needs and this machine lacks."""

    inputs: tuple[Input, ...]


def load_block(work: BlockWork, trials: Sequence[Trial]) -> list[PackedTrial] | Missing:
    """Load the trials in their order and return them packed, or the files that are missing.

    Raises TooLargeError as soon as the results exceed BLOCK_BYTES_MAX.
    """
    sites = {trial.recording: work.recordings[trial.recording] for trial in trials}
    digests = [name for trial in trials for name in trial.network_settings.file_digests()]
    archives, no_archives = resolve(sites)
    traces, no_traces = resolve({name: work.traces[name] for name in digests})
    if no_archives or no_traces:
        return Missing((*no_archives, *no_traces))
    if work.client not in _sent:
        _sent.clear()  # a slot has one client at a time
        _sent[work.client] = set()
    known = _sent[work.client]
    done: list[PackedTrial] = []
    size = 0
    for trial in trials:
        result = with_retries(
            _load_block(work, trial, archives[trial.recording], traces), work.retries
        )
        done.append(_pack(result, known.__contains__))
        known |= done[-1].pictures.keys()
        size += sum(map(len, (*done[-1].files.values(), *done[-1].pictures.values())))
        if size > BLOCK_BYTES_MAX:
            raise TooLargeError(
                f"loading block {trial.block}: {len(done)} of its {len(trials)} loads left "
                f"{size / 2**30:.2f} GiB, and a block may leave {BLOCK_BYTES_MAX / 2**30:g}; ask "
                "for fewer of `netlog`, `trace` and `logs`, or run the plan without --cluster"
            )
    return done


def check_answer(hashes: Sequence[str], came: Sequence[PackedTrial]) -> None:
    """Raise StoreError unless exactly these trials came, complete and undamaged."""
    if (names := [each.name for each in came]) != list(hashes):
        raise StoreError(
            f"of a block's trials {', '.join(hashes)} came {', '.join(names)}; load it again "
            "with --resume"
        )
    for each in came:
        check_unpacked(each)


def _pack(result: TrialResult, is_known: Callable[[str], bool]) -> PackedTrial:
    # Imported here: it takes long, and only slots compute metrics in this process.
    from eyelevel.analysis.run_files import list_kept_columns

    result.record["host"] |= _place()
    row = list_kept_columns().row(result.record, lambda: result.frames)
    return replace(pack_result(result, is_known), row=row)


def _place() -> JsonObject:
    """Return the keys of this machine and slot in a record's `host`."""
    machine, _, number = os.environ.get(SLOT_VARIABLE, "").rpartition("/")
    return {"machine": machine, "slot": int(number)} if machine else {}


def _load_block(
    work: BlockWork, trial: Trial, archive: str, traces: Mapping[str, str]
) -> Callable[[], TrialResult]:
    wait = HostWait(limit_s=work.host_wait_s)
    return lambda: work.load(trial, archive, trace_files=traces, host_wait=wait)

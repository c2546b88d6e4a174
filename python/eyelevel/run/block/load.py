"""A block where it is loaded, and its trials as bytes for who commits them."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from eyelevel.errors import ExpectedError, StoreError
from eyelevel.json_types import JsonObject
from eyelevel.plan.trials import Trial
from eyelevel.run.block.attempts import RETRIES, pack_result, with_retries
from eyelevel.run.block.inputs import Input, resolve
from eyelevel.run.trial.quiet_host import WAIT_S_MAX, HostWait
from eyelevel.run.trial.trial import TrialResult, run_trial
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
        """Load a trial (`eyelevel.run.trial.trial.run_trial`)."""


@dataclass(frozen=True)
class BlockWork:
    """The settings for loading any block of a run; sent to the slots."""

    client: str
    """Unique to the one who commits: what was sent to it need not be sent again."""
    recordings: Mapping[str, Input]
    """The recordings by site name."""
    traces: Mapping[str, Input] = field(default_factory=dict)
    """The traces by digest."""
    retries: int = RETRIES
    host_wait_s: float = WAIT_S_MAX
    load: Load = run_trial


SLOT_VARIABLE = "EYELEVEL_SLOT"
"""The environment's: `MACHINE/NUMBER` of the slot that a process is."""

_sent: dict[str, set[str]] = {}
"""The names of pictures that each client has from this process."""


BLOCK_BYTES_MAX = 2**30
"""The most bytes of a block's results: slot, scheduler and client hold them in memory at once."""


class TooLargeError(ExpectedError):
    """A block's results cannot travel; those of the next ones will be as large."""


@dataclass(frozen=True)
class Missing:
    """Files that a block needs and this machine lacks."""

    inputs: tuple[Input, ...]


def load_block(work: BlockWork, trials: Sequence[Trial]) -> list[PackedTrial] | Missing:
    """Return the trials one after another, each packed; nothing is loaded if files are missing.

    Raises TooLargeError as soon as they are more than BLOCK_BYTES_MAX.
    """
    sites = {trial.site: work.recordings[trial.site] for trial in trials}
    digests = [name for trial in trials for name in trial.network_settings.file_digests()]
    archives, no_archives = resolve(sites)
    traces, no_traces = resolve({name: work.traces[name] for name in digests})
    if no_archives or no_traces:
        return Missing((*no_archives, *no_traces))
    if work.client not in _sent:
        _sent.clear()  # one client at a time has this slot
        _sent[work.client] = set()
    known = _sent[work.client]
    done: list[PackedTrial] = []
    size = 0
    for trial in trials:
        result = with_retries(_load_block(work, trial, archives[trial.site], traces), work.retries)
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
    """Raise StoreError unless these trials came, whole and undamaged."""
    if (names := [each.name for each in came]) != list(hashes):
        raise StoreError(
            f"of a block's trials {', '.join(hashes)} came {', '.join(names)}; load it again "
            "with --resume"
        )
    for each in came:
        check_unpacked(each)


def _pack(result: TrialResult, is_known: Callable[[str], bool]) -> PackedTrial:
    # Imported where it is used: metrics take long, and only what has slots computes them here.
    from eyelevel.analysis.run_files import kept_columns

    result.record["host"] |= _place()
    row = kept_columns().row(result.record, lambda: result.frames)
    return replace(pack_result(result, is_known), row=row)


def _place() -> JsonObject:
    """Return this machine and slot in the form of a record's `host`."""
    machine, _, number = os.environ.get(SLOT_VARIABLE, "").rpartition("/")
    return {"machine": machine, "slot": int(number)} if machine else {}


def _load_block(
    work: BlockWork, trial: Trial, archive: str, traces: Mapping[str, str]
) -> Callable[[], TrialResult]:
    wait = HostWait(limit_s=work.host_wait_s)
    return lambda: work.load(trial, archive, trace_files=traces, host_wait=wait)

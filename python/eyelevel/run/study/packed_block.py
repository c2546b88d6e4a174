"""A block where it is loaded, and its trials as bytes for who commits them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from eyelevel.plan.trials import Trial
from eyelevel.run.study.attempts import RETRIES, with_retries
from eyelevel.run.trial.quiet_host import WAIT_S_MAX, HostWait
from eyelevel.run.trial.trial import TrialResult, run_trial
from eyelevel.store.packed import PackedTrial, pack


class Load(Protocol):
    """What loads a trial's page: `run_trial`, or what a test gives in its place."""

    def __call__(
        self,
        trial: Trial,
        archive: str,
        *,
        trace_files: Mapping[str, str],
        host_wait: HostWait | None,
    ) -> TrialResult:
        """As `eyelevel.run.trial.trial.run_trial`."""


@dataclass(frozen=True)
class BlockWork:
    """How any block of a run is loaded; it travels to the slots."""

    client: str
    """Unique to the one who commits: what was sent to it need not be sent again."""
    archives: Mapping[str, str]
    """The sites' files by name."""
    trace_files: Mapping[str, str] = field(default_factory=dict)
    retries: int = RETRIES
    host_wait_s: float = WAIT_S_MAX
    load: Load = run_trial


_sent: dict[str, set[str]] = {}
"""The names of pictures that each client has from this process."""


def load_block(work: BlockWork, trials: Sequence[Trial]) -> list[PackedTrial]:
    """The trials one after another, each packed."""
    if work.client not in _sent:
        _sent.clear()  # one client at a time has this slot
        _sent[work.client] = set()
    known = _sent[work.client]
    packed = []
    for trial in trials:
        result = with_retries(_loaded(work, trial), work.retries)
        packed.append(
            pack(
                result.record,
                result.frames,
                result.step_frames,
                result.logs,
                known.__contains__,
            )
        )
        known |= packed[-1].pictures.keys()
    return packed


def _loaded(work: BlockWork, trial: Trial) -> Callable[[], TrialResult]:
    wait = HostWait(limit_s=work.host_wait_s)
    return lambda: work.load(
        trial, work.archives[trial.site], trace_files=work.trace_files, host_wait=wait
    )

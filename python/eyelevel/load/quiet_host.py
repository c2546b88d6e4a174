"""Wait until the machine has time for a load, whatever its stack.

The conditions before a load are those during it: the bounds are those by which its block would be
`starved`, over the last second. Other labs on processors of their own do not matter.
"""

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from eyelevel.analysis.trials.starvation import disturbance
from eyelevel.load.host import HostSample

WAIT_S_MAX = 30.0
"""The longest wait, longer than most bursts of other programs. A machine that is always busy still
makes its loads, each with its own outcome."""

WINDOW_S = 1.0
FIRST_WINDOW_S = 0.3
"""The window that suffices for the time since the previous load: waiting for a whole second would
delay every load on a quiet machine."""

STEP_S = 0.25
PROBE_S = 0.1
"""The part of each waiting step spent computing: steal and pressure are only counted while the CPU
is in demand."""


class WaitInterruptedError(Exception):
    """The run ends, and a waiting load has not begun."""


@dataclass(frozen=True)
class HostWait:
    """The rules by which loads wait.

    `on_status` is called with a line during a wait and with an empty one after it; if
    `should_cancel` returns true, the load does not begin.
    """

    limit_s: float = WAIT_S_MAX
    on_status: Callable[[str], None] | None = None
    should_cancel: Callable[[], bool] | None = None

    def wait(self) -> float:
        """Return the seconds waited. Raises WaitInterruptedError if `should_cancel` is true."""
        since = _last or HostSample.take(time.monotonic())
        missing_s = FIRST_WINDOW_S - (time.monotonic() - since.at_s)
        if missing_s > 0:
            time.sleep(missing_s)
        return wait_until_quiet(self, since, lambda: HostSample.take(time.monotonic()), _pass_time)


_last: HostSample | None = None
"""The sample at the end of the previous load: the time since then is known without waiting."""


def remember(sample: HostSample) -> None:
    """Note the sample at the end of a load."""
    global _last
    _last = sample


def wait_until_quiet(
    how: HostWait,
    since: HostSample,
    take: Callable[[], HostSample],
    pass_time: Callable[[], None],
) -> float:
    """Wait until the samples of `take` are within the bounds, or up to the limit; return seconds.

    `pass_time` waits for one step. There is no wait if the time from `since` on was within the
    bounds.
    """
    tell = how.on_status or (lambda line: None)
    samples = deque([since, take()])
    began_s = samples[-1].at_s
    while reason := busy(samples[0], samples[-1]):
        left_s = how.limit_s - (samples[-1].at_s - began_s)
        if left_s <= 0:
            break
        tell(f"waiting for the machine, {left_s:.0f} s at most: {reason}")
        if how.should_cancel and how.should_cancel():
            raise WaitInterruptedError
        pass_time()
        samples.append(take())
        while len(samples) > 2 and samples[-1].at_s - samples[1].at_s >= WINDOW_S:
            samples.popleft()
    tell("")
    return samples[-1].at_s - began_s


def busy(before: HostSample, now: HostSample) -> str:
    """Return why a load between the two samples would have been starved; empty if it would not."""
    shares = before.until(now)
    foreign, steal = shares["cpu_foreign_share"], shares["cpu_steal_share"]
    assert isinstance(foreign, float) and isinstance(steal, float)
    return disturbance(foreign, steal)


def _pass_time() -> None:
    ends_s = time.monotonic() + STEP_S
    while time.monotonic() < ends_s - (STEP_S - PROBE_S):
        pass
    time.sleep(max(0.0, ends_s - time.monotonic()))

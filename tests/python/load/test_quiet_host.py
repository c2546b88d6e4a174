"""When a load begins on a busy machine, by given samples."""

from collections.abc import Iterable, Iterator
from copy import deepcopy
from dataclasses import replace
from types import SimpleNamespace

import pytest

from eyelevel.load import trial
from eyelevel.load.host import HostSample
from eyelevel.load.quiet_host import HostWait, WaitInterruptedError, busy, wait_until_quiet
from eyelevel.plan.browser import Browser
from eyelevel.store.frames import Frames

TICKS_A_S = 200  # two processors
START_S = 100.0
NAMES = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")


def samples(steps: Iterable[tuple[float, float]], step_s: float = 0.25) -> Iterator[HostSample]:
    """One at the start and one after each step, which has these shares of steal and foreign time;
    of the rest this process uses half, and all that it uses was waited for."""
    ticks, own_s, at_s = dict.fromkeys(NAMES, 0), 0.0, START_S
    yield HostSample(dict(ticks), 0, at_s, own_cpu_s=own_s, processors=2)
    for steal, foreign in steps:
        at_s += step_s
        left = (1 - steal - foreign) / 2
        ticks["steal"] += round(steal * TICKS_A_S * step_s)
        ticks["idle"] += round(left * TICKS_A_S * step_s)
        own_s += 2 * left * step_s
        pressure_us = round((at_s - START_S) * 1e6)
        yield HostSample(dict(ticks), pressure_us, at_s, own_cpu_s=own_s, processors=2)


def waited_s(steps: Iterable[tuple[float, float]], how: HostWait = HostWait()) -> float:  # noqa: B008
    given = samples(steps)
    passed: list[None] = []
    found = wait_until_quiet(how, next(given), lambda: next(given), lambda: passed.append(None))
    assert found == pytest.approx(0.25 * len(passed))
    return found


QUIET, STOLEN, CROWDED = (0.0, 0.02), (0.1, 0.02), (0.0, 0.9)


def test_a_quiet_machine_is_not_waited_for() -> None:
    assert waited_s([QUIET]) == 0.0


@pytest.mark.parametrize("trouble", [STOLEN, CROWDED])
def test_the_whole_last_second_must_be_quiet(trouble: tuple[float, float]) -> None:
    # Two seconds of trouble, of which the last one's share leaves the window a second later; a
    # share below the bound may remain.
    assert 2.5 <= waited_s([trouble] * 9 + [QUIET] * 8) <= 3.0


def test_what_starves_no_load_is_no_reason_to_wait() -> None:
    assert waited_s([(0.02, 0.09)]) == 0.0
    assert waited_s([(0.04, 0.0)] + [QUIET] * 8) > 0


def test_no_load_waits_for_ever() -> None:
    assert waited_s([CROWDED] * 1000) == 30.0
    assert waited_s([CROWDED] * 1000, HostWait(limit_s=5.0)) == 5.0
    assert waited_s([CROWDED] * 1000, HostWait(limit_s=0.0)) == 0.0


def test_why_and_how_long_is_told_and_then_no_more() -> None:
    lines: list[str] = []
    waited_s([STOLEN, QUIET, QUIET, QUIET, QUIET, QUIET], HostWait(on_status=lines.append))
    assert (
        lines[0]
        == "waiting for the machine, 30 s at most: the hypervisor took 10.0% of the processor time"
    )
    assert lines[-1] == "" and len(set(lines)) > 2


def test_an_interrupted_wait_ends_at_once() -> None:
    with pytest.raises(WaitInterruptedError):
        waited_s([CROWDED] * 9, HostWait(should_cancel=lambda: True))
    assert waited_s([QUIET], HostWait(should_cancel=lambda: True)) == 0.0


def test_a_machine_is_not_busy_with_what_we_do_ourselves() -> None:
    before = HostSample(dict.fromkeys(NAMES, 0), None, 0.0, processors=2)
    ticks = dict.fromkeys(NAMES, 0) | {"user": 200}
    assert busy(before, HostSample(ticks, None, 1.0, own_cpu_s=2.0, processors=2)) == ""
    others = HostSample(ticks, None, 1.0, own_cpu_s=1.0, processors=2)
    assert busy(before, others) == "other programs took 50% of the processor time"


def test_a_load_says_in_its_record_how_long_it_waited(monkeypatch) -> None:
    load = {"outcome": "ok", "outcome_detail": "", "host": {"wall_ms": 4000.0}}
    done = trial.TrialResult(load, Frames.of([]))
    monkeypatch.setattr(trial, "_run_trial", lambda *given: replace(done, record=deepcopy(load)))
    how = SimpleNamespace(wait=lambda: 1.5)
    names = {"hash": "0" * 20, "site": "a", "network": "dsl", "stack": "tcp"}
    asked = SimpleNamespace(browser=Browser(), **names)
    host = trial.run_trial(asked, "site.wacz", host_wait=how).record["host"]
    assert host == {"waited_for_host_ms": 1500.0, "wall_ms": 5500.0}
    assert trial.run_trial(asked, "site.wacz").record["host"]["waited_for_host_ms"] == 0.0

"""When a load begins on a busy machine, by given samples."""

from collections.abc import Iterable, Iterator
from copy import deepcopy
from dataclasses import replace
from types import SimpleNamespace

import pytest

from eyelevel.plan.browser import Browser
from eyelevel.run.trial import trial
from eyelevel.run.trial.host import HostSample
from eyelevel.run.trial.quiet_host import HostWait, WaitInterruptedError, busy, wait_until_quiet
from eyelevel.store.frames import Frames

TICKS_A_S = 200  # two processors
START_S = 100.0
NAMES = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")


def samples(steps: Iterable[tuple[float, float]], step_s: float = 0.25) -> Iterator[HostSample]:
    """One at the start and one after each step, which has these shares of steal and pressure."""
    ticks, pressure_us, at_s = dict.fromkeys(NAMES, 0), 0.0, START_S
    yield HostSample(dict(ticks), 0, at_s)
    for steal, pressure in steps:
        at_s += step_s
        ticks["steal"] += round(steal * TICKS_A_S * step_s)
        ticks["idle"] += round((1 - steal) * TICKS_A_S * step_s)
        pressure_us += pressure * step_s * 1e6
        yield HostSample(dict(ticks), round(pressure_us), at_s)


def waited_s(steps: Iterable[tuple[float, float]], how: HostWait = HostWait()) -> float:  # noqa: B008
    given = samples(steps)
    passed: list[None] = []
    found = wait_until_quiet(how, next(given), lambda: next(given), lambda: passed.append(None))
    assert found == pytest.approx(0.25 * len(passed))
    return found


QUIET, STOLEN, CROWDED = (0.0, 0.1), (0.1, 0.1), (0.0, 0.9)


def test_a_quiet_machine_is_not_waited_for() -> None:
    assert waited_s([QUIET]) == 0.0


@pytest.mark.parametrize("trouble", [STOLEN, CROWDED])
def test_the_whole_last_second_must_be_quiet(trouble: tuple[float, float]) -> None:
    # Two seconds of trouble, of which the last one's share leaves the window a second later; a
    # share below the bound may remain.
    assert 2.5 <= waited_s([trouble] * 9 + [QUIET] * 8) <= 3.0


def test_what_starves_no_load_is_no_reason_to_wait() -> None:
    assert waited_s([(0.02, 0.3)]) == 0.0
    assert waited_s([(0.04, 0.0)] + [QUIET] * 8) > 0


def test_no_load_waits_for_ever() -> None:
    assert waited_s([CROWDED] * 1000) == 30.0
    assert waited_s([CROWDED] * 1000, HostWait(limit_s=5.0)) == 5.0
    assert waited_s([CROWDED] * 1000, HostWait(limit_s=0.0)) == 0.0


def test_why_and_how_long_is_told_and_then_no_more() -> None:
    lines: list[str] = []
    waited_s([STOLEN, QUIET, QUIET, QUIET, QUIET, QUIET], HostWait(told=lines.append))
    assert (
        lines[0]
        == "waiting for the machine, 30 s at most: the hypervisor takes 10% of the CPU time"
    )
    assert lines[-1] == "" and len(set(lines)) > 2


def test_an_interrupted_wait_ends_at_once() -> None:
    with pytest.raises(WaitInterruptedError):
        waited_s([CROWDED] * 9, HostWait(ended=lambda: True))
    assert waited_s([QUIET], HostWait(ended=lambda: True)) == 0.0


def test_labs_beside_one_another_do_not_wait_for_each_other() -> None:
    assert waited_s([CROWDED], HostWait(alone=False)) == 0.0
    assert waited_s([STOLEN] + [QUIET] * 8, HostWait(alone=False)) > 0


def test_a_kernel_that_counts_no_pressure_is_judged_by_its_steal() -> None:
    before, now = (HostSample(dict.fromkeys(NAMES, n), None, n) for n in (0, 8))
    assert "hypervisor" in busy(before, now)
    ticks = dict.fromkeys(NAMES, 0) | {"idle": 100}
    assert busy(before, HostSample(ticks, None, 1.0)) == ""


def test_a_load_says_in_its_record_how_long_it_waited(monkeypatch) -> None:
    load = {"outcome": "ok", "host": {"wall_ms": 4000.0}}
    done = trial.TrialResult(load, Frames.of([]))
    monkeypatch.setattr(trial, "_run_trial", lambda *given: replace(done, record=deepcopy(load)))
    how = SimpleNamespace(wait=lambda: 1.5)
    asked = SimpleNamespace(browser=Browser())
    host = trial.run_trial(asked, "site.wacz", host_wait=how).record["host"]
    assert host == {"waited_for_host_ms": 1500.0, "wall_ms": 5500.0}
    assert trial.run_trial(asked, "site.wacz").record["host"]["waited_for_host_ms"] == 0.0

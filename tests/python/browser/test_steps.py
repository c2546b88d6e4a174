"""Steps after a load in virtual time: when each is over."""

from collections.abc import Callable

import pytest

from eyelevel.browser import steps as after_load_module
from eyelevel.browser import waiting as waiting_module
from eyelevel.browser.observations import LoadSettings, StepLoad
from eyelevel.browser.steps import Act, AfterLoad, Unanswered
from eyelevel.browser.waiting import QuietRule
from eyelevel.plan.browser import Browser as BrowserSettings
from eyelevel.plan.steps import Step

QUIET_S, CAP_S = 0.6, 5.0


class Browser:
    """Answers a step's input at `answered_s` with `reason`; nothing else happens in it."""

    documents = 0
    unanswered = 0

    def __init__(self, answered_s: float, reason: str = "") -> None:
        self._answered_s, self._reason = answered_s, reason
        self._rule: QuietRule | None = None
        self._fail: Callable[[str], None] | None = None
        self.now_s = 0.0

    def monotonic(self) -> float:
        return self.now_s

    def pump(self, until_s: float) -> bool:
        if not self.unanswered or self._answered_s > until_s:
            self.now_s = max(self.now_s, until_s)
            return False
        self.now_s, self.unanswered = self._answered_s, 0
        if self._reason and self._fail:
            self._fail(self._reason)
        if self._rule:
            self._rule.handle_activity(self.now_s)
        return True

    def prepare(self, step: Step) -> Act:
        def act(fail: Callable[[str], None]) -> None:
            self._fail, self.unanswered = fail, 1

        return act

    def begin_step(self, rule: QuietRule) -> None:
        self._rule = rule

    def read_opened_s(self) -> tuple[float | None, float | None]:
        return None, None

    def final_picture_matches(self, deadline: float) -> bool | None:
        return True


def step_of(monkeypatch: pytest.MonkeyPatch, browser: Browser) -> StepLoad:
    for module in (after_load_module, waiting_module):
        monkeypatch.setattr(module, "time", browser)
    settings = LoadSettings(
        "https://a.test/",
        browser=BrowserSettings(after_load=("scroll end",)),
        quiet_s=QUIET_S,
        cap_s=CAP_S,
    )
    after = AfterLoad(browser, settings, browser.pump, lambda: False, 0.0)
    after.run()
    (step,) = after.done
    return step


def test_a_step_is_over_a_quiet_time_after_its_input_was_handled(monkeypatch):
    step = step_of(monkeypatch, Browser(answered_s=2.0))
    assert step.ended_ms == pytest.approx((2.0 + QUIET_S) * 1e3)
    assert not step.capped and not step.failed and step.final_picture_matches


def test_an_input_that_is_never_handled_is_held_by_the_cap(monkeypatch):
    step = step_of(monkeypatch, Browser(answered_s=100.0))
    assert step.capped and step.ended_ms == pytest.approx(CAP_S * 1e3)


def test_a_refusal_ends_a_step_at_once(monkeypatch):
    step = step_of(monkeypatch, Browser(answered_s=2.0, reason="no"))
    assert step.failed == "`scroll end`: no" and step.ended_ms == pytest.approx(2000)


class Rule:
    """What a step's rule hears."""

    def __init__(self):
        self.heard = 0

    def handle_activity(self, now_s):
        self.heard += 1


def test_an_answer_is_activity_of_its_own_step_alone():
    inputs, failed, first, second = Unanswered(), [], Rule(), Rule()
    inputs.begin_step(first)
    early, late = (
        inputs.count_input(failed.append, lambda reply: reply.get("wrong")) for _ in range(2)
    )
    early({})
    assert (inputs.count, first.heard, failed) == (1, 1, [])
    inputs.begin_step(second)
    answered = inputs.count_input(failed.append, lambda reply: reply.get("wrong"))
    late({"wrong": "of the step before"})
    assert (inputs.count, first.heard, second.heard, failed) == (1, 1, 0, [])
    answered({"wrong": "no such element"})
    assert (inputs.count, second.heard, failed) == (0, 1, ["no such element"])

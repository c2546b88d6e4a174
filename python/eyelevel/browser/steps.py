"""Perform the user's steps after the load, each with its own time zero and end.

Input is the browser's own (`PageInput`), so that the page's handlers, lazy images and links react
as they do to a user. A step's time zero is the moment before its input is sent. It ends as a load
does: when the browser has handled the input and nothing was requested or painted for the quiet
second since, or at the cap. A click that opens another page waits for that page's load event. An
element is scrolled into view before it is clicked, and gets the focus before text is typed:
requests and paints of that are over by time zero and in none of the step's numbers. Interactions
are read as long as the page that was loaded is there: a click that opens another page leaves none.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Protocol

from eyelevel.base.errors import CommandError, PageAnswerError
from eyelevel.base.json_types import JsonObject
from eyelevel.browser.observations import Interaction, LoadSettings, RawLoad, StepLoad
from eyelevel.browser.waiting import Pump, QuietRule, rule_from_now, wait_for_end
from eyelevel.plan.steps import INTERACTIONS, Step

FIND_TIMEOUT_S = 5.0
"""Time limit for finding an element to click and scrolling it into view."""

VIEW_QUIET_S = 0.3
"""Seconds without paint or request after an element was scrolled into view."""

CHECK_TIMEOUT_S = 15.0
"""Time limit for the capture that a step's last frame is compared with."""

PAGE_END_PX = 10_000_000
"""Scroll distance above the length of any page."""

NO_ELEMENT = "no element of the page matches the selector"
NOT_SHOWN = "the element is not shown"

Reply = JsonObject

Act = Callable[[Callable[[str], None]], None]
"""Sends a step's input without waiting, except between keys; calls its argument with an error text
if it failed.
"""


class PageInput(Protocol):
    """User input to a page after its load; implemented for each browser."""

    def prepare(self, step: Step) -> Act:
        """Return a function that performs the step, after looking up everything that it needs.

        Raises `CommandError` if the step is impossible.
        """

    def begin_step(self, rule: QuietRule) -> None:
        """Report all events to `rule` from now on, including handled input."""

    @property
    def unanswered(self) -> int:
        """Number of inputs sent that the browser has not handled yet."""

    @property
    def documents(self) -> int:
        """Number of documents that the main frame has shown."""

    def read_opened_s(self) -> tuple[float | None, float | None]:
        """Return load event and First Contentful Paint of the opened page, CLOCK_MONOTONIC seconds.

        Both are None if no page was opened. Raises `PageAnswerError`.
        """

    def read_interactions(self) -> tuple[tuple[Interaction, ...], int]:
        """Return the step's interactions by Event Timing, and their number with those too short for
        it; none where the browser does not report them.

        Raises `PageAnswerError`.
        """

    def final_picture_matches(self, deadline: float) -> bool | None:
        """Return whether a new capture equals the last frame; None if none can be taken."""


class Unanswered:
    """Counts inputs that the browser has not handled yet; each reply counts as activity."""

    def __init__(self) -> None:
        self._rule: QuietRule | None = None
        self.count = 0

    def begin_step(self, rule: QuietRule) -> None:
        """Reset the count: unanswered inputs belong to an earlier step, which its cap ended."""
        self._rule, self.count = rule, 0

    def count_input(
        self, fail: Callable[[str], None], problem_of: Callable[[Reply], str | None]
    ) -> Callable[[Reply], None]:
        """Count one more input.

        Returns a handler for its reply, in which `problem_of` finds errors.
        """
        rule = self._rule
        self.count += 1

        def on_answer(reply: Reply) -> None:
            if rule is None or rule is not self._rule:
                return
            self.count -= 1
            rule.handle_activity(time.monotonic())
            if (problem := problem_of(reply)) is not None:
                fail(problem)

        return on_answer


class AfterLoad:
    """Performs the steps of a load in any browser."""

    def __init__(
        self,
        page_input: PageInput,
        settings: LoadSettings,
        pump: Pump,
        waits: Callable[[], bool],
        navigation_start_s: float,
    ) -> None:
        self._input = page_input
        self._settings = settings
        self._pump = pump
        self._waits = waits
        self._navigation_start_s = navigation_start_s
        self._failed = ""
        self._documents = page_input.documents
        self.done: list[StepLoad] = []
        """Steps performed so far; `split_by_steps` adds their objects and frames."""

    def run(self) -> None:
        """Perform the steps in order, up to the first that fails.

        Raises `BrowserGoneError` and `DeadlineError`.
        """
        for step in self._settings.browser.steps:
            self.done.append(self._run(step))
            if self.done[-1].failed:
                break

    def _run(self, step: Step) -> StepLoad:
        self._failed = ""
        settings, begun_s = self._settings, time.monotonic()
        rule = QuietRule(begun_s, settings.browser.limit_s, VIEW_QUIET_S, settings.cap_s)
        rule.handle_load_event(begun_s)
        self._input.begin_step(rule)
        try:
            act = self._input.prepare(step)
        except CommandError as error:
            now_ms = self._ms(time.monotonic())
            failed = f"`{step.text}`: {error}"
            return StepLoad(step.text, now_ms, now_ms, now_ms, failed=failed)
        if step.verb in ("click", "type"):
            wait_for_end(rule, self._pump, self._waits, lambda: "")
        before = self._input.documents
        rule = rule_from_now(self._settings)
        started_s = time.monotonic()
        rule.handle_load_event(started_s)
        self._input.begin_step(rule)

        def note(reason: str) -> None:
            self._failed = f"`{step.text}`: {reason}"

        act(note)
        verdict = wait_for_end(rule, self._pump, self._is_busy, lambda: self._failed)
        ended_s = time.monotonic()
        if verdict == "timeout":
            note(f"the next page had no load event within {self._settings.browser.limit_s:g} s")
        matches: bool | None = None
        load_event_s: float | None = None
        paint_s: float | None = None
        interactions: tuple[Interaction, ...] = ()
        count = 0
        if not self._failed:
            deadline = time.monotonic() + CHECK_TIMEOUT_S
            if verdict != "capped":
                matches = self._input.final_picture_matches(deadline)
            try:
                load_event_s, paint_s = self._input.read_opened_s()
                if step.verb in INTERACTIONS and self._input.documents == self._documents:
                    interactions, count = self._input.read_interactions()
            except PageAnswerError as error:
                note(str(error))
        return StepLoad(
            step=step.text,
            started_ms=self._ms(started_s),
            ended_ms=self._ms(ended_s),
            begun_ms=self._ms(begun_s),
            documents=self._input.documents - before,
            load_event_ms=None if load_event_s is None else self._ms(load_event_s),
            first_contentful_paint_ms=None if paint_s is None else self._ms(paint_s),
            capped=verdict == "capped",
            final_picture_matches=matches,
            failed=self._failed or None,
            interactions=interactions,
            interaction_count=count,
        )

    def _is_busy(self) -> bool:
        # On a busy machine the input alone may take longer than the quiet second.
        return self._waits() or self._input.unanswered > 0

    def _ms(self, at_s: float) -> float:
        return round((at_s - self._navigation_start_s) * 1e3, 3)


def split_by_steps(raw: RawLoad, steps: Sequence[StepLoad]) -> RawLoad:
    """Return the load without its steps' objects and frames, and each step with its own.

    A step's first frame is the state at its beginning. Requests during its preparation are among
    its objects, with times before its own.
    """
    if not steps:
        return raw
    begun_ms = [step.begun_ms for step in steps]
    done = []
    for step, end_ms in zip(steps, [*begun_ms[1:], math.inf], strict=True):
        start_ms = step.started_ms
        first = [frame for frame in raw.frames if frame.at_ms <= start_ms][-1:]
        frames = [frame for frame in raw.frames if start_ms < frame.at_ms <= end_ms]
        objects = [item for item in raw.objects if step.begun_ms <= item.started_ms < end_ms]
        done.append(replace(step, objects=tuple(objects), frames=(*first, *frames)))
    return replace(
        raw,
        objects=tuple(item for item in raw.objects if item.started_ms < begun_ms[0]),
        frames=tuple(frame for frame in raw.frames if frame.at_ms <= begun_ms[0]),
        after_load=tuple(done),
    )

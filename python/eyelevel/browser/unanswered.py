"""A step's inputs that the browser has not handled yet."""

import time
from collections.abc import Callable
from typing import Any

from eyelevel.browser.quiet import QuietRule

Reply = dict[str, Any]


class Unanswered:
    """Counts a step's inputs from their sending to their answer, which is activity of the page."""

    def __init__(self) -> None:
        self._rule: QuietRule | None = None
        self.count = 0

    def begin_step(self, rule: QuietRule) -> None:
        """What is still unanswered is of an earlier step, which its cap has ended."""
        self._rule, self.count = rule, 0

    def sent(
        self, fail: Callable[[str], None], problem_of: Callable[[Reply], str | None]
    ) -> Callable[[Reply], None]:
        """One more is sent now; what takes its answer, of which `problem_of` says what failed."""
        rule = self._rule
        self.count += 1

        def answered(reply: Reply) -> None:
            if rule is None or rule is not self._rule:
                return
            self.count -= 1
            rule.handle_activity(time.monotonic())
            if (problem := problem_of(reply)) is not None:
                fail(problem)

        return answered

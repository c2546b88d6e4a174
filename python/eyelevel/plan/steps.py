"""Steps after a load, as written in plans and options: `scroll end`, `click a.next`."""

from dataclasses import dataclass
from typing import Literal

from eyelevel.base.errors import unknown
from eyelevel.base.from_outside.words import excerpt

Verb = Literal["scroll", "click", "script"]

STEPS_MAX = 20
"""Maximum number of steps: a page load with a few actions; longer ones are another kind of test."""

STEP_CHARACTERS_MAX = 2000
"""Maximum length of a step, which is part of every record."""

_MEANT = {
    "scroll": "`scroll end` or `scroll 800` (CSS pixels)",
    "click": "`click SELECTOR`, a CSS selector",
    "script": "`script JAVASCRIPT`",
}


@dataclass(frozen=True)
class Step:
    """One action of a user after the page has loaded."""

    text: str
    verb: Verb
    argument: str

    @property
    def scroll_px(self) -> int | None:
        """Distance of a `scroll`, CSS pixels; None for the end of the page."""
        return None if self.argument == "end" else int(self.argument)


def parse_step(text: str) -> Step:
    """Parse a step; raises `ValueError` if it is invalid."""
    word, _, rest = text.strip().partition(" ")
    argument = rest.strip()
    if word not in _MEANT:
        raise ValueError(unknown("step", word, _MEANT))
    number = argument.removeprefix("-")
    scrolls = argument == "end" or (number.isdecimal() and len(number) <= 6)
    if not argument or (word == "scroll" and not scrolls):
        raise ValueError(f"`{excerpt(text)}` is not a step; write {_MEANT[word]}")
    if len(text) > STEP_CHARACTERS_MAX:
        raise ValueError(
            f"a step of {len(text)} characters; use at most {STEP_CHARACTERS_MAX}, since every "
            "record contains it"
        )
    return Step(text.strip(), word, argument)  # type: ignore[arg-type]

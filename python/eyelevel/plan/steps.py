"""Steps after a load, as plans and options write them: `scroll end`, `click a.next`."""

from dataclasses import dataclass
from typing import Literal

from eyelevel.errors import unknown
from eyelevel.from_outside.words import excerpt

Verb = Literal["scroll", "click", "script"]

STEPS_MAX = 20
"""A page load with a few actions after it; what is longer is another kind of test."""

STEP_CHARACTERS_MAX = 2000
"""A step stands in every record."""

_MEANT = {
    "scroll": "`scroll end` or `scroll 800` (CSS pixels)",
    "click": "`click SELECTOR`, a CSS selector",
    "script": "`script JAVASCRIPT`",
}


@dataclass(frozen=True)
class Step:
    """One thing that a user does when the page has loaded."""

    text: str
    verb: Verb
    argument: str

    @property
    def scroll_px(self) -> int | None:
        """How far a `scroll` goes; None: to the page's end."""
        return None if self.argument == "end" else int(self.argument)


def parse_step(text: str) -> Step:
    """Return the step that `text` says; ValueError where it says none."""
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

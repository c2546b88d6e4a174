"""Steps after a load, as plans and options have them: `scroll end`, `click a.next`, `key Enter`."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from eyelevel.base.errors import unknown
from eyelevel.base.from_outside.words import excerpt

Verb = Literal["scroll", "click", "key", "type", "script"]

INTERACTIONS = ("click", "key", "type")
"""The steps that are interactions by Event Timing, which Interaction to Next Paint is made from."""

INTERACTION_METRIC = "interaction_to_next_paint_ms"
"""The metric that only loads with interactions have."""

STEPS_MAX = 20
"""Maximum number of steps: a page load with a few actions; longer ones are another kind of test."""

STEP_CHARACTERS_MAX = 2000
"""Maximum length of a step, which is part of every record."""

TYPED_CHARACTERS_MAX = 50
"""Maximum number of characters that one step types: 5 s at ten keys a second, the half of what a
step may take."""

_MEANT = {
    "scroll": "`scroll end` or `scroll 800` (CSS pixels)",
    "click": "`click SELECTOR`, a CSS selector",
    "key": "`key Enter`, or one character",
    "type": f"`type SELECTOR=TEXT`, with a text of 1 to {TYPED_CHARACTERS_MAX} characters",
    "script": "`script JAVASCRIPT`",
}


@dataclass(frozen=True)
class Key:
    """A key of the keyboard, by the names and the number that a page is given."""

    name: str
    code: str
    number: int
    text: str = ""
    """The text that it enters; "" for none."""


_NAMED = (
    Key("Enter", "Enter", 13, "\r"),
    Key("Tab", "Tab", 9),
    Key("Escape", "Escape", 27),
    Key("Backspace", "Backspace", 8),
    Key("Delete", "Delete", 46),
    Key("Home", "Home", 36),
    Key("End", "End", 35),
    Key("PageUp", "PageUp", 33),
    Key("PageDown", "PageDown", 34),
    Key("ArrowLeft", "ArrowLeft", 37),
    Key("ArrowUp", "ArrowUp", 38),
    Key("ArrowRight", "ArrowRight", 39),
    Key("ArrowDown", "ArrowDown", 40),
)
KEYS_BY_NAME = {key.name: key for key in _NAMED} | {"Space": Key(" ", "Space", 32, " ")}
"""The keys that enter no character of their own, and the space bar, as UI Events names them."""


def key_of(name: str) -> Key:
    """Return a key by its name, or the key of one character."""
    if name in KEYS_BY_NAME:
        return KEYS_BY_NAME[name]
    if name == " ":
        return KEYS_BY_NAME["Space"]
    upper = name.upper()
    if upper.isascii() and upper.isalpha():
        return Key(name, f"Key{upper}", ord(upper), name)
    if name.isascii() and name.isdecimal():
        return Key(name, f"Digit{name}", ord(name), name)
    return Key(name, "", 0, name)


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

    @property
    def selector(self) -> str:
        """CSS selector of a `click` or `type`."""
        return self.argument if self.verb == "click" else split_typed(self.argument)[0]

    @property
    def keys(self) -> tuple[Key, ...]:
        """Keys that a `key` or `type` presses, in order."""
        if self.verb == "key":
            return (key_of(self.argument),)
        return tuple(key_of(sign) for sign in split_typed(self.argument)[1])


def split_typed(argument: str) -> tuple[str, str]:
    """Return selector and text of a `type`: the first `=` outside brackets parts them."""
    depth = 0
    for place, sign in enumerate(argument):
        depth += (sign == "[") - (sign == "]")
        if sign == "=" and depth == 0:
            return argument[:place].rstrip(), argument[place + 1 :]
    return argument, ""


def has_interaction(steps: Sequence[Step]) -> bool:
    """Return whether one of the steps is an interaction."""
    return any(step.verb in INTERACTIONS for step in steps)


def parse_step(text: str) -> Step:
    """Parse a step; raises `ValueError` if it is invalid."""
    word, _, rest = text.strip().partition(" ")
    argument = rest.strip()
    if word not in _MEANT:
        raise ValueError(unknown("step", word, _MEANT))
    number = argument.removeprefix("-")
    scrolls = argument == "end" or (number.isdecimal() and len(number) <= 6)
    selector, typed = split_typed(argument)
    types = bool(selector) and typed.isprintable() and 0 < len(typed) <= TYPED_CHARACTERS_MAX
    if word == "key" and len(argument) > 1 and argument not in KEYS_BY_NAME:
        raise ValueError(unknown("key", argument, KEYS_BY_NAME))
    is_possible = {"scroll": scrolls, "type": types, "key": argument.isprintable()}
    if not argument or not is_possible.get(word, True):
        raise ValueError(f"`{excerpt(text)}` is not a step; write {_MEANT[word]}")
    if len(text) > STEP_CHARACTERS_MAX:
        raise ValueError(
            f"a step of {len(text)} characters; use at most {STEP_CHARACTERS_MAX}, since every "
            "record contains it"
        )
    return Step(text.strip(), word, argument)  # type: ignore[arg-type]

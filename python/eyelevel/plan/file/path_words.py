"""The words of `eyelevel path` in a plan's table of a network, put together as a command's are."""

from collections.abc import Callable, Mapping

from eyelevel.json_types import JsonObject
from eyelevel.networks.compose import NetworkWords, WordError, put_together
from eyelevel.networks.network import Network
from eyelevel.networks.stages import StagesRead
from eyelevel.plan.file.diagnostics import KeyedError

WORDS = ("rtt", "trace_down", "trace_up", "down", "up")
"""Alone they are a network, which then has no other link; their keys are the options' names."""

ON_TOP = ("down", "up")
"""More stages of any network; its traces are then in the place of its links."""


def take_words(changes: JsonObject, *, has_base: bool) -> tuple[dict[str, str], bool]:
    """Return the words among a table's keys that say what the path does, which are taken out of
    them, and whether they are all of it.

    Raises KeyedError for a round trip that two keys give.
    """
    others = [key for key in changes if key not in WORDS]
    others = ["base", *others] if has_base else others
    if others and "rtt" in changes:
        raise KeyedError(
            "rtt",
            f"`rtt` and `{others[0]}`: a network that has links of its own has a round trip, too; "
            "`rtt_ms_min` puts another one in its place, and what comes on top of it is "
            '`down = "delay 20ms"` and `up = "delay 20ms"`',
        )
    words = {key: changes.pop(key) for key in (ON_TOP if others else WORDS) if key in changes}
    return words, bool(words) and not others


def with_words(
    network: Network | None,
    name: str,
    words: Mapping[str, str],
    read: Callable[[str], StagesRead] | None,
    trace_files: dict[str, str],
) -> Network:
    """`network`, or nothing, with what the words put on the path, under this name.

    Files are noted in `trace_files` by their digests. Raises KeyedError, and ValueError where
    there is no `read` for stages.
    """
    if read is None:
        named = " and ".join(f"`{word}`" for word in words)
        raise ValueError(f"{named}: stages cannot be read here")
    try:
        return put_together(name, network, NetworkWords(**words), read, trace_files)
    except WordError as error:
        raise KeyedError(error.word, f"`{error.word}`: {error.problem}") from error

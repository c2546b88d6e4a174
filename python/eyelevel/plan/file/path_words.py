"""The options of `eyelevel path` as keys of a plan's network table, combined as in the command."""

from collections.abc import Callable, Mapping

from eyelevel.base.json_types import JsonObject
from eyelevel.plan.file.diagnostics import KeyedError
from eyelevel.plan.networks.compose import NetworkWords, WordError, put_together
from eyelevel.plan.networks.network import Network
from eyelevel.plan.networks.stages import StagesRead

WORDS = ("rtt", "trace_down", "trace_up", "down", "up")
"""Keys that define a network on their own, named like the options."""

ON_TOP = ("down", "up")
"""Keys that add stages to any network, whose traces then replace its links."""


def take_words(changes: JsonObject, *, has_base: bool) -> tuple[dict[str, str], bool]:
    """Remove the path words from a table's keys; returns them, and whether they are all its keys.

    Raises `KeyedError` if two keys give a round trip.
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
    """Return `network`, or an empty one, with the words' stages added, under this name.

    Files are added to `trace_files` by digest. Raises `KeyedError`, and `ValueError` without a
    `read` for stages.
    """
    if read is None:
        named = " and ".join(f"`{word}`" for word in words)
        raise ValueError(f"{named}: stages cannot be read here")
    try:
        return put_together(name, network, NetworkWords(**words), read, trace_files)
    except WordError as error:
        raise KeyedError(error.word, f"`{error.word}`: {error.problem}") from error

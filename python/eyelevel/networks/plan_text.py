"""A network of a command's words, as the text of a plan that takes the same words."""

import json
import re

from eyelevel.networks.compose import NAME_LENGTH_MAX, Composed, NetworkWords

_NOT_OF_NAMES = re.compile(r"[^A-Za-z0-9 ._+@-]+")
"""What a plan's names have not (`eyelevel.plan.file.model`)."""


def plan_table(words: NetworkWords, composed: Composed) -> str:
    """A plan's `networks` of what these words were composed to."""
    return f"networks = [{network_text(words, composed)}]"


def network_text(words: NetworkWords, composed: Composed) -> str:
    """What these words were composed to, in a plan's list: a name, where that is all, or a table.

    Files are named as they were, relative to the working directory, as a plan's are.
    """
    network = composed.network
    said = {"base": words.network, "traces": words.traces, "rtt": words.rtt}
    said |= {"trace_down": words.trace_down, "trace_up": words.trace_up}
    said |= {"down": words.down, "up": words.up}
    given = {key: text for key, text in said.items() if text is not None}
    if given.keys() <= {"base"}:
        return _quoted(network.name)
    plain = network.name.replace(",", "").replace("%", " percent")
    keys = {"name": _NOT_OF_NAMES.sub("-", plain)[:NAME_LENGTH_MAX].strip(), **given}
    return f"{{ {', '.join(f'{key} = {_quoted(keys[key])}' for key in keys)} }}"


def _quoted(text: str) -> str:
    """As TOML has it: literally where it may, so that people can read JSON in it."""
    literal = '"' in text and "'" not in text and text.isprintable()
    return f"'{text}'" if literal else json.dumps(text, ensure_ascii=False)

"""Write a network composed from command-line options as the text of a plan."""

import json
import re

from eyelevel.plan.networks.compose import NAME_LENGTH_MAX, Composed, NetworkWords

_NOT_OF_NAMES = re.compile(r"[^A-Za-z0-9 ._+@-]+")
"""Characters that are not allowed in a plan's names (`eyelevel.plan.file.model`)."""


def plan_table(words: NetworkWords, composed: Composed) -> str:
    """Return a plan's `networks` line with the composed network."""
    return f"networks = [{network_text(words, composed)}]"


def network_text(words: NetworkWords, composed: Composed) -> str:
    """Return the network as an entry of a plan's list: a name if that is all, otherwise a table.

    Files keep their paths, relative to the working directory, as in a plan.
    """
    network = composed.network
    settings = {"base": words.network, "traces": words.traces, "rtt": words.rtt}
    settings |= {"trace_down": words.trace_down, "trace_up": words.trace_up}
    settings |= {"down": words.down, "up": words.up}
    given = {key: text for key, text in settings.items() if text is not None}
    if given.keys() <= {"base"}:
        return _quote(network.name)
    plain = network.name.replace(",", "").replace("%", " percent")
    keys = {"name": _NOT_OF_NAMES.sub("-", plain)[:NAME_LENGTH_MAX].strip(), **given}
    return f"{{ {', '.join(f'{key} = {_quote(keys[key])}' for key in keys)} }}"


def _quote(text: str) -> str:
    """Return a TOML string, literal where possible, so that JSON in it stays readable."""
    literal = '"' in text and "'" not in text and text.isprintable()
    return f"'{text}'" if literal else json.dumps(text, ensure_ascii=False)

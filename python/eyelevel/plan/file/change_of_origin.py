"""Write the two stacks of a question about a round trip, such as `rtt:cdn.example=90→20`."""

import json
import re

from eyelevel.base.errors import PlanError
from eyelevel.plan.networks.origin_rtt import OTHERS, RECORDED, origin_rtts, own_rtt_of_word

PREFIX = "rtt:"
EXAMPLE = "rtt:cdn.example=90→20"
_HOST_LENGTH_MAX = 30
"""Maximum length of a host in a stack's name, which has at most 64 characters."""


def stacks_of_origin(word: str, given: list[str], base: str) -> tuple[str, str, list[str]]:
    """Return the names of the two stacks and their TOML: `base` with each of the two round trips.

    `word`: `rtt:HOST`, or several hosts separated by commas, which share an address. `given`: OLD
    and NEW, or only NEW, which is then compared with the network's round trip alone. Raises
    `PlanError`.
    """
    hosts = [host.strip().lower() for host in word.removeprefix(PREFIX).split(",")]
    if not all(hosts):
        raise PlanError([f"--change: `{word}` names no host; write `{EXAMPLE}`"])
    if len(set(hosts)) < len(hosts):
        raise PlanError([f"--change: `{word}` names a host twice; write each once"])
    own = [_own_rtt(text, hosts[0], word) for text in given]
    if len(own) == 2 and own[0] == own[1]:
        raise PlanError(
            [
                f"--change: `{word}` is `{given[0]}` on both sides; "
                "nothing changes, so write two times"
            ]
        )
    names, tables = [], []
    if len(own) == 1:
        if own[0] == 0:
            raise PlanError(
                [
                    f"--change: `{word}` of 0 ms adds nothing to the network's; "
                    "nothing changes, so write more than 0"
                ]
            )
        names, tables = [base], [json.dumps(base)]
    for rtt in own:
        shown = rtt if rtt == RECORDED else f"{rtt:g}ms"
        names.append(f"{base}-rtt-{_short(hosts)}-{shown}")
        by_host = ", ".join(f"{json.dumps(host)} = {json.dumps(rtt)}" for host in hosts)
        tables.append(
            f"{{ name = {json.dumps(names[-1])}, base = {json.dumps(base)}, "
            f"origin_rtt = {{ {by_host} }} }}"
        )
    return names[0], names[1], tables


def _own_rtt(text: str, host: str, word: str) -> float | str:
    """Parse a round trip; a number is in milliseconds."""
    try:
        return origin_rtts({host: own_rtt_of_word(text.strip().strip('"'))})[host]
    except ValueError as error:
        raise PlanError([f"--change: `{word}={text}`: {error}"]) from error


def _short(hosts: list[str]) -> str:
    if hosts == [OTHERS]:
        return "all"
    name = re.sub(r"[^a-z0-9.-]+", "-", hosts[0]).strip("-")[:_HOST_LENGTH_MAX]
    return f"{name}+{len(hosts) - 1}" if len(hosts) > 1 else name

"""Write a plan's text for a short question, such as `http3` or `iw=10→32`.

Write the two stacks of a question about a round trip, such as `rtt:cdn.example=90→20`.
"""

import json
import re
from collections.abc import Sequence
from pathlib import PurePath

from pydantic import ValidationError

from eyelevel.base.errors import PlanError, unknown
from eyelevel.base.settings import names_tried
from eyelevel.plan.file.model import StackTable
from eyelevel.plan.networks.origin_rtt import OTHERS, RECORDED, origin_rtts, own_rtt_of_word
from eyelevel.plan.networks.presets import get_network, why_none
from eyelevel.plan.presets import SMALLEST_EFFECT_REASON
from eyelevel.plan.stack_presets import STACKS_BY_NAME
from eyelevel.plan.stacks import Stack

DEFAULT_BASE = "tcp+"
BLOCKS_MAX = 60
BLOCKS_MIN = 6

_SHORT = names_tried(Stack)
_STACK_OF_WORD = {"http3": "quic", "h3": "quic"}
_EXAMPLES = "`http3`, `cc=bbr`, `iw=10→32`, `rtt:cdn.example=90→20` or `tcp→quic`"
_OF_NETWORKS = ("rtt", "latency", "delay", "rate", "bandwidth", "loss", "queue", "network")
_ARROW = re.compile(r"\s*(?:→|->)\s*")


def question_plan(
    sites: Sequence[str],
    change: str,
    networks: Sequence[str],
    base: str = DEFAULT_BASE,
    blocks_max: int = BLOCKS_MAX,
    users: str = "",
) -> str:
    """Return the TOML text of a sequential plan comparing a stack with a changed copy.

    `change`: `http3` (the tuned TCP stack against QUIC), `STACK→STACK`, `KEY=VALUE` or
    `KEY=OLD→NEW` of a stack's keys (`iw` and `cc` for short), or `rtt:HOST=OLD→NEW` of an origin's
    own round trip in ms, applied to the stack `base`. `users`: text of a plan's `networks`, instead
    of presets' names. Raises `PlanError` for an invalid question; values are validated when the
    text is parsed.
    """
    before, after, stacks = _stacks(change, base)
    # Early data needs the tickets of an earlier visit; the reference gets the same visits.
    visit = 'visit = "repeat"\n' if _has_early_data(change, base, (before, after)) else ""
    names = ", ".join(PurePath(site).name.removesuffix(".wacz") for site in sites)
    title = f"What does {after} change against {before} for {names}?"
    request = (
        f"stacks = [{', '.join(stacks)}]\n"
        f"comparisons = [[{toml_text(after)}, {toml_text(before)}]]\n"
        f"{visit}{SMALLEST_EFFECT_REASON}"
    )
    return sequential_plan(title, sites, request, networks, blocks_max, users)


def sequential_plan(
    title: str,
    sites: Sequence[str],
    request: str,
    networks: Sequence[str],
    blocks_max: int,
    users: str,
) -> str:
    """Return the TOML text of a plan that stops once it has its answer.

    `request`: the keys that say what is compared, each in a line. Raises PlanError for an unknown
    network.
    """
    if not networks and not users:
        raise PlanError(["--networks: it names none; write them separated by commas: `dsl,lte`"])
    for network in networks:
        if get_network(network) is None:
            raise PlanError([f"--networks: {why_none(network)}"])
    listed = [", ".join(map(toml_text, names)) for names in (sites, networks)]
    return (
        f"title = {toml_text(title)}\nsites = [{listed[0]}]\n"
        f"{users or f'networks = [{listed[1]}]'}\n"
        f"blocks = {blocks_max}\n{request}"
        f"[stop]\nblocks_min = {BLOCKS_MIN}\n"
    )


def _stacks(change: str, base: str) -> tuple[str, str, list[str]]:
    """Return the names of the two stacks, and their TOML entries."""
    if base not in STACKS_BY_NAME:
        raise PlanError([f"--base: {unknown('stack', base, STACKS_BY_NAME)}"])
    word = change.strip()
    if not word:
        raise PlanError([f"--change: it is empty; write {_EXAMPLES}"])
    if "=" not in word:
        pair = [_STACK_OF_WORD.get(side.lower(), side) for side in _ARROW.split(word)]
        if pair == ["quic"]:
            pair = ["tcp+", "quic"]
        for name in pair:
            if name not in STACKS_BY_NAME:
                known = [*_STACK_OF_WORD, *STACKS_BY_NAME]
                raise PlanError([f"--change: {unknown('change or stack', name, known)}"])
        if len(pair) != 2:
            raise PlanError([f"--change: `{word}` names one stack; write `{base}→{word}`"])
        if pair[0] == pair[1]:
            raise PlanError(
                [f"--change: `{word}` names one stack twice; nothing changes, so name two"]
            )
        return pair[0], pair[1], [toml_text(name) for name in pair]
    key, _, values = word.partition("=")
    given = _ARROW.split(values)
    if key.strip().startswith(_PREFIX):
        if len(given) > 2 or not all(given):
            raise PlanError([f"--change: `{word}` cannot be read; write `{_EXAMPLE}`"])
        return _stacks_of_origin(key.strip(), given, base)
    known = [name for name in StackTable.model_fields if name not in ("name", "base")]
    name = _SHORT.get(key.strip(), key.strip())
    if key.strip() in _OF_NETWORKS:
        raise PlanError(
            [
                f"--change: `{key.strip()}` belongs to a network, which both stacks share; name "
                "networks with --networks, or give a table of your users' with --users; change "
                f"one origin's own round trip with `{_EXAMPLE}`"
            ]
        )
    if name not in known:
        raise PlanError([f"--change: {unknown('key of a stack', name, [*known, *_SHORT])}"])
    if len(given) > 2 or not all(given):
        raise PlanError([f"--change: `{word}` cannot be read; write `{key}=OLD→NEW`"])
    preset = getattr(STACKS_BY_NAME[base], name)
    new = _value(name, given[-1])
    old = _value(name, given[0]) if len(given) == 2 else preset
    if old == new:
        raise PlanError(
            [
                f"--change: `{base}` has {name} = {new} already; "
                "nothing changes, so name another value"
            ]
        )
    tables, names = [], []
    # Nothing can be hinted early to a page that comes at once.
    waits = ', think_time = "recorded"' if name == "early_hints" else ""
    for value in (old, new):
        # If both values are given, both are in the stacks' names.
        if value == preset and len(given) == 1 and not waits:
            names.append(base)
            tables.append(toml_text(base))
            continue
        names.append(f"{base}-{key.strip()}-{value}".lower())
        # BBR always paces; the report's table of differences shows that this differs, too.
        paces = ", pacing = true" if (name, value) == ("congestion_control", "bbr") else ""
        tables.append(
            f"{{ name = {toml_text(names[-1])}, base = {toml_text(base)}, "
            f"{name} = {_toml(value)}{paces}{waits} }}"
        )
    return names[0], names[1], tables


def _has_early_data(change: str, base: str, names: Sequence[str]) -> bool:
    known = (STACKS_BY_NAME[name] for name in (base, *names) if name in STACKS_BY_NAME)
    return any(stack.early_data for stack in known) or change.strip().startswith("early_data")


def _value(name: str, text: str) -> int | float | bool | str:
    """Parse a value for the key `name`: a number if possible, otherwise a word."""
    word = text.strip().strip('"')
    value = _number_or_word(word)
    try:
        _check(name, value)
    except ValidationError:
        try:
            _check(name, word)
        except ValidationError:
            return value  # validation of the plan reports what is wrong with it
        return word
    return value


def _check(name: str, value: object) -> None:
    StackTable.model_validate_json(json.dumps({name: value}))


def _number_or_word(word: str) -> int | float | bool | str:
    if word.lower() in ("on", "true", "yes"):
        return True
    if word.lower() in ("off", "false", "no"):
        return False
    for kind in (int, float):
        try:
            return kind(word)
        except ValueError:
            continue
    return word


def _toml(value: object) -> str:
    return str(value).lower() if isinstance(value, bool | int | float) else toml_text(str(value))


def toml_text(text: str) -> str:
    """Return a string as TOML writes it."""
    # TOML has the escapes of JSON, but refuses a bare DEL.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


_PREFIX = "rtt:"
_EXAMPLE = "rtt:cdn.example=90→20"
_HOST_LENGTH_MAX = 30
"""Maximum length of a host in a stack's name, which has at most 64 characters."""


def _stacks_of_origin(word: str, given: list[str], base: str) -> tuple[str, str, list[str]]:
    """Return the names of the two stacks and their TOML: `base` with each of the two round trips.

    `word`: `rtt:HOST`, or several hosts separated by commas, which share an address. `given`: OLD
    and NEW, or only NEW, which is then compared with the network's round trip alone. Raises
    `PlanError`.
    """
    hosts = [host.strip().lower() for host in word.removeprefix(_PREFIX).split(",")]
    if not all(hosts):
        raise PlanError([f"--change: `{word}` names no host; write `{_EXAMPLE}`"])
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
        label = rtt if rtt == RECORDED else f"{rtt:g}ms"
        names.append(f"{base}-rtt-{_short(hosts)}-{label}")
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

"""Print the completions at the cursor, one per line: `WORD`, a tab, a description.

A shell calls `eyelevel completion words NUMBER WORD...` with the words after the command, of which
the one with that NUMBER, counted from 1, is being written. If nothing is printed, the shell
completes files.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from eyelevel.base.json_types import JsonMapping

COMPLETION_COMMAND = ["completion", "words"]
"""First words of a command line that asks for completions."""

HELP = ("--help", "Show this message and exit.")
OF_ALL = (HELP, ("--version", "Print the versions of eyelevel, its build and the browser."))

Found = list[tuple[str, str]]
"""Words with their descriptions."""


def answer_completion(question: Sequence[str]) -> str:
    """Return the lines of completions; "" if the shell should complete files, or for bad input."""
    number, *line = question or ["0"]
    if not number.isdecimal() or int(number) < 1:
        return ""
    before, current = line[: int(number) - 1], [*line, ""][min(int(number) - 1, len(line))]
    words = json.loads(Path(__file__).with_name("words.json").read_text("utf-8"))
    found = _find_matches(words, *_rejoin_words(before, current))
    return "".join(f"{word}\t{description}\n" for word, description in found)


def _rejoin_words(before: list[str], current: str) -> tuple[list[str], str]:
    """Rejoin an option with its value, since bash splits `--stack=tcp` into three words."""
    if current == "=":
        current = ""
    elif before and before[-1] == "=":
        before = before[:-1]
    return before, current


def _find_matches(words: JsonMapping, before: Sequence[str], current: str) -> Found:
    commands, names = words["commands"], words["names"]
    node, rest = _node(commands, before)
    if node is None:
        listed = [(name, each["help"]) for name, each in commands.items()]
        return _beginning([*listed, *(OF_ALL if current.startswith("-") else ())], current)
    options = node.get("options", {})
    behind = "--" in rest
    if rest and not behind and options.get(rest[-1], [None])[0] is not None:
        return _values(options[rest[-1]][0], names, current)
    flag, equals, value = current.partition("=")
    if equals and not behind and options.get(flag, [None])[0] is not None:
        return [
            (f"{flag}={each}", description)
            for each, description in _values(options[flag][0], names, value)
        ]
    if current.startswith("-") and not behind:
        options_left = [
            (name, description) for name, (_, description) in options.items() if name not in rest
        ]
        return _beginning([*options_left, HELP], current)
    inner = {} if rest else node.get("commands", {})
    listed = [(name, each["help"]) for name, each in inner.items()]
    return _beginning(listed, current) + _complete_argument(node, rest, names, current)


def _node(commands: JsonMapping, before: Sequence[str]) -> tuple[JsonMapping | None, Sequence[str]]:
    """Return the command that the words name, and the words after its name."""
    places = [at for at, word in enumerate(before) if not word.startswith("-")]
    if not places or before[places[0]] not in commands:
        return (None if not places else {}), ()
    node, rest = commands[before[places[0]]], before[places[0] + 1 :]
    inner = node.get("commands", {})
    if rest and rest[0] in inner:
        return inner[rest[0]], rest[1:]
    if default := node.get("default"):
        return {**inner[default], "commands": inner}, rest
    return node, rest


def _complete_argument(
    node: JsonMapping, rest: Sequence[str], names: Mapping[str, list[str]], current: str
) -> Found:
    """Return the values for the argument being written, given the number of those before it."""
    options, arguments = node.get("options", {}), node.get("arguments", [])
    taken = 0
    values = iter(rest)
    for word in values:
        if word.startswith("-"):
            if "=" not in word and options.get(word, [None])[0] is not None:
                next(values, None)
        else:
            taken += 1
    if not arguments:
        return []
    kind = arguments[min(taken, len(arguments) - 1)]
    if taken >= len(arguments) and not kind.endswith("..."):
        return []
    return _values(kind.removesuffix("..."), names, current)


def _values(kind: str, names: Mapping[str, list[str]], current: str) -> Found:
    if "|" in kind:
        return _beginning([(each, "") for each in kind.split("|")], current)
    known = names.get(kind.removesuffix(","), [])
    if not kind.endswith(","):
        return _beginning([(each, "") for each in known], current)
    head, comma, last = current.rpartition(",")
    left = (each for each in known if each not in head.split(","))
    return [(f"{head}{comma}{each}", "") for each in left if each.startswith(last)]


def _beginning(words: Iterable[tuple[str, str]], current: str) -> Found:
    return [(word, description) for word, description in words if word.startswith(current)]

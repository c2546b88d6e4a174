"""Run `eyelevel record` over an emulated path, by restarting it inside `eyelevel path`."""

import os
import sys
from collections.abc import Container, Sequence
from typing import NoReturn

from eyelevel.cli.output import hints
from eyelevel.lab.binary import find_binary
from eyelevel.load.traces import read_stages
from eyelevel.plan.networks.compose import NetworkWords, compose


def record_behind(words: NetworkWords, arguments: Sequence[str]) -> NoReturn:
    """Replace this process by `eyelevel path --internet WORDS -- eyelevel ARGUMENTS`.

    The network options are removed from the arguments. The recorder needs no changes: its traffic
    to the Internet goes over the path, including the handshakes that it times. Raises
    `NetworkError` for invalid options.
    """
    compose(words, read_stages)
    given = words.given()
    said = [word for pair in given.items() for word in pair]
    inner = [sys.executable, "-m", "eyelevel.cli.main", *without(given, arguments)]
    hints.print(f"recording behind `eyelevel path {' '.join(said)}`", markup=False, soft_wrap=True)
    sys.stdout.flush()
    binary = find_binary()
    os.execv(binary, [binary, "shell", "--internet", *said, "--", *inner])


def without(given: Container[str], arguments: Sequence[str]) -> list[str]:
    """Return a command line's arguments without these options and their values."""
    left: list[str] = []
    rest = iter(arguments)
    for word in rest:
        if word == "--":
            return [*left, word, *rest]
        if word in given:
            next(rest, None)
        elif word.partition("=")[0] not in given:
            left.append(word)
    return left

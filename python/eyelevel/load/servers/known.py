"""The servers that can be compared, and how to install each."""

import importlib.util
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from importlib import metadata
from pathlib import Path

from eyelevel.base.errors import ProbeError
from eyelevel.base.from_outside.words import excerpt
from eyelevel.load.external_server import with_server
from eyelevel.plan.stack_presets import STACKS_BY_NAME
from eyelevel.plan.stacks import ExternalServer, KeyExchange, Stack

HERE = Path(__file__).parent
OURS = "ours"
DELAY_MS_MAX = 10_000.0
BASES = {"tls1.2": "tcp+", "tls1.3": "tcp+", "quic": "quic"}
"""The probed protocols, with the stack whose kernel and path settings a server of each has."""
_RETRY = "+retry"
_DELAYED = re.compile(r"ours\+(\d+(?:\.\d+)?)ms")


@dataclass(frozen=True)
class Program:
    """An external server: how it is started, and which protocols it supports."""

    found_by: str
    """The name of the program, or of its Python module."""
    command: tuple[str, ...]
    protocols: tuple[str, ...]
    get: str
    """The command that installs it."""
    asked_version: tuple[str, ...]
    """The command that prints its version in its first line."""


PROGRAMS = {
    "nginx": Program(
        "nginx",
        ("/bin/sh", str(HERE / "nginx.sh")),
        ("tls1.2", "tls1.3"),
        "apt-get install nginx",
        ("nginx", "-v"),
    ),
    "caddy": Program(
        "caddy",
        ("/bin/sh", str(HERE / "caddy.sh")),
        ("tls1.2", "tls1.3", "quic"),
        "apt-get install caddy",
        ("caddy", "version"),
    ),
    "s_server": Program(
        "openssl",
        ("/bin/sh", str(HERE / "s_server.sh")),
        ("tls1.2", "tls1.3"),
        "apt-get install openssl",
        ("openssl", "version"),
    ),
    "aioquic": Program(
        "aioquic",
        (sys.executable, str(HERE / "aioquic_server.py")),
        ("quic",),
        "pip install aioquic",
        (sys.executable, "-c", "import aioquic; print(aioquic.__version__)"),
    ),
}


@dataclass(frozen=True)
class Served:
    """One server of a comparison."""

    name: str
    protocols: tuple[str, ...]
    command: tuple[str, ...] | None = None
    """The command of an external server; None for our own."""
    delay_ms: float = 0.0
    """The extra round-trip time of its path."""

    def stack(
        self, protocol: str, chain_bytes: int | None = None, key_exchange: KeyExchange = "hybrid"
    ) -> Stack:
        """Return the stack that serves a lab over this protocol; session tickets are enabled.

        All servers get chains of `chain_bytes`; `key_exchange` is our server's.
        """
        base = replace(STACKS_BY_NAME[BASES[protocol]], certificate_chain_bytes=chain_bytes)
        if self.command is None:
            ours = base.with_tickets("1.2" if protocol == "tls1.2" else "1.3")
            return replace(ours, key_exchange=key_exchange)
        paths = (sys.prefix,) if self.command[0] == sys.executable else ()
        server = ExternalServer(self.command, ("h1", "h2", "h3"), paths)
        return with_server(base, self.name, server)


def parse_servers(text: str) -> tuple[list[Served], dict[str, str]]:
    """Return the installed servers of a list, and for the others how to install them.

    `ours+5ms` is our server behind a path whose round trip is 5 ms longer, `aioquic+retry`
    validates addresses; a repeated name adds another server. Raises ProbeError for an unknown name.
    """
    served: list[Served] = []
    missing: dict[str, str] = {}
    for word in (each.strip() for each in text.split(",") if each.strip()):
        base = word.removesuffix(_RETRY)
        delayed = _DELAYED.fullmatch(word)
        if word == OURS or delayed:
            delay_ms = float(delayed[1]) if delayed else 0.0
            if delay_ms > DELAY_MS_MAX:
                raise ProbeError(f"{excerpt(word)}: write at most {DELAY_MS_MAX:g}ms")
            served.append(Served(_unique_name(served, word), tuple(BASES), None, delay_ms))
        elif base in PROGRAMS and (base == word or base == "aioquic"):
            program = PROGRAMS[base]
            if is_installed(program):
                options = ("--retry",) if base != word else ()
                command = (*program.command, *options)
                served.append(Served(_unique_name(served, word), _protocols(base), command))
            else:
                missing[word] = program.get
        else:
            known = ", ".join([*PROGRAMS, OURS])
            raise ProbeError(
                f"{excerpt(word)} is no server that is known here: choose among {known} (ours+5ms, "
                "aioquic+retry), with commas between"
            )
    return served, missing


def parse_command(text: str) -> Served:
    """Return the server of `NAME=COMMAND`, which is started without a shell.

    Raises ProbeError if it has no name or no command, or the name of a server that is known.
    """
    name, separator, command = text.partition("=")
    name = name.strip()
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise ProbeError(f"--server {excerpt(text)}: {error}; close the quotation") from error
    if not separator or not name or not words:
        raise ProbeError(f"--server {excerpt(text)}: write NAME=COMMAND")
    if name == OURS or name in PROGRAMS:
        raise ProbeError(
            f"--server {excerpt(text)}: `{name}` is a known server; choose another name"
        )
    return Served(name, tuple(BASES), tuple(words))


def versions_of(served: Iterable[Served]) -> dict[str, str]:
    """Return the version of each program by its name in PROGRAMS; ours is eyelevel's."""
    found = {}
    for one in served:
        name = one.name.partition(" ")[0].partition("+")[0]
        if one.command is None:
            found[OURS] = f"eyelevel {metadata.version('eyelevel')}"
        elif name in PROGRAMS and name not in found:
            option = PROGRAMS[name].asked_version
            done = subprocess.run(option, capture_output=True, text=True, check=False)
            output = (done.stdout + done.stderr).strip().splitlines()
            found[name] = output[0] if output else "unknown"
    return found


def _unique_name(served: Sequence[Served], word: str) -> str:
    """Return the name, numbered if it is taken: `ours`, then `ours (2)`."""
    count = sum(each.name.partition(" (")[0] == word for each in served)
    return f"{word} ({count + 1})" if count else word


def is_installed(program: Program) -> bool:
    """Return whether the program, or its Python module, is there."""
    if program.command[0] == sys.executable:
        return importlib.util.find_spec(program.found_by) is not None
    return shutil.which(program.found_by) is not None


def _protocols(name: str) -> tuple[str, ...]:
    protocols = PROGRAMS[name].protocols
    return (*protocols, "quic") if name == "nginx" and _nginx_has_http3() else protocols


def _nginx_has_http3() -> bool:
    """Return whether nginx was built with HTTP/3, which is possible from 1.25 on."""
    output = subprocess.run(["nginx", "-V"], capture_output=True, text=True, check=False).stderr
    return "http_v3_module" in output

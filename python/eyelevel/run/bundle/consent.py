"""Consent to the commands of a bundle's plan and to the paths that they would see.

An external server that is allowed sees the `paths` of its settings and those in its command, and
its responses are stored in the records. So no server from a bundle is shown home folders or folders
with a leading dot, where keys and sessions lie, whatever the user allows.
"""

import os
import shlex
from collections.abc import Iterator
from pathlib import Path

from eyelevel.load.external_server import find_opened_paths
from eyelevel.plan.plan import Plan
from eyelevel.plan.stacks import ExternalServer

_HOMES = ("/root", "/home", "/var/home", "/export/home")
"""Folders that hold the home folders of other users."""


def describe_access(plan: Plan) -> list[str]:
    """Return a sentence per command that the plan's stacks start, and per path opened to it."""
    said = []
    for server in _servers(plan):
        said.append(f"starts: {shlex.join(server.command)}")
        for name, path in find_opened_paths(server):
            also = "" if str(path) == name else f" (`{name}`)"
            said.append(f"opens to it: {path}{also}")
    return list(dict.fromkeys(said))


def describe_refusals(plan: Plan) -> list[str]:
    """Return a sentence for each path that is refused to every bundle."""
    return [
        f"`{name}` is {why}"
        for server in _servers(plan)
        for name, path in find_opened_paths(server)
        if not _is_its_program(server, name, path) and (why := why_private(path))
    ]


def why_private(path: Path) -> str:
    """Return why a path is private, or ""; a link counts as its target."""
    for seen in (Path(os.path.normpath(path)), path.resolve()):
        for home in _homes():
            if seen == home:
                return "a home"
            if seen.is_relative_to(home):
                return f"in the home {home}"
            if home.is_relative_to(seen):
                return f"around the home {home}"
        for part in seen.parts:
            if part.startswith("."):
                return f"in {part}, whose name begins with a dot"
            if part.startswith("~"):
                return f"in the home {part}, which is not on this machine"
    return ""


def _is_its_program(server: ExternalServer, name: str, path: Path) -> bool:
    """Return whether a path is the server's own program, which may lie anywhere.

    It is often a virtual environment's Python. It is executed, and exposes only itself.
    """
    return name == server.command[0] and os.access(path, os.X_OK) and path.is_file()


def _homes() -> Iterator[Path]:
    for name in {os.path.expanduser("~"), *_HOMES}:  # noqa: PTH111 (never an error)
        home = Path(name).resolve()
        if name.startswith("/") and home != Path("/"):
            yield home


def _servers(plan: Plan) -> Iterator[ExternalServer]:
    return (stack.external_server for stack in plan.stacks if stack.external_server is not None)

"""The shipped recipes: external servers that serve a recording as it was recorded, by name."""

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from eyelevel.base.errors import PlanError
from eyelevel.load.servers.known import (
    INTEROP,
    PROGRAMS,
    RECIPES_FOLDER,
    Start,
    find_start,
    find_version,
    make_interop_command,
)
from eyelevel.plan.stacks import HttpVersion


@dataclass(frozen=True)
class Recipe:
    """A recipe's file, and the HTTP versions that are compared if none are named."""

    file: Path
    versions: tuple[HttpVersion, ...] = ("h2", "h3")


RECIPES = {
    "nginx": Recipe(RECIPES_FOLDER / "nginx"),
    "caddy": Recipe(RECIPES_FOLDER / "caddy"),
    "envoy": Recipe(RECIPES_FOLDER / "envoy"),
    "aioquic": Recipe(RECIPES_FOLDER / "h3_aioquic.py", ("h3",)),
    "hypercorn": Recipe(RECIPES_FOLDER / "asgi_hypercorn.py"),
    INTEROP: Recipe(RECIPES_FOLDER / INTEROP, ("h3",)),
}


def get_recipe(name: str, words: Sequence[str] = ()) -> Start:
    """Return how a recipe is started; `words` are the command of `interop`.

    Raises PlanError if its program is not installed, and ProbeError if the program's variable names
    none.
    """
    if name == INTEROP:
        if not words:
            raise PlanError(
                [f"starting {INTEROP}: write the server's command: `{INTEROP} COMMAND`"]
            )
        check_program(words[0])
        return Start(make_interop_command(words))
    program = PROGRAMS[name]
    start = find_start(program, RECIPES[name].file)
    if start is None:
        raise PlanError([f"starting {name}: it is not installed; get it with `{program.get}`"])
    return start


def find_recipe_version(command: Sequence[str]) -> str | None:
    """Return the version of the program whose recipe a command starts; None for other commands."""
    for name, program in PROGRAMS.items():
        if name in RECIPES and str(RECIPES[name].file) in command:
            return find_version(program)
    return None


def check_program(word: str) -> None:
    """Raise PlanError if a command's first word is neither a program nor a file."""
    if shutil.which(word) is None and not Path(word).is_file():
        known = ", ".join(RECIPES)
        raise PlanError(
            [
                f"starting `{word}`: there is no such program or file; correct the command, or "
                f"name a recipe ({known})"
            ]
        )

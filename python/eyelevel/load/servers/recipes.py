"""The shipped recipes: external servers that serve a recording as it was recorded, by name."""

import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from eyelevel.base.errors import PlanError
from eyelevel.load.servers.known import PROGRAMS, is_installed

FOLDER = Path(__file__).parents[1] / "recipes"


@dataclass(frozen=True)
class Recipe:
    """A recipe's file and the paths that its program needs besides the system."""

    file: Path
    paths: tuple[str, ...] = ()

    @property
    def command(self) -> tuple[str, ...]:
        """The command of a plan's external server."""
        program = sys.executable if self.file.suffix == ".py" else "/bin/sh"
        return (program, str(self.file))


RECIPES = {
    "nginx": Recipe(FOLDER / "nginx"),
    "caddy": Recipe(FOLDER / "caddy"),
    "aioquic": Recipe(FOLDER / "h3_aioquic.py", (sys.prefix,)),
}


def get_recipe(name: str) -> Recipe:
    """Return a recipe whose program is installed. Raises PlanError if it is not."""
    program = PROGRAMS[name]
    if not is_installed(program):
        raise PlanError([f"starting {name}: it is not installed; get it with `{program.get}`"])
    return RECIPES[name]


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

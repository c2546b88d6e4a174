"""`eyelevel path`: any command behind an emulated path, and what to do with the path's logs."""

import os
import sys
from typing import Any, NoReturn

import typer
from typer.core import TyperGroup

from eyelevel.cli.path.fates import fates
from eyelevel.cli.path.plot import plot
from eyelevel.lab.binary import find_binary


class _ShellFirst(TyperGroup):
    """`eyelevel path ...` is the data plane's own shell unless another subcommand is named."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if not args or args[0] not in self.commands:
            _become_the_shell(args)
        return super().parse_args(ctx, args)


app = typer.Typer(
    cls=_ShellFirst,
    help="Run a command behind an emulated path; plot what the path logged.",
)
app.command("plot")(plot)
app.command("fates")(fates)


def _become_the_shell(arguments: list[str]) -> NoReturn:
    """As the command's script does, which needs no Python for it (packaging/eyelevel.data)."""
    sys.stdout.flush()
    binary = find_binary()
    os.execv(binary, [binary, "shell", *arguments])


__all__ = ["app"]

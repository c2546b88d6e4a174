"""The group `eyelevel path`: any command behind an emulated path, and tools for its logs."""

import os
import sys
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup

from eyelevel.cli.output import hints
from eyelevel.cli.path.plot import plot
from eyelevel.lab.binary import find_binary
from eyelevel.store.disk.results import write_result


def fates(
    log: Annotated[
        Path, typer.Argument(help="The log of one direction: DIR/down.log or DIR/up.log.")
    ],
    out: Annotated[Path, typer.Argument(help="The file to write, with one packet per line.")],
) -> None:
    """Write each packet's fate, its delay in ms or `lost`, for the stage `fates`.

    With it another controller meets the same delays and losses: `eyelevel path --down "fates
    OUT"`.
    """
    # Imported here: importing numpy takes longer than starting a path.
    from eyelevel.analysis.pathlog.packets import fates_of
    from eyelevel.base.errors import PathLogError
    from eyelevel.base.from_outside.files import read_bytes
    from eyelevel.base.from_outside.limits import PATH_LOG
    from eyelevel.base.from_outside.source import Source

    content = read_bytes(log, Source(str(log), PATH_LOG, PathLogError))
    fates_ = fates_of(content, str(log))
    lines = ("lost\n" if delay_ms is None else f"{delay_ms:.6f}\n" for delay_ms in fates_)
    write_result(out, "".join(lines))
    lost = sum(delay_ms is None for delay_ms in fates_)
    hints.print(f"{out}: {len(fates_)} packets, {lost} lost", soft_wrap=True, markup=False)


class _ShellFirst(TyperGroup):
    """A group that runs the data plane's own shell, unless another subcommand is named."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if not args or args[0] not in self.commands:
            _become_the_shell(args)
        return super().parse_args(ctx, args)


app = typer.Typer(
    cls=_ShellFirst,
    help="Run a command behind an emulated path, or plot what a path logged.",
)
app.command("plot")(plot)
app.command("fates")(fates)


def _become_the_shell(arguments: list[str]) -> NoReturn:
    """Replace this process by the shell.

    The installed script does so without Python (packaging/eyelevel.data).
    """
    sys.stdout.flush()
    binary = find_binary()
    os.execv(binary, [binary, "shell", *arguments])


__all__ = ["app"]

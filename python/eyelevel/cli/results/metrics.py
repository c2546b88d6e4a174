"""`eyelevel metrics`: metrics computed anew from what was recorded, a run's or a video's."""

from typing import TYPE_CHECKING

import typer
from typer.core import TyperGroup

from eyelevel.cli.results.metrics_run import run
from eyelevel.cli.results.metrics_video import video

if TYPE_CHECKING:  # a private place of typer: what type checkers alone need
    from typer._click import Context


class _RunUnlessNamed(TyperGroup):
    """`eyelevel metrics DIR` is `eyelevel metrics run DIR`."""

    def parse_args(self, ctx: "Context", args: list[str]) -> list[str]:
        """Name the command that the user left out."""
        if args and not args[0].startswith("-") and args[0] not in self.commands:
            args = ["run", *args]
        return super().parse_args(ctx, args)


app = typer.Typer(
    help="Compute metrics from what was recorded: `eyelevel metrics DIR`, or of a video.",
    no_args_is_help=True,
    cls=_RunUnlessNamed,
)
app.command("run")(run)
app.command("video")(video)

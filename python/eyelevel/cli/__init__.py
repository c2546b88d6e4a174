"""The command `eyelevel`: one file a subcommand, and the only place that prints or exits."""

from eyelevel.cli.main import main

__all__ = ["main"]

"""The command's entry: its subcommands, and how errors end it."""

import signal
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any, NoReturn

import typer

from eyelevel.cli.output import complain
from eyelevel.errors import ExpectedError

EXIT_FAILED = 1
EXIT_INTERRUPTED = 130
EXIT_TERMINATED = 143

# Subcommand and its module in eyelevel.cli, in the order of the help. A module has either `app`, a
# group of subcommands, or a function of the file's name. Only the module that is asked for is
# imported: the statistics alone take a second, which a shell of `eyelevel path` need not wait.
SUBCOMMANDS: dict[str, str] = {
    "run": "run.run",
    "ask": "run.ask",
    "load": "load.load",
    "replay": "load.replay",
    "path": "path.commands",
    "plan": "run.plan",
    "report": "results.report",
    "figures": "results.figures",
    "metrics": "results.metrics",
    "export": "results.export",
    "compare": "results.compare",
    "bundle": "results.bundle",
    "rerun": "run.rerun",
    "list": "list_presets",
    "trace": "path.trace",
    "network": "path.network",
    "explain": "explain.commands",
    "validate": "validate.commands",
    "probe": "probe.commands",
    "scan": "probe.scan",
    "doctor": "doctor",
    "site": "site.commands",
    "record": "site.record",
}


TERMINATING = (signal.SIGTERM, signal.SIGHUP)


class Terminated(BaseException):
    """SIGTERM or SIGHUP: the command ends in order, browsers, labs and folders with it."""


def main() -> int:
    """Run the command line; every expected failure is one clear line and an exit status."""
    command = sys.argv[1] if len(sys.argv) > 1 else ""
    for number in TERMINATING:
        if signal.getsignal(number) is signal.SIG_DFL:  # `nohup` has them ignored
            signal.signal(number, _terminate)
    interrupts: list[int] = []
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _noting(interrupts))
    try:
        # Importing takes a while, and may be interrupted like the rest.
        app = _app([command] if command in SUBCOMMANDS else list(SUBCOMMANDS))
        # Outside of standalone mode a subcommand's exit status is what the call returns.
        status = app(standalone_mode=False, prog_name="eyelevel")
    except ExpectedError as error:
        complain(str(error))
        return EXIT_FAILED
    except OSError as error:
        complain(f"{error.strerror}: {error.filename}" if error.filename else str(error))
        return EXIT_FAILED
    except Terminated:
        complain("terminated")
        return EXIT_TERMINATED
    except (KeyboardInterrupt, typer.Abort):
        complain("interrupted")
        return EXIT_INTERRUPTED
    except Exception as error:
        # typer's own errors of usage know how to show themselves.
        show = getattr(error, "show", None)
        if show is None:
            raise
        show()
        return getattr(error, "exit_code", 2)
    if status == EXIT_INTERRUPTED and interrupts:  # typer ends it without a word
        complain("interrupted")
    return status if isinstance(status, int) else 0


def _noting(interrupts: list[int]) -> Callable[[int, Any], None]:
    def interrupt(number: int, frame: Any) -> None:
        interrupts.append(number)
        signal.default_int_handler(number, frame)

    return interrupt


def _terminate(number: int, frame: Any) -> NoReturn:
    # A second one would break off the tidying that the first one began.
    for terminating in TERMINATING:
        signal.signal(terminating, signal.SIG_IGN)
    raise Terminated


def _app(names: list[str]) -> typer.Typer:
    app = typer.Typer(
        name="eyelevel",
        no_args_is_help=True,
        rich_markup_mode="markdown",
        add_completion=False,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    # A callback keeps the subcommands' names even where there is only one of them.
    app.callback(
        help="Compares web protocol stacks at eye level: recorded sites, an emulated network, a "
        "real browser."
    )(lambda: None)
    for name in names:
        module = import_module(f"eyelevel.cli.{SUBCOMMANDS[name]}")
        group = getattr(module, "app", None)
        if group is not None:
            app.add_typer(group, name=name)
        else:
            app.command(name)(getattr(module, SUBCOMMANDS[name].rpartition(".")[2]))
    return app


if __name__ == "__main__":
    sys.exit(main())

"""The command's entry point: its subcommands, and how errors end it."""

import ast
import os
import signal
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import FrameType
from typing import Annotated, NoReturn

import typer

from eyelevel.base.errors import (
    EXIT_INTERRUPTED,
    AllFailedError,
    ExpectedError,
    LaterError,
    Terminated,
    refusal_of,
)
from eyelevel.cli.output import complain, hints
from eyelevel.cli.usage import readable
from eyelevel.cli.usage_errors import describe_misuse, with_own_errors

EXIT_REFUSED = 2
"""Exit status as in `diff`: 1 is a finding, such as a regression; 2 means that the command
could not answer.
"""
EXIT_ALL_FAILED = 5
"""Exit status if every load or attempt failed: there is no result, and retrying would not help."""
EXIT_LATER = 75
"""Exit status of a failure that may be temporary, as in sendmail (EX_TEMPFAIL)."""
EXIT_TERMINATED = 143

# Subcommands with their modules in eyelevel.cli, by group, in the order of the help. A module
# has either `app`, a group of subcommands, or a function of the file's name. Only the module that
# is needed is imported, none for `eyelevel --help`: all together take two seconds.
GROUPS: dict[str, dict[str, str]] = {
    "First steps": {
        "demo": "run.demo",
        "doctor": "doctor",
        "list": "list_presets",
        "completion": "completion.completion",
    },
    "Recorded sites": {
        "record": "site.record",
        "site": "site.commands",
        "corpus": "corpus.commands",
    },
    "Questions and studies": {
        "ask": "run.ask",
        "server": "server.commands",
        "run": "run.run",
        "plan": "run.plan",
        "replicate": "run.replicate",
        "status": "run.status",
        "worker": "run.worker",
        "fetch": "run.fetch",
    },
    "Results": {
        "report": "results.report",
        "figures": "results.figures",
        "metrics": "results.metrics",
        "explain": "explain.commands",
        "compare": "results.compare",
        "export": "results.export",
        "bundle": "results.bundle",
        "rerun": "run.rerun",
    },
    "Single loads and networks": {
        "load": "load.load",
        "replay": "load.replay",
        "path": "path.commands",
        "network": "path.network",
        "trace": "path.trace",
    },
    "Measuring servers and this machine": {
        "probe": "probe.commands",
        "scan": "probe.scan",
        "validate": "validate.commands",
    },
}
SUBCOMMANDS = {name: place for group in GROUPS.values() for name, place in group.items()}


PATHS_OF_THEIR_OWN = (
    "demo",
    "load",
    "replay",
    "run",
    "ask",
    "server",
    "rerun",
    "replicate",
    "validate",
)
"""Commands that emulate their own network, so that a surrounding `eyelevel path` has no effect."""
NOT_FELT = (
    "the path around this command has no effect: its servers are behind a path of their own, "
    "which --network names; put `eyelevel path` inside: `eyelevel replay SITE -- eyelevel path "
    "...`"
)

TERMINATING = (signal.SIGTERM, signal.SIGHUP)


def main() -> int:
    """Run the command line; every expected failure becomes one clear line and an exit status."""
    if not sys.argv[1:]:
        from eyelevel.cli.welcome import welcome

        welcome()
        return 0
    command = next((word for word in sys.argv[1:] if not word.startswith("-")), "")
    live = {"--live", "live"} & set(sys.argv)  # live loads do use the surrounding path
    if command in PATHS_OF_THEIR_OWN and "EYELEVEL_FAR" in os.environ and not live:
        complain(NOT_FELT)
    for number in TERMINATING:
        if signal.getsignal(number) is signal.SIG_DFL:  # under `nohup` they are ignored
            signal.signal(number, _terminate)
    interrupts: list[int] = []
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _noting(interrupts))
    try:
        # Importing takes time, and may be interrupted, too.
        app = app_with(command, has_summaries=sys.argv[1] != command)
        whole = with_own_errors(readable(typer.main.get_command(app)))
        # Outside of standalone mode a subcommand's exit status is what the call returns.
        status = whole(standalone_mode=False, prog_name="eyelevel")
    except LaterError as error:
        complain(str(error))
        return EXIT_LATER
    except AllFailedError as error:
        complain(str(error))
        return EXIT_ALL_FAILED
    except ExpectedError as error:
        complain(str(error))
        return EXIT_REFUSED
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        complain(f"{place}{refusal_of(error)}")
        return EXIT_REFUSED
    except Terminated:
        complain("terminated")
        return EXIT_TERMINATED
    except (KeyboardInterrupt, typer.Abort):
        complain("interrupted")
        return EXIT_INTERRUPTED
    except typer.TyperException as error:
        if type(error).__name__ == "NoArgsIsHelpError":  # its message is the help text
            hints.print(error.message, soft_wrap=True)
        else:
            complain(describe_misuse(error))
        return error.exit_code
    if status == EXIT_INTERRUPTED and interrupts:  # typer ends it without a message
        complain("interrupted")
    return status if isinstance(status, int) else 0


def _noting(interrupts: list[int]) -> Callable[[int, FrameType | None], None]:
    def interrupt(number: int, frame: FrameType | None) -> None:
        interrupts.append(number)
        signal.default_int_handler(number, frame)

    return interrupt


def _terminate(number: int, frame: FrameType | None) -> NoReturn:
    # A second signal would abort the clean-up that the first one began.
    for terminating in TERMINATING:
        signal.signal(terminating, signal.SIG_IGN)
    raise Terminated


def app_with(command: str, *, has_summaries: bool = True) -> typer.Typer:
    """Return an app with the names of all subcommands, and the given one complete.

    Without summaries, which only the list of commands shows, it takes 0.1 s less; it has them
    anyway if there is no such command.
    """
    app = typer.Typer(
        name="eyelevel",
        no_args_is_help=True,
        rich_markup_mode="markdown",
        add_completion=False,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback(
        help="Compare web protocol stacks fairly: load recorded sites in a real browser over "
        "an emulated network."
    )(_root)
    has_summaries |= not any(command in commands for commands in GROUPS.values())
    for title, commands in GROUPS.items():
        for name, place in commands.items():
            if name == command:
                _add(app, name, place, title)
            else:
                summary = _summary(place) if has_summaries else ""
                app.command(name, help=summary, rich_help_panel=title)(lambda: None)
    return app


def _add(app: typer.Typer, name: str, place: str, title: str) -> None:
    """Add one subcommand with all its options under its group's title."""
    module = import_module(f"eyelevel.cli.{place}")
    group = getattr(module, "app", None)
    if group is not None:
        app.add_typer(group, name=name, rich_help_panel=title)
    else:
        app.command(name, rich_help_panel=title)(getattr(module, place.rpartition(".")[2]))


def _say_version(is_given: bool) -> None:
    if is_given:
        from eyelevel.cli.version import say_version

        say_version()
        raise typer.Exit


def _say_citation(is_given: bool) -> None:
    if is_given:
        from importlib.metadata import version

        from eyelevel.report.citation import own_bibtex

        print(own_bibtex(version("eyelevel")))
        raise typer.Exit


def _root(
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            callback=_say_version,
            is_eager=True,
            help="Print the versions of eyelevel, its build and the browser.",
        ),
    ] = False,
    cite: Annotated[
        bool,
        typer.Option(
            "--cite",
            callback=_say_citation,
            is_eager=True,
            help="Print how to cite eyelevel, in BibTeX.",
        ),
    ] = False,
    verbose: Annotated[
        int,
        typer.Option(
            "--verbose",
            "-v",
            count=True,
            show_default=False,
            help="Print the steps of each load; -vv: every message between processes, too.",
        ),
    ] = 0,
) -> None:
    if verbose or "EYELEVEL_LOG" in os.environ:
        from eyelevel.base.verbosity import start_inherited_log, start_log

        if verbose:
            start_log("info" if verbose == 1 else "debug")
        else:
            start_inherited_log()


def _summary(place: str) -> str:
    """Return the first paragraph of a subcommand's help, read from its file without importing it.

    For a group it is the `help` of its `app`, for a command its docstring.
    """
    file = Path(__file__).parent / f"{place.replace('.', '/')}.py"
    for node in ast.parse(file.read_bytes()).body:
        match node:
            case ast.Assign(targets=[ast.Name("app")], value=ast.Call(keywords=keywords)):
                return next(str(ast.literal_eval(k.value)) for k in keywords if k.arg == "help")
            case ast.FunctionDef(name=name) if name == place.rpartition(".")[2]:
                return (ast.get_docstring(node) or "").partition("\n\n")[0]
    raise AssertionError(f"{file} has neither an `app` nor the command")


if __name__ == "__main__":
    sys.exit(main())

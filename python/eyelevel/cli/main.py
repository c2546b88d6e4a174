"""The command's entry: its subcommands, and how errors end it."""

import sys

import typer

from eyelevel.cli import doctor, list_presets, load, replay, report, run, site
from eyelevel.cli.output import complain
from eyelevel.lab import LabError
from eyelevel.plan import PlanError
from eyelevel.store import StoreError

EXIT_FAILED = 1
EXIT_INTERRUPTED = 130

app = typer.Typer(
    name="eyelevel",
    help="Compares web protocol stacks at eye level: recorded sites, an emulated network, a real "
    "browser.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("run")(run.run)
app.command("load")(load.load)
app.command("replay")(replay.replay)
app.command("report")(report.report)
app.command("list")(list_presets.list_presets)
app.command("doctor")(doctor.doctor)
app.add_typer(site.app, name="site")


def main() -> int:
    """Run the command line; every expected failure is one clear line and an exit status."""
    try:
        # Outside of standalone mode a subcommand's exit status is what the call returns.
        status = app(standalone_mode=False)
    except (PlanError, LabError, StoreError) as error:
        complain(str(error))
        return EXIT_FAILED
    except OSError as error:
        complain(f"{error.strerror}: {error.filename}" if error.filename else str(error))
        return EXIT_FAILED
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
    return status if isinstance(status, int) else 0


if __name__ == "__main__":
    sys.exit(main())

"""`eyelevel path`: any command behind an emulated path, and what to do with the path's logs."""

import json
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from eyelevel.cli.output import hints
from eyelevel.cli.path_cross import CROSS_FILE, CROSS_HELP, cross_of_options, print_flows
from eyelevel.cli.path_far import far_command
from eyelevel.cli.path_fates import fates
from eyelevel.cli.path_plot import plot
from eyelevel.cli.path_signals import drop_waiting, heard, relayed, signals_held
from eyelevel.cli.path_stages import path_of_options
from eyelevel.cli.path_watch import WATCH_INTERVAL_MS, LiveView
from eyelevel.lab import Lab, LabConfig, LabError, LabSummary, Ready
from eyelevel.networks.fairness import fairness

SHELL = "/bin/sh"

LATENESS_US_MAX = 1000.0
"""Half the packets' worth of a millisecond late at p99 is worth a line: Mahimahi's own grain."""


class _ShellFirst(TyperGroup):
    """`eyelevel path ...` means `eyelevel path shell ...` unless another subcommand is named."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if not args or args[0] not in self.commands:
            args = ["shell", *args]
        return super().parse_args(ctx, args)


app = typer.Typer(
    cls=_ShellFirst,
    help="Run a command behind an emulated path; plot what the path logged.",
)
app.command("plot")(plot)
app.command("fates")(fates)


# The command's own options must not be taken for ours, with or without `--` before it.
@app.command("shell", context_settings={"allow_interspersed_args": False})
def shell(
    command: Annotated[
        list[str] | None, typer.Argument(help="The command; without one, $SHELL.")
    ] = None,
    down: Annotated[
        str, typer.Option(help='Stages toward the client: "delay 20ms, rate 10 Mbit/s, loss 1%".')
    ] = "none",
    up: Annotated[str, typer.Option(help="Stages toward the far end.")] = "none",
    network: Annotated[
        str | None, typer.Option(help="A preset as well: see `eyelevel list networks`.")
    ] = None,
    rtt: Annotated[
        str | None, typer.Option(help="Minimum round trip, half of it each way: 40ms.")
    ] = None,
    trace_down: Annotated[
        str | None, typer.Option(help="A packet-delivery trace in Mahimahi's format.")
    ] = None,
    trace_up: Annotated[str | None, typer.Option(help="The same toward the far end.")] = None,
    far: Annotated[
        str | None, typer.Option(help='A shell command for the far end, such as "iperf3 -s".')
    ] = None,
    internet: Annotated[
        bool, typer.Option("--internet", help="Let the far end reach this host's network (root).")
    ] = False,
    cross: Annotated[list[str] | None, typer.Option(help=CROSS_HELP)] = None,
    log: Annotated[
        Path | None, typer.Option(help="Write every packet's fate into this folder.")
    ] = None,
    watch: Annotated[
        bool, typer.Option("--watch", help="Show rates, queues and drops while CMD runs.")
    ] = False,
    seed: Annotated[int, typer.Option(min=0, help="Decides all that is random.")] = 1,
) -> None:
    """Run a command behind an emulated path, or $SHELL; its exit status is passed on.

    Stages stand in the order in which a packet meets them. A direction consists of the preset's
    stages, then the delay of --rtt, the trace and the stages of --down or --up; seen from the
    client, up is the mirror image. EYELEVEL_FAR and EYELEVEL_FAR6 are the far end's addresses.
    `eyelevel path plot DIR` draws what --log wrote.
    """
    if watch and not command:
        raise LabError(
            "--watch and a shell would share one terminal; give the command to watch after `--`"
        )
    cross_traffic = cross_of_options(cross or [])
    path = path_of_options(network, rtt, (down, up), (trace_down, trace_up))
    config = LabConfig(
        path,
        seed,
        log=str(log) if log else None,
        watch_interval_ms=WATCH_INTERVAL_MS if watch else None,
        internet=internet,
        cross_traffic=tuple(kind.as_lab() for kind in cross_traffic),
    )
    view = LiveView() if watch else None
    with signals_held():
        with Lab(config, view.update if view else None) as lab:
            environment = _environment(lab.ready)
            with far_command(far, lab.server_command_prefix, environment):
                wanted = command or [os.environ.get("SHELL") or SHELL]
                status = heard() or _run([*lab.command_prefix, *wanted], environment, view)
            summary = lab.stop()
        drop_waiting()
    _tell_cross_traffic(summary, log)
    _remark(summary, log)
    raise typer.Exit(status)


def _environment(ready: Ready) -> dict[str, str]:
    environment = dict(os.environ)
    if outer := environment.get("EYELEVEL_FAR"):
        environment["EYELEVEL_OUTER_FAR"] = outer
    environment["EYELEVEL_FAR"] = ready.server_address
    environment["EYELEVEL_FAR6"] = ready.server_address6 or ""
    # bash reads its own prompt from a file; this is what it runs before it shows one.
    environment["PROMPT_COMMAND"] = 'PS1="[path] $PS1"; unset PROMPT_COMMAND'
    return environment


def _run(command: list[str], environment: Mapping[str, str], view: LiveView | None) -> int:
    """The command's exit status; signals are the command's to handle."""
    output = subprocess.PIPE if view else None
    process = subprocess.Popen(
        command, env=dict(environment), stdout=output, stderr=output and subprocess.STDOUT
    )
    with relayed(process):
        return view.follow(process) if view else process.wait()


def _tell_cross_traffic(summary: LabSummary, log: Path | None) -> None:
    if summary.cross_traffic is None:
        return
    index = fairness(summary.cross_traffic["flows"])
    found = {**summary.cross_traffic, "fairness_index": index}
    if log:
        text = json.dumps(found) + "\n"
        (log / CROSS_FILE).write_text(text, encoding="utf-8")
    print_flows(found, hints)


def _remark(summary: LabSummary, log: Path | None) -> None:
    """Whatever makes the run less than it seems, and where its log is."""
    for direction in ("down", "up"):
        seen = (summary.path or {}).get(direction) or {}
        late_us = seen.get("lateness_us_p99") or 0.0
        if late_us > LATENESS_US_MAX:
            hints.print(
                f"eyelevel: {direction}: the machine was too busy, 1 in 100 packets left "
                f"{late_us / 1000:.1f} ms late or more",
                style="yellow",
                soft_wrap=True,
            )
        if lost := seen.get("log_lost_records"):
            hints.print(
                f"eyelevel: {direction}: the disk did not keep up, {lost} records of the log are "
                "missing",
                style="yellow",
                soft_wrap=True,
            )
    if log:
        hints.print(f"log: {log}; draw it: eyelevel path plot {log}", soft_wrap=True, markup=False)


__all__ = ["app", "shell"]

"""The group `eyelevel path`: any command behind an emulated path, and tools for its logs.

Draw a path's log as a chart and print it as numbers (`eyelevel path plot`).
"""

import os
import sys
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup

from eyelevel.base.json_types import JsonObject
from eyelevel.cli.finish import OpenOption, end_at
from eyelevel.cli.output import WARNING_STYLE, hints, print_json, results, table
from eyelevel.lab.binary import find_binary
from eyelevel.store.disk import write_result

OWN_FILES = ("down.log", "up.log")
PNG_SCALE = 2  # sharp on screens with two pixels per point


class Kind(StrEnum):
    """File formats of a chart."""

    svg = ".svg"
    png = ".png"


def plot(
    log: Annotated[
        Path, typer.Argument(help="A folder written by --log, or one log, which may be Mahimahi's.")
    ],
    out: Annotated[
        Path | None,
        typer.Option(help="The chart to write, .svg or .png; by default beside the log."),
    ] = None,
    open_: OpenOption = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the numbers as JSON.")] = False,
) -> None:
    """Draw throughput against capacity, and queueing delay, over time; print both as numbers."""
    # Imported here: importing charts takes longer than starting a path (see cli/main.py).
    from eyelevel.analysis.pathlog import read_log, summarise
    from eyelevel.base.errors import PathLogError
    from eyelevel.base.from_outside.files import read_bytes
    from eyelevel.base.from_outside.limits import PATH_LOG
    from eyelevel.base.from_outside.source import Source
    from eyelevel.report.charts.connection_charts import path_chart

    out = out or (log / "path.svg" if log.is_dir() else log.with_name(log.name + ".svg"))
    if out.suffix not in [kind.value for kind in Kind]:
        raise PathLogError(f"--out {out}: a chart is .svg or .png; give the name that ending")
    files = [log]
    if log.is_dir():
        files = [log / name for name in OWN_FILES if (log / name).exists()]
        if not files:
            raise PathLogError(
                f"{log}: neither {' nor '.join(OWN_FILES)} is in this folder; "
                "give what `eyelevel path --log` wrote"
            )
    sources = [Source(str(file), PATH_LOG, PathLogError) for file in files]
    logs = [
        read_log(read_bytes(file, source), str(file))
        for file, source in zip(files, sources, strict=True)
    ]
    _write(path_chart(logs, str(log)), out)
    summaries = [asdict(summarise(log_)) for log_ in logs]
    if as_json:
        print_json({"chart": str(out), "directions": summaries})
        end_at("chart", out, opens=open_, as_json=True)
        return
    listing = table("", *(summary["direction"] for summary in summaries))
    for title, key, scale in _ROWS:
        listing.add_row(title, *(_text(summary[key], scale) for summary in summaries))
    results.print(listing)
    for summary in summaries:
        if summary["log_lost_records"]:
            hints.print(
                f"{summary['direction']}: {summary['log_lost_records']} records are missing "
                "because the disk did not keep up; the numbers cover the rest",
                style=WARNING_STYLE,
            )
    end_at("chart", out, opens=open_)


def _write(chart: JsonObject, out: Path) -> None:
    import vl_convert

    if out.suffix == Kind.png:
        write_result(out, vl_convert.vegalite_to_png(chart, scale=PNG_SCALE))
    else:
        write_result(out, vl_convert.vegalite_to_svg(chart))


# Title, key in the summary, and factor; None for an unchanged value.
_ROWS: tuple[tuple[str, str, float | None], ...] = (
    ("seconds", "duration_s", 1.0),
    ("packets", "packets", None),
    ("departed", "departed_packets", None),
    ("dropped", "dropped", None),
    ("marked", "marked_packets", None),
    ("throughput Mbit/s", "throughput_bit_s", 1e-6),
    ("capacity Mbit/s", "capacity_bit_s", 1e-6),
    ("utilisation %", "utilisation", 100.0),
    ("queueing delay ms, mean", "queue_delay_ms_mean", 1.0),
    ("p50", "queue_delay_ms_p50", 1.0),
    ("p95", "queue_delay_ms_p95", 1.0),
    ("p99", "queue_delay_ms_p99", 1.0),
    ("largest", "queue_delay_ms_max", 1.0),
    ("lateness µs, p50", "lateness_us_p50", 1.0),
    ("p99", "lateness_us_p99", 1.0),
    ("largest", "lateness_us_max", 1.0),
    ("wait before the read µs, p50", "waited_us_p50", 1.0),
    ("p99", "waited_us_p99", 1.0),
    ("largest", "waited_us_max", 1.0),
    ("without arrival time", "unstamped_reads", None),
)


def _text(value: float | dict[str, int] | None, scale: float | None) -> str:
    if value is None:
        return "-"
    if isinstance(value, dict):
        return ", ".join(f"{count} {reason}" for reason, count in value.items()) or "0"
    return f"{value}" if scale is None else f"{value * scale:.2f}"


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
    from eyelevel.analysis.pathlog import fates_of
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

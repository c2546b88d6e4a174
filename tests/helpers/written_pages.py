"""Every kind of page that eyelevel writes, of made-up data."""

import json
from collections.abc import Callable
from pathlib import Path

import levels
from synthetic_run import metrics_of, write_run

from eyelevel.analysis.connections import Fetched, Timeline, Transport
from eyelevel.analysis.study import read_results
from eyelevel.analysis.two_runs import compare_runs
from eyelevel.probes.analysis import analyse
from eyelevel.probes.reading import read_files
from eyelevel.report.page import build_report
from eyelevel.report.pages.comparison import comparison_page
from eyelevel.report.pages.connection import connection_page
from eyelevel.report.pages.level import level_page
from eyelevel.report.pages.probe import probe_page

GRID = """\
sites = ["a"]
networks = ["das-3-30", "das-3-60", "das-25-30", "das-25-60"]
stacks = ["tcp", "quic"]
reference = "tcp"
blocks = 8
"""


def report(folder: Path) -> Path:
    """A run's report, with a timeout and a block that is excluded."""
    write_run(folder, {("dashboard/lte/1", "tcp"): "timeout", ("startup/dsl/2", "quic"): "starved"})
    return build_report(folder, metrics_of)


def report_of_grid(folder: Path) -> Path:
    """A report that has maps over networks."""
    write_run(folder, text=GRID, noise=0.01)
    return build_report(folder, metrics_of)


def probes(folder: Path) -> Path:
    """The page on a file of probes: three protocols, failures, a CDN and a group of addresses."""
    file = folder / "probes.jsonl"
    row = {"event": "attempt", "address": "192.0.2.1", "at_unix_us": 0, "dns_us": 900}
    row |= {"failure": None, "resumed": False, "split_connection": False}
    lines = []
    for number in range(12):
        own = row | {"host": f"host-{number}.example"}
        if number % 2:
            own |= {"cnames": [f"host-{number}.example.cdn.cloudflare.net"]}
        for protocol, took_ms in (("tls1.3", 60 + number), ("quic", 45 + number), ("tcp", 30)):
            lines.append(own | {"protocol": protocol, "connection_us": 1000 * took_ms})
        lines.append(own | {"protocol": "tls1.2", "connection_us": None, "failure": "refused"})
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    page = file.with_suffix(".html")
    page.write_text(probe_page(analyse(read_files([file]))), encoding="utf-8")
    return page


def connections(folder: Path) -> Path:
    """Two connections on one time axis."""
    page = folder / "connections.html"
    timelines = [_timeline("tcp+", "h2", 1.0), _timeline("quic", "h3", 0.8)]
    page.write_text(
        connection_page(timelines, ("tcp+", "quic"), [("objects", ("12", "12"))]), encoding="utf-8"
    )
    return page


def _timeline(stack: str, protocol: str, speed: float) -> Timeline:
    at_ms = tuple(speed * 20.0 * step for step in range(40))
    objects = tuple(
        Fetched(f"https://a.example/{n}", 50.0 * n, 50.0 * n + 5, 50.0 * n + 60, 50.0 * n + 90, 900)
        for n in range(12)
    )
    transport = Transport(
        at_ms,
        tuple(14_600 + 1460 * step for step in range(40)),
        tuple(9_000 + 1200 * (step % 9) for step in range(40)),
        tuple(None if step == 0 else 40 + step / 8 for step in range(40)),
        ((speed * 300.0, 2), (speed * 420.0, 1)),
    )
    return Timeline(
        stack, 0, protocol, "https", "192.0.2.1", (1.0, 60.0), 30.0, 60.0, objects, transport, {},
        900.0, "lte", "dashboard", "ok", None,
    )  # fmt: skip


def comparison(folder: Path) -> Path:
    """Two runs beside one another."""
    runs = [folder / name for name in ("before", "now")]
    for run in runs:
        run.mkdir()
        write_run(run)
    before, now = (read_results(run, metrics_of) for run in runs)
    compared = compare_runs(before, now, "speed_index_ms", 0.05)
    page = folder / "comparison.html"
    page.write_text(comparison_page("before", "now", compared), encoding="utf-8")
    return page


def level(folder: Path) -> Path:
    """The level of two stacks, with an aspect that is unequal and one that is unknown."""
    page = folder / "level.html"
    measured = levels.level(quic_ecn=1.0) | {"failed": ["page on far, quic: no lab"]}
    page.write_text(level_page(measured), encoding="utf-8")
    return page


PAGES: dict[str, Callable[[Path], Path]] = {
    "report": report,
    "report of a grid": report_of_grid,
    "probes": probes,
    "connections": connections,
    "comparison": comparison,
    "level": level,
}
"""Each kind, by what writes it into an empty folder."""

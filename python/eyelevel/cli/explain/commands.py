"""The group of commands `eyelevel explain`, and `explain stacks`.

Draw one or two connections on one time axis (`eyelevel explain trial`).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, astuple
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text
from typer.core import TyperGroup

from eyelevel.analysis.conditions import list_planned_stacks
from eyelevel.analysis.connections import Timeline, busiest_connection, timeline_of
from eyelevel.analysis.critical_path import object_waits, path_waits
from eyelevel.analysis.metrics.catalogue import metrics_of
from eyelevel.analysis.metrics.network import cleartext_share
from eyelevel.analysis.study import read_results
from eyelevel.analysis.trials.facts import measure_rows
from eyelevel.analysis.trials.limits import LIMITS
from eyelevel.base.errors import ConnectionLogError, PlanError
from eyelevel.base.json_types import JsonObject
from eyelevel.calibration.level.rows import ExplainedRow, explain, read_known
from eyelevel.calibration.level.text import COMMAND, find_unmeasured, format_stacks
from eyelevel.calibration.level.value_text import NOT_MEASURED
from eyelevel.calibration.measuring.measure import levels_among
from eyelevel.cli.finish import OpenOption, end_at
from eyelevel.cli.network_options import with_network_options
from eyelevel.cli.output import hints, print_json, results, table
from eyelevel.cli.values import get_stack
from eyelevel.load.traces import read_stages
from eyelevel.plan.in_force import stack_in_force
from eyelevel.plan.networks.compose import NetworkWords, compose
from eyelevel.plan.networks.network import Network
from eyelevel.plan.origin_rtts import apart_by_ways_alone
from eyelevel.plan.stack_presets import STACKS_BY_NAME
from eyelevel.plan.stacks import Stack
from eyelevel.report.pages.connection import connection_page
from eyelevel.store.directory import StoredTrial, has_record, read_trial
from eyelevel.store.disk import write_result

TRIALS_MAX = 2


def trial(
    trials: Annotated[
        list[Path],
        typer.Argument(
            help="One trial or two: DIR/trials/HASH, or DIR if it holds only one.",
            metavar="TRIAL",
        ),
    ],
    connection: Annotated[
        str,
        typer.Option(
            help=(
                "The numbers of the connections, such as `3` or `3,0`; by default the one of each "
                "load that its first paint waited for longest."
            )
        ),
    ] = "",
    out: Annotated[
        Path | None,
        typer.Option(
            help="The page to write; by default HASH.html or HASH-HASH.html in this folder."
        ),
    ] = None,
    open_: OpenOption = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the numbers as JSON.")] = False,
) -> None:
    """Draw the connections of one or two loads on one time axis, and print their numbers.

    The page needs no network. It shows handshake, objects, congestion window, bytes in flight,
    round trips and losses. All but handshake and objects need logs: `logs = ["qlog",
    "tcp-info"]` in a plan, or `eyelevel load --logs qlog,tcp-info --out DIR`.
    """
    if len(trials) > TRIALS_MAX:
        raise typer.BadParameter(f"name one trial or two, not {len(trials)}")
    stored = [_read(path) for path in trials]
    numbers = _numbers(connection, len(stored))
    timelines = [
        timeline_of(trial, critical_connection(trial) if number is None else number)
        for trial, number in zip(stored, numbers, strict=True)
    ]
    names = _names(timelines)
    target = out or Path("-".join(trial.path.name for trial in stored) + ".html")
    paints = [_paint_of(trial) for trial in stored]
    rows_shown = [(title, [text(rows_shown) for rows_shown in timelines]) for title, text in _ROWS]
    waits = [_waits_of(trial) for trial in stored]
    for rows, found in ((_PAINT, paints), (_WAITS, waits)):
        rows_shown += [(title, [_round(each[name]) for each in found]) for name, title in rows]
    shares = [cleartext_share(trial.record) for trial in stored]
    rows_shown.append(
        ("bytes of the load in cleartext", ["-" if s is None else f"{s:.0%}" for s in shares])
    )
    write_result(target, connection_page(timelines, names, rows_shown))
    if as_json:
        lines = [
            _numbers_of(timeline) | paint | wait | {"cleartext_share": share}
            for timeline, paint, wait, share in zip(timelines, paints, waits, shares, strict=True)
        ]
        print_json({"page": str(target), "connections": lines})
    else:
        grid = table("", *names)
        for title, values in rows_shown:
            grid.add_row(title, *values)
        results.print(grid)
    for trial, timeline in zip(stored, timelines, strict=True):
        if timeline.transport is None:
            kind = "qlog" if timeline.protocol == "h3" else "tcp-info"
            hints.print(
                f"{trial.path.name} has no {kind} log: window, flight, round trips and losses are "
                f"missing; load it with --logs {kind}",
                markup=False,
            )
    end_at("page", target, opens=open_, as_json=as_json)


def _read(path: Path) -> StoredTrial:
    if not has_record(path):
        path = only_trial(path)
    resolved = path.resolve()
    return read_trial(resolved.parent.parent, resolved.name)


def only_trial(folder: Path) -> Path:
    """Return the only trial in a folder written by `eyelevel load --out`."""
    within = sorted(path for path in (folder / "trials").glob("*") if has_record(path))
    if len(within) == 1:
        return within[0]
    if not within:
        raise ConnectionLogError(
            f"reading {folder}: it is not a trial; give DIR/trials/HASH of a run or of "
            "`eyelevel load --out DIR`"
        )
    raise ConnectionLogError(
        f"reading {folder}: it holds {len(within)} trials; name one, such as {within[0]}"
    )


def _numbers(text: str, count: int) -> list[int | None]:
    if not text:
        return [None] * count
    parts = text.split(",")
    if not all(part.strip().isdecimal() for part in parts) or len(parts) > count:
        raise typer.BadParameter(
            f"--connection {text}: give one number per trial, such as 3 or 3,0"
        )
    numbers: list[int | None] = [int(part) for part in parts]
    return numbers + [None] * (count - len(numbers))


def _names(timelines: Sequence[Timeline]) -> list[str]:
    names = [f"{timeline.stack}, connection {timeline.connection}" for timeline in timelines]
    if len(set(names)) < len(names):
        names = [f"{name} ({letter})" for name, letter in zip(names, "AB", strict=False)]
    return names


def _numbers_of(timeline: Timeline) -> JsonObject:
    transport, opened = timeline.transport, timeline.opened
    known = [rtt for rtt in transport.rtt_ms if rtt is not None] if transport else []
    return {
        "stack": timeline.stack,
        "network": timeline.network,
        "outcome": timeline.outcome,
        "connection": timeline.connection,
        "protocol": timeline.protocol,
        "scheme": timeline.scheme,
        "address": timeline.address,
        "connect_ms": timeline.connect_ms,
        "accepted_ms": timeline.accepted_ms,
        "ready_ms": timeline.ready_ms,
        "objects": len(timeline.objects),
        "body_bytes": sum(item.body_bytes for item in timeline.objects),
        "sent_packets": timeline.in_force["sent_packets"],
        "lost_packets": timeline.in_force["retransmitted_packets"],
        **{name: timeline.in_force[name] for name in LIMITS},
        "window_bytes_max": max(transport.window_bytes, default=None) if transport else None,
        "in_flight_bytes_max": max(transport.in_flight_bytes, default=None) if transport else None,
        "rtt_ms_min": timeline.in_force["rtt_ms_min"],
        "rtt_ms_smoothed_max": max(known, default=None),
        "page_load_time_ms": timeline.page_load_time_ms,
        "connections_opened": opened.connections if opened else None,
        "unused_connections": opened.unused if opened else None,
        "connections_ended_in_handshake": opened.in_handshake if opened else None,
        "unused_connection_bytes": opened.bytes if opened else None,
    }


_PAINT = (
    ("largest_contentful_paint_ms", "largest contentful paint, ms"),
    ("time_to_first_byte_ms", "of it to the first byte"),
    ("lcp_resource_load_delay_ms", "of it resource load delay"),
    ("lcp_resource_load_duration_ms", "of it resource load duration"),
    ("lcp_element_render_delay_ms", "of it element render delay"),
)


def _paint_of(trial: StoredTrial) -> dict[str, float | None]:
    """Return the load's Largest Contentful Paint and its parts, by the names of the metrics."""
    found = metrics_of(trial.record, ())
    return {name: found[name] for name, _ in _PAINT}


_WAITS = (
    ("first_paint_ms", "first paint, ms"),
    ("first_paint_handshakes", "handshakes on its critical path"),
    ("first_paint_connections_ms", "of it waiting for connections"),
    ("first_paint_first_byte_ms", "of it waiting for first bytes"),
    ("first_paint_bytes_ms", "of it waiting for bytes"),
    ("first_paint_rest_ms", "of it in the browser"),
)


def _waits_of(trial: StoredTrial) -> dict[str, float | None]:
    """Return the first paint and the waits on its critical path; None without a paint."""
    paint_ms = (trial.record["navigation"] or {}).get("first_paint_ms")
    names = [name for name, _ in _WAITS]
    if paint_ms is None:
        return dict.fromkeys(names)
    waits = path_waits(trial.record["objects"], paint_ms)
    return dict(zip(names, (paint_ms, *astuple(waits)), strict=True))


def critical_connection(trial: StoredTrial) -> int:
    """Return the number of the connection that the first paint waited for longest.

    If the page never painted, or the critical path came from a cache, it is the one that sent most.
    Raises `ConnectionLogError` if the load had no connection.
    """
    record = trial.record
    paint_ms = (record["navigation"] or {}).get("first_paint_ms")
    waits = [] if paint_ms is None else object_waits(record["objects"], paint_ms)
    served = {request["url"]: request["connection"] for request in record["requests"]}
    totals: dict[int, float] = {}
    for each in waits:
        connection = served.get(record["objects"][each.place]["url"])
        if connection is not None:
            totals[connection] = totals.get(connection, 0.0) + each.total_ms
    known = {each["connection"] for each in record["connections"]}
    waited = {each: total for each, total in totals.items() if each in known}
    return max(waited, key=waited.__getitem__) if waited else busiest_connection(trial)


def _round(value: float | None) -> str:
    return "-" if value is None else f"{value:.0f}"


def _of(key: str, form: str = "{}", scale: float = 1.0) -> Callable[[Timeline], str]:
    def text(timeline: Timeline) -> str:
        value = _numbers_of(timeline)[key]
        return "-" if value is None else form.format(value * scale if scale != 1.0 else value)

    return text


def _protocol(timeline: Timeline) -> str:
    text = "in cleartext: the origin was recorded over http"
    return f"{timeline.protocol} {text}" if timeline.scheme == "http" else timeline.protocol


def _handshake(timeline: Timeline) -> str:
    if timeline.connect_ms is None:
        return "before any object waited"
    start, end = timeline.connect_ms
    return f"{start:.0f} to {end:.0f} ms"


_ROWS: tuple[tuple[str, Callable[[Timeline], str]], ...] = (
    ("network", _of("network")),
    ("protocol", _protocol),
    ("address", _of("address")),
    ("outcome", _of("outcome")),
    ("connecting (browser)", _handshake),
    ("known to the server, ms", _of("accepted_ms", "{:.1f}")),
    ("handshake complete, ms", _of("ready_ms", "{:.1f}")),
    ("objects", _of("objects")),
    ("bodies, kB", _of("body_bytes", "{:.1f}", 1e-3)),
    ("packets sent", _of("sent_packets")),
    ("lost or sent again", _of("lost_packets")),
    ("browser's window full, ms", _of("receive_window_limited_ms", "{:.1f}")),
    ("send buffer empty, ms", _of("send_buffer_limited_ms", "{:.1f}")),
    ("unsent, largest, kB", _of("unsent_bytes_max", "{:.1f}", 1e-3)),
    ("window, largest, kB", _of("window_bytes_max", "{:.1f}", 1e-3)),
    ("in flight, largest, kB", _of("in_flight_bytes_max", "{:.1f}", 1e-3)),
    ("round trip, least, ms", _of("rtt_ms_min", "{:.1f}")),
    ("round trip, smoothed, largest, ms", _of("rtt_ms_smoothed_max", "{:.1f}")),
    ("page load time, ms", _of("page_load_time_ms", "{:.0f}")),
    ("connections of the load", _of("connections_opened")),
    ("connections without a request", _of("unused_connections")),
    ("of these ended in the handshake", _of("connections_ended_in_handshake")),
    ("bytes on those without a request", _of("unused_connection_bytes")),
)


DEFAULT = ("tcp", "tcp+", "quic")


class _TrialByDefault(TyperGroup):
    """A group that runs `explain TRIAL` as `explain trial TRIAL`, unless a subcommand is named."""

    def resolve_command(self, ctx, args):  # type: ignore[no-untyped-def]
        """Resolve a command as click does, inserting the default subcommand if none is named."""
        if args and args[0] not in self.commands and not args[0].startswith("-"):
            args = ["trial", *args]
        return super().resolve_command(ctx, args)


app = typer.Typer(
    help=(
        "Explain why results can differ, between loads (explain TRIAL [TRIAL]) or between stacks."
    ),
    no_args_is_help=True,
    cls=_TrialByDefault,
)
app.command("trial")(trial)


@app.command("stacks")
@with_network_options()
def stacks(
    names: Annotated[
        list[str] | None, typer.Argument(help="The stacks; by default tcp, tcp+ and quic.")
    ] = None,
    words: NetworkWords = NetworkWords(),  # noqa: B008 (frozen)
    run: Annotated[
        Path | None,
        typer.Option(help="A run: show its stacks and what its loads measured."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show how stacks are set and what this machine measured of them, differences first.

    Settings are those in force on the network, since buffers depend on it. Measured values, and
    whether they count as equal, come from `eyelevel validate level` for pairs of these stacks,
    or from a run.
    """
    planned: Mapping[str, Stack] = {}
    if run is None:
        on = compose(words, read_stages).network
        stacks = [get_stack(name) for name in names or DEFAULT]
        columns = [stack.name for stack in stacks]
        levels = levels_among(stacks)
        rows = explain(
            [stack_in_force(preset, on) for preset in stacks], read_known(levels, columns)
        )
    elif given := words.given():
        raise PlanError([f"{next(iter(given))}: a run has its own networks; leave this option out"])
    else:
        on, columns, levels, rows, planned = _of_run(run)
    if as_json:
        rows_json = [_row_json(columns, row) for row in rows]
        print_json({"stacks": columns, "network": on.name, "aspects": rows_json})
        return
    for line in format_stacks(columns, rows, levels, results.width):
        results.print(Text(line.text, line.style), soft_wrap=True)
    hints.print(f"in force on {on.name}: {on.described()}", markup=False, soft_wrap=True)
    if missing := find_unmeasured(columns, rows):
        warning = f"{NOT_MEASURED} on this machine: {', '.join(missing)}"
        hints.print(
            f"{warning}{_describe_measuring(columns, missing[0], planned)}",
            markup=False,
            soft_wrap=True,
        )


def _describe_measuring(names: Sequence[str], missing: str, planned: Mapping[str, Stack]) -> str:
    """Return the command that measures a stack against the first other one.

    Stacks that are not presets need a plan. A stack of `planned` that differs only in its origins'
    round trips does not count as another one.
    """
    if len(names) == 1:
        return ""
    others = [
        name
        for name in names
        if name != missing
        and not (planned and apart_by_ways_alone(planned[name], planned[missing]))
    ]
    if not others:
        return "; they differ only in the paths to their origins, so there is nothing to measure"
    pair = (missing, others[0]) if missing == names[0] else (others[0], missing)
    plan = "" if set(pair) <= STACKS_BY_NAME.keys() else " --plan PLAN"
    return f"; {COMMAND} --stacks {','.join(pair)}{plan} measures {pair[0]} and {pair[1]}"


def _row_json(columns: Sequence[str], row: ExplainedRow) -> JsonObject:
    """Return a row as JSON, with null for values that were not measured."""
    values = [None if value == NOT_MEASURED else value for value in row.values]
    return {**asdict(row), "values": dict(zip(columns, values, strict=True))}


def _of_run(
    directory: Path,
) -> tuple[Network, list[str], list[JsonObject], list[ExplainedRow], Mapping[str, Stack]]:
    """Return what a run has on its stacks.

    These are its first network, the stacks' names, the measured level, their rows with the values
    measured by its loads, and the planned stacks by name.
    """
    study = read_results(directory)
    loaded = set(study.table["stack"])
    stacks = [stack for stack in study.stacks if stack in loaded]
    levels = [
        level
        for level in study.environment.get("levels") or []
        if {level["first"], level["second"]} <= set(stacks)
    ]
    planned = {stack.name: stack for stack in list_planned_stacks(study.plan)}
    on = study.plan.networks[0]
    rows = explain(
        [stack_in_force(planned[stack], on) for stack in stacks], read_known(levels, stacks)
    )
    for aspect, values in measure_rows(study.table, stacks):
        rows.append(ExplainedRow(aspect, "", "measured", tuple(values), None))
    by_name = {stack.name: stack for stack in study.plan.stacks}
    return on, stacks, levels, rows, by_name

"""`eyelevel validate stacks`: does our QUIC move bulk data as the kernel's TCP does?"""

from collections.abc import Sequence
from dataclasses import asdict
from enum import StrEnum
from typing import Annotated

import typer

from eyelevel.analysis.yardstick import (
    EXPLANATION,
    FLOW_EXPLANATION,
    RATIO_AIM,
    flow_notes,
    flow_row,
    notes,
    row,
)
from eyelevel.cli.output import hints, print_json, results, table
from eyelevel.validation.fine_grid import CONTROLS, fine_grid
from eyelevel.validation.short_flows import Flow, short_flows
from eyelevel.validation.stack_cache import build
from eyelevel.validation.stack_cells import Cell
from eyelevel.validation.stacks import (
    PAIRS,
    RUNS,
    fast_presets,
    grid,
    network_of,
    presets,
    validate_stacks,
)


class Control(StrEnum):
    """The congestion controls that kernel and QUIC both have, as the presets name them."""

    cubic = "cubic"
    bbr = "bbr"


def stacks(
    network: Annotated[
        list[str] | None,
        typer.Option(help="A preset network, or a cell of the grid as 40ms-1.0%; again for more."),
    ] = None,
    congestion_control: Annotated[
        Control | None, typer.Option(help="One alone; default: each.")
    ] = None,
    grid_too: Annotated[
        bool, typer.Option("--grid/--no-grid", help="The grid of loss and round trip, too.")
    ] = True,
    fine: Annotated[
        bool,
        typer.Option("--fine", help="Instead: a finer grid of our controllers, in virtual time."),
    ] = False,
    flows: Annotated[
        bool,
        typer.Option("--flows", help="Instead: 10 kB to 1 MB, to their last byte."),
    ] = False,
    runs: Annotated[
        int | None,
        typer.Option(
            min=1, max=100, help="Of each stack in each cell; flows: 9, where packets are lost 31."
        ),
    ] = None,
    jobs: Annotated[int, typer.Option(min=1, max=64, help="Cells that are measured at once.")] = 1,
    fresh: Annotated[bool, typer.Option("--fresh", help="Measure again what is cached.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Move 10 MB, or 30 s, over kernel TCP and our QUIC with the same congestion control.

    Over seven preset networks (the two of 105 and 220 Mbit/s move what they carry in 3.2 s, with
    their courses and at an even rate) and a grid of one-way loss (0 to 6 %) and round trip (10 to
    760 ms).
    Goodputs are medians, corrected for what headers take; the ratio is QUIC's to TCP's, with its
    95 % interval. Lossy networks are run until each side has repeated 100 packets. Results are
    cached for this build and kernel: an interrupted run goes on where it was. All cells take hours
    (`--jobs` measures several at once, each in labs of its own); a report of a run made afterwards
    prints them in its appendix.
    """
    if fine:
        _fine([congestion_control] if congestion_control else CONTROLS, as_json)
        return
    chosen = [network_of(name) for name in network] if network else presets()
    if not network and not flows:
        chosen += [*fast_presets(), *(grid() if grid_too else [])]
    pairs = [
        pair
        for control, pair in zip(Control, PAIRS, strict=True)
        if congestion_control in (None, control)
    ]
    on_step = lambda step: hints.print(f"measuring {step}")  # noqa: E731
    if flows:
        _flows(short_flows(chosen, pairs, runs, on_step, fresh=fresh, jobs=jobs), as_json)
        return
    cells = validate_stacks(chosen, pairs, runs or RUNS, on_step, fresh=fresh, jobs=jobs)
    if as_json:
        print_json({**build(), "cells": [cell.as_json() for cell in cells]})
    else:
        _print(cells)


def _print(cells: Sequence[Cell]) -> None:
    numbers = ("TCP Mbit/s", "QUIC Mbit/s", "ratio", "95 %", "repeated %", "queue p95 ms")
    shown = table("network", "control", *numbers, "", right=numbers)
    for cell in cells:
        shown.add_row(*row(cell.as_json()), ", ".join(notes(cell.as_json())))
    results.print(shown)
    results.print(
        f"\nPairs are TCP / QUIC. The aim without loss is {RATIO_AIM[0]} to {RATIO_AIM[1]}."
    )
    if any(cell.loss for cell in cells):
        results.print(EXPLANATION)


def _flows(flows: Sequence[Flow], as_json: bool) -> None:
    if as_json:
        print_json({**build(), "flows": [flow.as_json() for flow in flows]})
        return
    numbers = ("bytes", "TCP ms", "QUIC ms", "ratio", "95 %", "theory", "repeated")
    shown = table("network", "control", *numbers, "", right=numbers)
    for flow in flows:
        shown.add_row(*flow_row(flow.as_json()), ", ".join(flow_notes(flow.as_json())))
    results.print(shown)
    results.print(f"\n{FLOW_EXPLANATION}")


def _fine(controls: Sequence[str], as_json: bool) -> None:
    cells = fine_grid(controls)
    if as_json:
        print_json({**build(), "cells": [asdict(cell) for cell in cells]})
        return
    for control in controls:
        of_control = [cell for cell in cells if cell.congestion_control == control]
        rtts = dict.fromkeys(f"{cell.rtt_ms_min:g}" for cell in of_control)
        title = f"{control}: Mbit/s of 10, by loss each way and round trip in ms"
        shown = table("loss %", *rtts, title=title, right=("loss %", *rtts))
        for loss in dict.fromkeys(cell.loss for cell in of_control):
            goodputs = [cell.goodput_bit_s for cell in of_control if cell.loss == loss]
            shown.add_row(f"{loss * 100:g}", *(f"{goodput / 1e6:.2f}" for goodput in goodputs))
        results.print(shown)
        results.print()

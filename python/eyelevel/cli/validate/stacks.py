"""Compare bulk transfers of our QUIC with the kernel's TCP (`eyelevel validate stacks`)."""

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
from eyelevel.calibration.validation.fine_grid import CONTROLS, fine_grid
from eyelevel.calibration.validation.short_flows import Flow, short_flows
from eyelevel.calibration.validation.stack_cache import FLOWS, build, folder
from eyelevel.calibration.validation.stack_cells import Cell
from eyelevel.calibration.validation.stacks import (
    PAIRS,
    RUNS,
    fast_presets,
    grid,
    network_of,
    presets,
    validate_stacks,
)
from eyelevel.cli.finish import end_at
from eyelevel.cli.output import hints, print_json, results, table


class Control(StrEnum):
    """Congestion controllers that both kernel and QUIC have, by the presets' names."""

    cubic = "cubic"
    bbr = "bbr"


def stacks(
    network: Annotated[
        list[str] | None,
        typer.Option(help="A preset network, or a cell of the grid such as 40ms-1.0%. Repeatable."),
    ] = None,
    congestion_control: Annotated[
        Control | None, typer.Option(help="Only this congestion control; by default all.")
    ] = None,
    grid_too: Annotated[
        bool, typer.Option("--grid/--no-grid", help="Also measure the grid of loss and round trip.")
    ] = True,
    fine: Annotated[
        bool,
        typer.Option(
            "--fine", help="Instead, measure a finer grid of our controllers in virtual time."
        ),
    ] = False,
    flows: Annotated[
        bool,
        typer.Option(
            "--flows", help="Instead, time transfers of 10 kB to 1 MB to their last byte."
        ),
    ] = False,
    runs: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=100,
            help="Runs of each stack in each cell; with --flows 9, or 31 if packets are lost.",
        ),
    ] = None,
    jobs: Annotated[
        int, typer.Option(min=1, max=64, help="How many cells are measured at once.")
    ] = 1,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Measure again, even what is cached.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Compare bulk transfers over the kernel's TCP and our QUIC with the same congestion control.

    Transfers last 10 MB or 30 s, over seven preset networks and, with --grid, over a grid of
    one-way loss (0 to 6 %) and round trip (10 to 760 ms). The two networks of 105 and 220
    Mbit/s move what they carry in 3.2 s, with varying and with constant rate. Goodputs are
    medians, corrected for headers; the ratio is QUIC's over TCP's, with its 95 % interval.
    Lossy networks are run until each side has retransmitted 100 packets. Results are cached for
    this build and kernel, and an interrupted run continues where it stopped. All cells take
    hours (`--jobs` measures several at once, each in its own labs); reports of later runs print
    them in an appendix.
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
        end_at("kept", folder() / FLOWS, as_json=as_json)
        return
    cells = validate_stacks(chosen, pairs, runs or RUNS, on_step, fresh=fresh, jobs=jobs)
    if as_json:
        print_json({**build(), "cells": [cell.as_json() for cell in cells]})
    else:
        _print(cells)
    end_at("kept", folder(), as_json=as_json)


def _print(cells: Sequence[Cell]) -> None:
    numbers = ("TCP Mbit/s", "QUIC Mbit/s", "ratio", "95 %", "repeated %", "queue p95 ms")
    shown = table("network", "control", *numbers, "", right=numbers)
    for cell in cells:
        shown.add_row(*row(cell.as_json()), ", ".join(notes(cell.as_json())))
    results.print(shown)
    results.print(
        f"\nPairs are TCP / QUIC. Without loss the ratio should be {RATIO_AIM[0]} to "
        f"{RATIO_AIM[1]}."
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

"""`eyelevel validate stacks`: does our QUIC move bulk data as the kernel's TCP does?"""

import platform
from dataclasses import asdict
from enum import StrEnum
from typing import Annotated

import typer

from eyelevel.cli.output import hints, print_json, results, table
from eyelevel.networks import find_network
from eyelevel.run.stack_validation import PAIRS, RUNS, Cell, grid, presets, validate_stacks

RATIO_AIM = (0.9, 1.1)
"""Of networks without loss."""


class Control(StrEnum):
    """The congestion controls that kernel and QUIC both have, as the presets name them."""

    cubic = "cubic"
    bbr = "bbr"


def stacks(
    network: Annotated[
        list[str] | None, typer.Option(help="A network; again for more. Default: five presets.")
    ] = None,
    congestion_control: Annotated[
        Control | None, typer.Option(help="One alone; default: each.")
    ] = None,
    grid_too: Annotated[
        bool, typer.Option("--grid", help="The grid of loss and round trip; takes hours.")
    ] = False,
    runs: Annotated[int, typer.Option(min=1, max=100, help="Of each stack in each cell.")] = RUNS,
    fresh: Annotated[bool, typer.Option("--fresh", help="Measure again what is cached.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Move 10 MB, or 30 s, over kernel TCP and our QUIC with the same congestion control.

    Goodputs are medians, corrected for what headers take; the ratio is QUIC's to TCP's, with its
    95 % interval. Results are cached for this build and kernel.
    """
    chosen = [find_network(name) for name in network] if network else []
    if not chosen:
        chosen = grid() if grid_too else presets()
    pairs = [
        pair
        for control, pair in zip(Control, PAIRS, strict=True)
        if congestion_control in (None, control)
    ]
    cells = validate_stacks(
        chosen, pairs, runs, lambda step: hints.print(f"measuring {step}"), fresh=fresh
    )
    if as_json:
        print_json({"kernel": platform.release(), "cells": [asdict(cell) for cell in cells]})
    else:
        _print(cells)


def _print(cells: list[Cell]) -> None:
    numbers = ("TCP Mbit/s", "QUIC Mbit/s", "ratio", "95 %", "repeated %", "queue ms p95")
    made = table("network", "control", *numbers, "", right=numbers)
    for cell in cells:
        sides = (cell.tcp, cell.quic)
        rates = [f"{side.corrected_bit_s / 1e6:.3f}" for side in sides]
        repeated = " / ".join(f"{side.retransmitted_share * 100:.2f}" for side in sides)
        delays = " / ".join(
            "-" if side.queue_delay_ms_p95 is None else f"{side.queue_delay_ms_p95:.0f}"
            for side in sides
        )
        low, high = cell.ratio_low, cell.ratio_high
        made.add_row(
            cell.network,
            cell.congestion_control,
            *rates,
            "-" if cell.ratio is None else f"{cell.ratio:.3f}",
            "-" if low is None or high is None else f"{low:.3f} to {high:.3f}",
            repeated,
            delays,
            "few losses" if cell.few_losses else "",
        )
    results.print(made)
    hints.print(
        f"the aim without loss is {RATIO_AIM[0]} to {RATIO_AIM[1]}; why they differ: "
        "docs/decisions/congestion-controllers.md"
    )

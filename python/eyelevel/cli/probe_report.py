"""`eyelevel probe report`: the figures of the thesis's chapter 4 from files of probes."""

from pathlib import Path
from typing import Annotated

import typer

from eyelevel.cli.output import print_json, results, table
from eyelevel.probes.analysis import analyse
from eyelevel.probes.reading import read_files
from eyelevel.report.probe_page import write_probe_page

QUANTILES = ("p5_ms", "p25_ms", "p50_ms", "p75_ms", "p95_ms")


def report(
    files: Annotated[list[Path], typer.Argument(help="JSON lines, Parquet, thesis CSVs.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print the numbers as JSON.")] = False,
    page: Annotated[Path | None, typer.Option(help="Write the offline page here.")] = None,
) -> None:
    """Connection times, their paired differences and DNS times, from one or many vantage points."""
    analysis = analyse(read_files(files))
    written = write_probe_page(page, analysis) if page else None
    if as_json:
        print_json(analysis.as_json() | {"page": str(written) if written else None})
        return
    shown = table("file", "A - B", "pairs", "hosts", *QUANTILES, "above 0", right=QUANTILES)
    for pair in analysis.pairs:
        low, high = pair["intervals_95"]["share_above_0"]
        interval = "" if low is None else f" [{low:.1%}, {high:.1%}]"
        shown.add_row(
            Path(pair["file"]).name,
            f"{pair['a']} - {pair['b']}",
            str(pair["n"]),
            str(pair["hosts"]),
            *(f"{pair[name]:.3f}" for name in QUANTILES),
            f"{pair['share_above_0']:.1%}{interval}",
        )
    results.print(shown)
    results.print("positive: B is faster; intervals of 95% over hosts", style="dim")
    if written:
        results.print(f"page: {written}", soft_wrap=True)

"""Describe, convert and generate packet-delivery traces (`eyelevel trace`).

Convert other tools' recordings of links to traces and stages (`eyelevel trace import`).
"""

import filecmp
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from numpy.typing import NDArray

from eyelevel.base.errors import TraceError
from eyelevel.base.from_outside.files import read_bytes, text_of
from eyelevel.base.from_outside.limits import TRACE
from eyelevel.base.from_outside.source import Source
from eyelevel.base.from_outside.words import escape_control_characters
from eyelevel.base.json_types import JsonObject
from eyelevel.cli.finish import end_at
from eyelevel.cli.output import hints, print_json, results, say, table
from eyelevel.plan.traces.delay_rate import format_rates, parse_rates
from eyelevel.plan.traces.imported import OPPORTUNITIES, SERIES, Imported, form_of, import_traces
from eyelevel.plan.traces.info import BIN_MS, OUTAGE_MS, trace_info
from eyelevel.plan.traces.mahimahi import format_mahimahi, parse_mahimahi
from eyelevel.plan.traces.models import synthesise
from eyelevel.plan.traces.rates import opportunities_of, rates_of
from eyelevel.plan.traces.spec import SYNTH_MODELS, SynthSpec
from eyelevel.store.disk import folder_beside, make_folder, write_result, write_synced, writing

_STEERS_STAGES = frozenset(" \t\n,\"'")


def import_(
    files: Annotated[
        list[Path],
        typer.Argument(
            help="The recordings; give CellReplay's light one right before its saturated one."
        ),
    ],
    out: Annotated[Path, typer.Option(help="The folder for the traces that stages replay.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Check other tools' recordings, and write the traces and the text of stages that replay them.

    Takes Mahimahi's packet-delivery traces, CellReplay's two parts, the FCC's
    curr_httpgetmt.csv, MONROE's monroe_exp_ping.csv, and CSV of delay and rate over time; each
    is recognised by its content. Nothing is written if one of them is refused.
    """
    if _STEERS_STAGES & set(str(out)):
        folder = escape_control_characters(str(out), keep="")
        raise TraceError(
            f"importing to `{folder}`: names in stages cannot have spaces, commas or quotes; "
            "choose a folder without them"
        )
    make_folder(out.parent)
    done: list[Imported] = []
    with writing(out), folder_beside(out) as draft:
        wrote: dict[str, str] = {}
        for each in import_traces(_contents(files), str(out)):
            _write(each, draft, out, wrote)
            done.append(_without_contents(each))
        out.mkdir(exist_ok=True)
        for name in wrote:
            (draft / name).replace(out / name)
    if as_json:
        print_json(
            [
                {
                    "file": each.source,
                    "form": each.form,
                    "stages": each.stages,
                    "description": each.description,
                }
                for each in done
            ]
        )
    for each in () if as_json else done:
        say(hints, f"{each.source}: {each.form}, {each.description}")
        for way, stages in each.stages.items():
            option = "--down or --up" if way == "either" else f"--{way}"
            say(results, f'  {option} "{stages}"')
    end_at("traces", out, as_json=as_json)


def _contents(files: list[Path]) -> Iterator[tuple[str, bytes]]:
    for file in files:
        yield str(file), read_bytes(file, Source(str(file), TRACE, TraceError))


def _write(each: Imported, draft: Path, out: Path, wrote: dict[str, str]) -> None:
    for name, content in each.files.items():
        if name in wrote:
            raise TraceError(
                f"{each.source}: `{name}` is already the name for {wrote[name]}; import them "
                "into separate folders"
            )
        wrote[name] = each.source
        write_synced(draft / name, content)
        there = out / name
        if there.exists() and not filecmp.cmp(there, draft / name, shallow=False):
            raise TraceError(
                f"{each.source}: another {there} exists already; choose another folder"
            )


def _without_contents(each: Imported) -> Imported:
    return Imported(each.source, each.form, each.description, {}, each.stages)


CSV_SUFFIX = ".csv"


def read_trace(file: Path) -> NDArray[np.int64]:
    """Return the opportunities in milliseconds; raises `TraceError` with file, line and remedy."""
    source = Source(str(file), TRACE, TraceError)
    content = read_bytes(file, source)
    form = form_of(str(file), content)
    if form == SERIES or (form == OPPORTUNITIES and file.suffix.lower() == CSV_SUFFIX):
        return opportunities_of(parse_rates(content, str(file)), str(file))
    if form != OPPORTUNITIES:
        raise TraceError(f"{file}: {form}; make traces of it with `eyelevel trace import`")
    return parse_mahimahi(text_of(content, source, keep_mark=True), str(file))


def write_trace(file: Path, opportunities_ms: NDArray[np.int64], bin_ms: int) -> None:
    """Write a trace; CSV gets a line per `bin_ms`."""
    if file.suffix.lower() == CSV_SUFFIX:
        text = format_rates(rates_of(opportunities_ms, bin_ms))
    else:
        text = format_mahimahi(opportunities_ms)
    write_result(file, text)


BIN_MS_MAX = 3_600_000

app = typer.Typer(
    help="Describe, import, convert or generate packet-delivery traces.", no_args_is_help=True
)
app.command("import")(import_)


@app.command("info")
def info(
    files: Annotated[
        list[Path], typer.Argument(help="Traces in Mahimahi's format, or CSV of time and Mbit/s.")
    ],
    bin_ms: Annotated[
        int,
        typer.Option(
            min=1, max=BIN_MS_MAX, help="The interval over which rates are taken for percentiles."
        ),
    ] = BIN_MS,
    outage_ms: Annotated[
        int,
        typer.Option(
            min=1, help="How long a gap without a delivery opportunity counts as an outage."
        ),
    ] = OUTAGE_MS,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Print a trace's length, the mean and percentiles of its rate, and its outages."""
    summaries = []
    for file in files:
        values = trace_info(read_trace(file), bin_ms, outage_ms)
        summaries.append({"file": str(file), **asdict(values), "outage_share": values.outage_share})
    if as_json:
        print_json(summaries)
        return
    titles = [title for title, _ in _ROWS]
    listing = table("", *(Path(summary["file"]).name for summary in summaries))
    for title, text in zip(titles, (text for _, text in _ROWS), strict=True):
        listing.add_row(title, *(text(summary) for summary in summaries))
    results.print(listing)
    results.print(
        f"rates in Mbit/s over {summaries[0]['bin_ms']} ms; an outage is a gap of at least "
        f"{outage_ms} ms, the trace repeated"
    )


@app.command("convert")
def convert(
    source: Annotated[Path, typer.Argument(help="A trace, or CSV of time and Mbit/s.")],
    out: Annotated[
        Path, typer.Argument(help="The trace to write, or CSV if the name ends in .csv.")
    ],
    bin_ms: Annotated[
        int,
        typer.Option(
            min=1, max=BIN_MS_MAX, help="With CSV output: one line per interval of this length."
        ),
    ] = BIN_MS,
) -> None:
    """Convert between Mahimahi's format and CSV of time (s) and rate (Mbit/s).

    CSV is read by its content and written if the name ends in `.csv`. A rate holds until the
    next line's time; the last one holds as long as the one before it.
    """
    opportunities = read_trace(source)
    write_trace(out, opportunities, bin_ms)
    described = trace_info(opportunities)
    hints.print(
        f"{out}: {described.opportunities} opportunities in {described.duration_ms / 1000:g} s, "
        f"{described.rate_bit_s_mean / 1e6:.3g} Mbit/s",
        markup=False,
        soft_wrap=True,
    )


@app.command("synth")
def synth(
    model: Annotated[str, typer.Argument(help=f"One of {', '.join(SYNTH_MODELS)}.")],
    out: Annotated[
        Path, typer.Argument(help="The trace to write, or CSV if the name ends in .csv.")
    ],
    mbit_s: Annotated[
        float, typer.Option(min=0.001, max=100_000, help="The trace's mean rate in Mbit/s.")
    ] = 10.0,
    duration_s: Annotated[
        int, typer.Option(min=1, help="The trace's length; it is repeated.")
    ] = 60,
    seed: Annotated[int, typer.Option(min=0, help="The seed of the trace.")] = 1,
) -> None:
    """Generate a trace from a model: cellular, satellite or wifi.

    cellular: the doubly stochastic process behind Sprout (Winstein et al. 2013). satellite: a
    rate that is redrawn every 15 s, like Starlink's (Mohan et al. 2024). wifi: a Markov channel
    under contention (Wang and Moayeri 1995, Bianchi 2000). The same settings give the same
    trace everywhere.
    """
    spec = SynthSpec(model, round(mbit_s * 1e6), duration_s, seed)
    write_trace(out, synthesise(spec), BIN_MS)
    hints.print(
        f"{out}: {model}, {mbit_s:g} Mbit/s in the mean, {duration_s} s, seed {seed}",
        markup=False,
        soft_wrap=True,
    )


def _mbit_s(bit_s: float) -> str:
    return f"{bit_s / 1e6:.3f}"


_ROWS: tuple[tuple[str, Callable[[JsonObject], str]], ...] = (
    ("seconds", lambda i: f"{i['duration_ms'] / 1000:.3f}"),
    ("opportunities", lambda i: f"{i['opportunities']}"),
    ("mean rate", lambda i: _mbit_s(i["rate_bit_s_mean"])),
    ("p5", lambda i: _mbit_s(i["rate_bit_s_percentiles"]["p5"])),
    ("p25", lambda i: _mbit_s(i["rate_bit_s_percentiles"]["p25"])),
    ("p50", lambda i: _mbit_s(i["rate_bit_s_percentiles"]["p50"])),
    ("p75", lambda i: _mbit_s(i["rate_bit_s_percentiles"]["p75"])),
    ("p95", lambda i: _mbit_s(i["rate_bit_s_percentiles"]["p95"])),
    ("largest", lambda i: _mbit_s(i["rate_bit_s_max"])),
    ("outages", lambda i: f"{i['outages']}"),
    ("in outage %", lambda i: f"{i['outage_share'] * 100:.2f}"),
    ("longest gap ms", lambda i: f"{i['gap_ms_max']}"),
)

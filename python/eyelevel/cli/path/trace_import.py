"""Convert other tools' recordings of links to traces and stages (`eyelevel trace import`)."""

import filecmp
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from eyelevel.base.errors import TraceError
from eyelevel.base.from_outside.files import read_bytes
from eyelevel.base.from_outside.limits import TRACE
from eyelevel.base.from_outside.source import Source
from eyelevel.base.from_outside.words import escape_control_characters
from eyelevel.cli.finish import end_at
from eyelevel.cli.output import hints, print_json, results, say
from eyelevel.plan.traces.imported import Imported, import_traces
from eyelevel.store.disk.results import make_folder, writing
from eyelevel.store.disk.whole import folder_beside, write_synced

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
                {"file": each.source, "form": each.form, "stages": each.stages, "said": each.said}
                for each in done
            ]
        )
    for each in () if as_json else done:
        say(hints, f"{each.source}: {each.form}, {each.said}")
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
    return Imported(each.source, each.form, each.said, {}, each.stages)

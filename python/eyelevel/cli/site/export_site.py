"""`eyelevel site export`: a recorded site in other tools' formats."""

from pathlib import Path
from typing import Annotated

import typer

from eyelevel.cli.output import hints, print_json
from eyelevel.errors import ExportError
from eyelevel.lab.binary import run_tool
from eyelevel.sites.recorded import open_site


def export_site(
    file: Annotated[
        str, typer.Argument(help="A recorded site: its file, or a shipped one's name.")
    ],
    har: Annotated[Path | None, typer.Option(help="One HAR file with bodies.")] = None,
    mahimahi: Annotated[Path | None, typer.Option(help="A new folder as Mahimahi's.")] = None,
    files: Annotated[Path | None, typer.Option(help="A new folder of decoded bodies.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Write a recorded site as HAR, as Mahimahi's folder or as plain files."""
    formats = {"--har": har, "--mahimahi": mahimahi, "--files": files}
    given = [(name, path) for name, path in formats.items() if path is not None]
    if len(given) != 1:
        raise ExportError("give one of --har FILE, --mahimahi FOLDER and --files FOLDER")
    name, path = given[0]
    site = open_site(file)
    with hints.status(f"writing {path}"):
        written = run_tool(["archive", "export", str(site.path), name, str(path)])
    if as_json:
        print_json(written)
    hints.print(f"wrote {written['objects']} exchanges to {path}", markup=False, soft_wrap=True)

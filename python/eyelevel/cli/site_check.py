"""`eyelevel site check`: whether a recording replays as it was recorded."""

from pathlib import Path
from typing import Annotated

import typer

from eyelevel.cli.output import print_json, results
from eyelevel.lab import run_tool
from eyelevel.run import open_site

EXIT_DIFFERS = 1
TOOL_FOUND_DIFFERENCES = 2


def check(
    file: Annotated[
        str, typer.Argument(help="A recorded site: its file, or a shipped one's name.")
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Replay every exchange over HTTP/1.1, HTTP/2 and HTTP/3 and compare each byte.

    Exits 1 on a difference.
    """
    site = open_site(file)
    found = run_tool(
        ["archive", "check", str(Path(site.path).resolve())], accept=(0, TOOL_FOUND_DIFFERENCES)
    )
    if as_json:
        print_json(found)
    else:
        for each in found["protocols"]:
            differences = each["differences"]
            state = "all alike" if not differences else f"{len(differences)} differ"
            results.print(f"{each['protocol']:9} {each['compared']} exchanges compared, {state}")
            for difference in differences:
                results.print(f"  {difference['url']}: {difference['what']}", markup=False)
    if any(each["differences"] for each in found["protocols"]):
        raise typer.Exit(EXIT_DIFFERS)

"""Convert recorded sites from and to other tools' formats (`eyelevel site import` and `export`)."""

from pathlib import Path
from typing import Annotated

import typer

from eyelevel.base.errors import ExportError, LabError
from eyelevel.cli.finish import end_at
from eyelevel.cli.output import hints, print_json
from eyelevel.cli.site.info import print_info
from eyelevel.cli.values import EXAMPLE, is_page_url, viewport_px
from eyelevel.lab.binary import run_tool
from eyelevel.sites.recorded import open_site


def export_site(
    file: Annotated[
        str, typer.Argument(help="A recorded site: a file, or the name of a shipped one.")
    ],
    har: Annotated[Path | None, typer.Option(help="Write one HAR file with bodies.")] = None,
    mahimahi: Annotated[Path | None, typer.Option(help="Write a new Mahimahi folder.")] = None,
    files: Annotated[
        Path | None, typer.Option(help="Write a new folder of decoded bodies.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Write a recorded site as HAR, as Mahimahi's folder or as plain files."""
    formats = {"--har": har, "--mahimahi": mahimahi, "--files": files}
    given = [(name, path) for name, path in formats.items() if path is not None]
    if len(given) != 1:
        raise ExportError("give one of --har FILE, --mahimahi FOLDER or --files FOLDER")
    name, path = given[0]
    site = open_site(file)
    with hints.waiting(f"writing {path}"):
        written = run_tool(["archive", "export", str(site.path), name, str(path)])
    if as_json:
        print_json(written)
    hints.print(f"wrote {written['objects']} exchanges")
    end_at("export", path, as_json=as_json)


def import_site(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE...",
            help="HAR files with bodies, Mahimahi folders, Web Page Replay archives or "
            "mitmproxy flows; several become one site.",
        ),
    ],
    out: Annotated[Path, typer.Option(help="The WACZ to write.")],
    secure: Annotated[
        bool,
        typer.Option(
            "--secure",
            help="Turn http origins into https and rewrite links; the site is marked as altered.",
        ),
    ] = False,
    page: Annotated[
        str, typer.Option(help="The page's URL, if it is not the recording's own.")
    ] = "",
    viewport: Annotated[
        str,
        typer.Option(
            help="The viewport in which the page was recorded, in CSS pixels, such as 1366x768."
        ),
    ] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Make a site from other tools' recordings; WARC and WACZ files replay as they are."""
    if page and not is_page_url(page):
        raise typer.BadParameter(f"write it as `{EXAMPLE}`", param_hint=f"--page {page}")
    arguments = ["archive", "import", *map(str, files), "--out", str(out)]
    arguments += ["--secure"] if secure else []
    arguments += ["--main-url", page] if page else []
    if viewport:
        try:
            width, height = viewport_px(viewport)
        except ValueError as error:
            raise typer.BadParameter(str(error), param_hint="--viewport") from error
        arguments += ["--viewport", f"{width}x{height}"]
    with hints.waiting(f"reading {', '.join(map(str, files[:3]))}"):
        try:
            imported = run_tool(arguments)
        except LabError as error:
            # The binary has its own name for the option, and a remedy for each error.
            raise ExportError(str(error).replace("--main-url", "--page")) from error
    if as_json:
        print_json(imported)
    else:
        print_info(imported)
        hints.print(f"check it with `eyelevel site check {out}`", markup=False, soft_wrap=True)
    end_at("site", out, as_json=as_json)

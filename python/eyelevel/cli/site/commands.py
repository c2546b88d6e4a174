"""The group of commands `eyelevel site`.

Convert recorded sites from and to other tools' formats (`eyelevel site import` and `export`).
Generate synthetic sites that follow published distributions (`eyelevel site synth`).
"""

from pathlib import Path
from statistics import median
from typing import Annotated

import typer

from eyelevel.base.errors import ExportError, LabError, unknown
from eyelevel.cli.finish import end_at
from eyelevel.cli.output import hints, print_json, results
from eyelevel.cli.site.check import check, info, print_info
from eyelevel.cli.site.edit import edit_site
from eyelevel.cli.values import EXAMPLE, is_page_url, viewport_px
from eyelevel.lab.binary import run_tool
from eyelevel.sites.recorded import open_site
from eyelevel.sites.synthetic.published import PUBLISHED
from eyelevel.sites.synthetic.shapes import SiteShape, site_shapes
from eyelevel.sites.synthetic.write import write_site
from eyelevel.store.disk import folder_of_results


def _export_site(
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


def _import_site(
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


def synth(
    like: Annotated[str, typer.Option(help=f"Whose distributions: {' or '.join(PUBLISHED)}.")],
    out: Annotated[Path, typer.Option(help="The folder for the sites; created if missing.")],
    count: Annotated[int, typer.Option(min=1, max=10_000, help="How many sites.")] = 500,
    seed: Annotated[
        int, typer.Option(min=0, help="The seed: the same seed gives the same sites.")
    ] = 1,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Make synthetic sites whose objects, sizes, origins, types and depths follow published data.

    They serve for sweeps whose recordings may not be shipped: a plan takes the folder as `sites
    = ["OUT/"]`.
    """
    if like not in PUBLISHED:
        raise typer.BadParameter(unknown("source", like, PUBLISHED), param_hint="--like")
    shapes = site_shapes(PUBLISHED[like], count, seed)
    digits = len(str(count))
    with folder_of_results(out), hints.waiting(f"writing {count} sites to {out}"):
        for number, shape in enumerate(shapes, start=1):
            name = f"{like}-{seed}-{number:0{digits}}"
            write_site(shape, name, out / f"{name}.wacz")
    summary = _summary(shapes)
    if as_json:
        print_json({"like": like, "count": count, "seed": seed, "out": str(out)} | summary)
    else:
        results.print(f"{count} sites like {PUBLISHED[like].title}", markup=False, soft_wrap=True)
        for name, (least, middle, largest) in summary.items():
            results.print(f"{name:13} {least:>12,} {middle:>12,} {largest:>12,}", markup=False)
        hints.print("columns: least, median, largest", markup=False)
    end_at("sites", out, as_json=as_json)


def _summary(shapes: tuple[SiteShape, ...]) -> dict[str, tuple[int, int, int]]:
    columns = {
        "objects": [len(shape.objects) for shape in shapes],
        "total_bytes": [shape.total_bytes for shape in shapes],
        "origins": [shape.origins for shape in shapes],
        "object_bytes": [one.bytes for shape in shapes for one in shape.objects],
        "depth": [max(one.depth for one in shape.objects) for shape in shapes],
    }
    return {
        name: (min(values), round(median(values)), max(values)) for name, values in columns.items()
    }


app = typer.Typer(
    help="Inspect, check, edit, import and export recorded sites, or make synthetic ones.",
    no_args_is_help=True,
)
app.command("check")(check)
app.command("info")(info)
app.command("edit")(edit_site)
app.command("import")(_import_site)
app.command("export")(_export_site)
app.command("synth")(synth)

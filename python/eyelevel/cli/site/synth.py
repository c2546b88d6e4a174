"""Generate synthetic sites that follow published distributions (`eyelevel site synth`)."""

from pathlib import Path
from statistics import median
from typing import Annotated

import typer

from eyelevel.base.errors import unknown
from eyelevel.cli.finish import end_at
from eyelevel.cli.output import hints, print_json, results
from eyelevel.sites.synthetic.published import PUBLISHED
from eyelevel.sites.synthetic.shapes import SiteShape, site_shapes
from eyelevel.sites.synthetic.write import write_site
from eyelevel.store.disk.results import folder_of_results


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

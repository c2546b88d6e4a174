"""The group of commands `eyelevel site`."""

import typer

from eyelevel.cli.site.check import check
from eyelevel.cli.site.formats import export_site, import_site
from eyelevel.cli.site.info import info
from eyelevel.cli.site.synth import synth

app = typer.Typer(
    help="Inspect, check, import and export recorded sites, or make synthetic ones.",
    no_args_is_help=True,
)
app.command("check")(check)
app.command("info")(info)
app.command("import")(import_site)
app.command("export")(export_site)
app.command("synth")(synth)

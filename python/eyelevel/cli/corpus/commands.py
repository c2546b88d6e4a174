"""The group of commands `eyelevel corpus`."""

import typer

from eyelevel.cli.corpus.check import check_corpus
from eyelevel.cli.corpus.importing import import_corpus
from eyelevel.cli.corpus.info import info
from eyelevel.cli.corpus.record import record_corpus
from eyelevel.cli.corpus.select import select_sites

app = typer.Typer(
    help="Build, check and describe corpora of many recordings, and select sites from them.",
    no_args_is_help=True,
)
app.command("record")(record_corpus)
app.command("import")(import_corpus)
app.command("check")(check_corpus)
app.command("info")(info)
app.command("select")(select_sites)

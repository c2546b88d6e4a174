"""The reference page's tables are those of the code."""

from repository import ROOT

from eyelevel.probes.export import COLUMNS
from eyelevel.probes.protocols import FAILURE_CLASSES, THESIS_NAMES


def table(titles: tuple[str, str], rows: dict[str, str]) -> str:
    lines = [f"| {' | '.join(titles)} |", "| --- | --- |"]
    return "\n".join([*lines, *(f"| `{name}` | {text} |" for name, text in rows.items())]) + "\n"


def test_the_reference_has_every_column_failure_and_protocol() -> None:
    page = (ROOT / "docs/reference/probe.md").read_text(encoding="utf-8")
    meanings = {name: meaning for name, (_, meaning) in COLUMNS.items()}
    assert table(("column", "what it holds"), meanings) in page
    assert table(("class", "what happened"), FAILURE_CLASSES) in page
    assert table(("protocol", "in the thesis's CSV"), THESIS_NAMES) in page


def test_the_columns_are_those_of_the_data_plane_in_its_order() -> None:
    source = (ROOT / "crates/probe/src/row.rs").read_text(encoding="utf-8")
    fields = source.partition("pub struct Row {")[2].partition("#[serde(skip)]")[0]
    names = [line.split()[1].rstrip(":") for line in fields.splitlines() if "pub " in line]
    assert [name for name in COLUMNS if name != "path_rtt_ms"] == names

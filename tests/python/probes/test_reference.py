"""The reference page of rows is written from the tables, which are the data plane's."""

from repository import ROOT

from eyelevel.probes.export import COLUMNS


def test_the_columns_are_those_of_the_data_plane_in_its_order() -> None:
    source = (ROOT / "crates/probe/src/row.rs").read_text(encoding="utf-8")
    fields = source.partition("pub struct Row {")[2].partition("#[serde(skip)]")[0]
    names = [line.split()[1].rstrip(":") for line in fields.splitlines() if "pub " in line]
    assert [name for name in COLUMNS if name != "path_rtt_ms"] == names

from repository import ROOT

from eyelevel.cli.reference.edits import reference_page


def test_the_reference_page_is_the_table():
    written = (ROOT / "docs/reference/edits.md").read_text(encoding="utf-8")
    assert written == reference_page(), "run: python -m eyelevel.cli.reference.edits"

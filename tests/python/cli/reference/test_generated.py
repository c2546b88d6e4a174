"""Every file that is generated from tables is up to date."""

import pytest
from repository import ROOT

from eyelevel.cli.reference.__main__ import FILES


@pytest.mark.parametrize("name", FILES)
def test_the_file_is_what_its_tables_give(name: str):
    found = (ROOT / name).read_text(encoding="utf-8")
    stale = f"{name} is stale: run .venv/bin/python -m eyelevel.cli.reference"
    assert found == FILES[name](), stale

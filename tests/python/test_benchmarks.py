"""Nothing runs the benchmarks here: what they import and what names them must be there."""

import importlib
import re
import sys
from importlib.util import find_spec

import pytest
from repository import ROOT

MODULES = sorted(
    ".".join(each.relative_to(ROOT).with_suffix("").parts)
    for each in (ROOT / "benchmarks").rglob("*.py")
)
NAMING = [ROOT / "Makefile", *(ROOT / "docs").rglob("*.md"), *(ROOT / "benchmarks").rglob("*.*")]
COMMAND = re.compile(r"-m (benchmarks[.a-z_]+[a-z])")


@pytest.fixture(autouse=True)
def at_the_root(monkeypatch):
    """As `python -m` has it there; a benchmark may add the tests' helpers."""
    monkeypatch.setattr(sys, "path", [str(ROOT), *sys.path])


@pytest.mark.parametrize("name", MODULES)
def test_what_a_benchmark_imports_is_there(name):
    importlib.import_module(name)


def test_every_benchmark_that_is_named_is_there():
    named = {
        name
        for file in NAMING
        if file.suffix in {"", ".csv", ".md", ".py", ".toml"}
        for name in COMMAND.findall(file.read_text(encoding="utf-8"))
    }
    missing = {
        each
        for each in named
        if not find_spec(each + (".__main__" if each.count(".") == 1 else ""))
    }
    assert len(named) > 10 and not missing

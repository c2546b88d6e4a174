"""Where the files of the package and of its tests lie, and which of them may name `Any`."""

import ast

import pytest
from repository import ROOT

PACKAGE = ROOT / "python" / "eyelevel"
FOLDERS = sorted({file.parent for file in PACKAGE.rglob("*.py")})


def name_of(path):
    return path.relative_to(PACKAGE).as_posix()


def test_the_wheel_has_no_tests():
    assert not list(PACKAGE.rglob("test_*")) + list(PACKAGE.rglob("conftest.py"))


@pytest.mark.parametrize("folder", FOLDERS, ids=name_of)
def test_each_package_has_a_docstring(folder):
    assert ast.get_docstring(ast.parse((folder / "__init__.py").read_text(encoding="utf-8")))


def test_tests_lie_as_what_they_test():
    tests = {each.parent for each in (ROOT / "tests" / "python").rglob("test_*.py")}
    folders = {each.relative_to(ROOT / "tests" / "python") for each in tests}
    assert folders <= {each.relative_to(PACKAGE) for each in FOLDERS}


UNTYPED = {
    "analysis/trials/post_hoc_exclusions.py": "polars gives a row's values without types",
    "cli/path/commands.py": "a private class of typer is the argument of what it overrides",
    "cli/probe/commands.py": "the same",
    "cli/completion/written.py": "typer's commands",
    "cli/usage.py": "the same",
    "cluster/slots.py": "arguments and answers of functions on other machines",
    "cluster/worker.py": "what Dask gives a worker that it begins",
    "report/charts/chart.py": "Vega-Lite's specifications",
    "report/charts/connection_charts.py": "altair's keyword arguments",
    "report/charts/distribution.py": "the same",
    "base/json_types.py": "JSON by name",
    "lab/binary.py": "what a command prints, object or list",
    "calibration/level/page_values.py": "an array of numpy or none",
    "plan/networks/stages.py": "stages as nested JSON",
    "plan/file/model.py": "tables that pydantic makes at run time",
    "plan/file/parse.py": "what TOML holds before it is checked",
    "plan/stack_presets.py": "keyword arguments of dataclasses.replace",
    "run/study/loop.py": "arguments of a function in another process",
    "base/settings.py": "pydantic's hooks",
    "sites/pack.py": "keys of a manifest",
}
"""Files that name `Any`: borders to what has no types, each with what is behind it."""


def test_any_stands_at_borders_alone():
    naming = {
        name_of(file)
        for file in PACKAGE.rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Name) and node.id == "Any"
    }
    assert naming == set(UNTYPED)

"""The examples work: plans are accepted, and the notebooks' and their guide's code runs."""

import json
import re

import pytest
from repository import ROOT
from synthetic_run import write_run

from eyelevel.cli.run.plan_text import read_plan

EXAMPLES = ROOT / "examples"
GUIDE = ROOT / "docs" / "guides" / "notebooks.md"
PLANS = sorted(path.name for path in EXAMPLES.glob("*.toml"))


def run_code(blocks, name):
    """Run blocks of code one after the other; return the lines that each prints."""
    names: dict[str, object] = {}
    printed = []
    for number, block in enumerate(blocks, 1):
        lines: list[str] = []
        names["print"] = lambda *words, to=lines: to.append(" ".join(map(str, words)))
        exec(compile(block, f"block {number} of {name}", "exec"), names)
        printed.append(lines)
    return printed


def code_of(notebook):
    """Return the code cells of a notebook of examples/, as nbformat 4 has them."""
    document = json.loads((EXAMPLES / notebook).read_text(encoding="utf-8"))
    assert document["nbformat"] == 4
    identifiers = [cell["id"] for cell in document["cells"]]
    assert len(set(identifiers)) == len(identifiers)
    cells = [cell for cell in document["cells"] if cell["cell_type"] == "code"]
    # Outputs and counts would be of a run that the reader has not made.
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in cells)
    return ["".join(cell["source"]) for cell in cells]


@pytest.fixture(scope="module")
def quickstart(tmp_path_factory):
    """Write a run of quickstart's shape to results/quickstart; return the folder around it."""
    folder = tmp_path_factory.mktemp("examples")
    write_run(folder / "results" / "quickstart")
    return folder


@pytest.mark.parametrize("name", PLANS)
def test_a_plan_is_accepted(name):
    assert read_plan(str(EXAMPLES / name), []).title


def test_every_example_is_listed():
    listed = re.findall(r"^\| `([^`]+)`", (EXAMPLES / "README.md").read_text("utf-8"), re.MULTILINE)
    found = [path.name for path in EXAMPLES.iterdir() if path.suffix in (".toml", ".ipynb")]
    assert sorted(listed) == sorted(found) and len(PLANS) == 3


def test_shares_of_slow_loads_have_intervals_and_drift_a_row_per_repetition(
    quickstart, monkeypatch
):
    monkeypatch.chdir(quickstart)
    _, shares, drift, worst = run_code(code_of("slow-loads.ipynb"), "slow-loads.ipynb")
    assert len(shares) == 6  # two networks, three stacks
    assert shares[0].startswith("dsl  quic   0 of 6: 0% to ")
    assert "shape: (3, 3)" in drift[0] and worst == ["ok 6 frames"]


def test_two_sites_are_too_few_for_others(quickstart, monkeypatch):
    monkeypatch.chdir(quickstart)
    *_, answer = run_code(code_of("other-sites.ipynb"), "other-sites.ipynb")
    assert answer[0].startswith("undetermined: ")


def test_the_guide_begins_as_the_notebooks_do(quickstart, monkeypatch):
    monkeypatch.chdir(quickstart)
    blocks = re.findall(r"```python\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)
    [[medians]] = run_code(blocks, GUIDE.name)
    assert "shape: (6, 3)" in medians

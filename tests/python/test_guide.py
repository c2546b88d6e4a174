"""The code of docs/guides/notebooks.md runs, in its order, on a made-up run."""

import re

import pytest
from repository import ROOT
from synthetic_run import write_run

GUIDE = ROOT / "docs" / "guides" / "notebooks.md"


@pytest.fixture(scope="module")
def said(tmp_path_factory):
    """What each block of the page prints."""
    folder = tmp_path_factory.mktemp("guide")
    write_run(folder / "results" / "quickstart")
    blocks = re.findall(r"```python\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)
    names: dict[str, object] = {}
    printed = []
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for number, block in enumerate(blocks):
            lines: list[str] = []
            names["print"] = lambda *words, to=lines: to.append(" ".join(map(str, words)))
            exec(compile(block, f"block {number + 1} of {GUIDE.name}", "exec"), names)
            printed.append(lines)
    return printed


def test_shares_of_slow_loads_have_intervals(said):
    assert len(said[1]) == 6  # two networks, three stacks
    assert said[1][0].startswith("dsl  quic   0 of 6: 0% to ")


def test_two_sites_are_too_few_for_others(said):
    assert said[2][0].startswith("undetermined: ")


def test_the_drift_is_a_row_a_repetition(said):
    table, worst = said[3]
    assert "shape: (3, 3)" in table and worst == "ok 6 frames"

"""The page and the drawing are what the code says, and the drawing can be read."""

from itertools import pairwise
from xml.etree import ElementTree

import pytest

from scripts.docs import architecture
from scripts.docs.layered_drawing import BOXES_MAX, GAP, Layout, drawn, reduced, width

USES = {
    "a": {"b", "c", "d", "e", "f"},
    "b": {"c", "f"},
    "c": {"f"},
    "d": set(),
    "e": set(),
    "f": set(),
    "g": {"d"},
    "h": set(),
    "i": set(),
}


@pytest.fixture(autouse=True)
def copies(tmp_path, monkeypatch):
    for name in ("PAGE", "DRAWING"):
        copy = tmp_path / getattr(architecture, name).name
        copy.write_text(getattr(architecture, name).read_text(encoding="utf-8"), encoding="utf-8")
        monkeypatch.setattr(architecture, name, copy)


def test_what_is_committed_is_what_the_code_says(capsys):
    assert architecture.main(check=True) == 0, capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "change"),
    [("PAGE", ("  report/", "  rapport/")), ("DRAWING", (">analysis<", ">analyses<"))],
)
def test_what_is_stale_is_said_and_mended(capsys, name, change):
    file = getattr(architecture, name)
    right = file.read_text(encoding="utf-8")
    file.write_text(right.replace(*change), encoding="utf-8")
    assert architecture.main(check=True) == 1
    way_out = "run python -m scripts.docs.architecture"
    assert capsys.readouterr().out == f"{file.name} is stale: {way_out}\n"
    assert architecture.main(check=False) == 0
    assert file.read_text(encoding="utf-8") == right


def test_a_new_import_is_drawn(monkeypatch, capsys):
    uses = architecture.package_uses({*architecture.packages()})
    uses["sites"] = {"base"}
    monkeypatch.setattr(architecture, "package_uses", lambda names: uses)
    assert architecture.main(check=True) == 1
    assert "architecture.svg is stale" in capsys.readouterr().out


def test_what_follows_from_other_arrows_is_left_out():
    assert reduced(USES)["a"] == {"b", "d", "e"}
    assert reduced(USES)["b"] == {"c"}


def test_arrows_point_downwards_and_nothing_overlaps():
    layout = Layout(USES)
    row_of = {node: number for number, row in enumerate(layout.rows) for node in row}
    assert all(row_of[user] < row_of[used] for user in USES for used in USES[user])
    for row in layout.rows:
        assert sum(isinstance(node, str) for node in row) <= BOXES_MAX
        for left, right in pairwise(row):
            room = (width(left) + width(right)) / 2 + GAP
            assert layout.x[right] - layout.x[left] >= room - 0.2


def test_all_boxes_and_arrows_are_drawn_and_the_same_each_time():
    elements = drawn(Layout(USES), 0, 0, {"a"})
    root = ElementTree.fromstring(f"<svg>{''.join(elements)}</svg>")
    assert sorted(text.text for text in root.iter("text")) == sorted(USES)
    assert len(root.findall("path")) == sum(map(len, USES.values()))
    backwards = {name: set(USES[name]) for name in reversed(USES)}
    assert drawn(Layout(backwards), 0, 0, {"a"}) == elements

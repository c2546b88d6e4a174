"""Edited recordings in a real browser: their objects are answered, and edits take effect."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from labs import CORPUS
from loads import load

from eyelevel.plan.edits import Edit
from eyelevel.sites.edits import derive
from eyelevel.sites.recorded import read_alterations, read_blocked

pytestmark = pytest.mark.usefixtures("labs")

SHEET = "https://styles.example/tufte.css"
FONT = "https://styles.example/et-book/et-book-roman-old-style-figures/et-book-roman-old-style-figures.woff"
"""A font that the style sheet names: a browser asks for it when it has that."""


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


def load_edited(site: str, edits: Sequence[Edit]) -> tuple[dict[str, Any], Path]:
    derived = derive(CORPUS / f"{site}.wacz", edits)
    trial = load(str(derived.path), "--stack", "tcp", "--network", "cable")
    assert {request["match"] for request in trial["requests"]} == {"exact"}
    altered = read_alterations(derived.path)[-len(edits) :]
    assert [sentence.startswith("edited: ") for sentence in altered] == [True] * len(edits)
    return trial, derived.path


def test_what_is_preloaded_comes_before_what_names_it() -> None:
    trial, _ = load_edited("article", [Edit("preload", FONT), Edit("encode", "br:5")])
    asked = [request["url"] for request in trial["requests"]]
    assert asked.count(FONT) == 1  # in the mode in which the page would ask, so not twice
    times = {item["url"]: item for item in trial["objects"]}
    assert times[FONT]["started_ms"] < times[SHEET]["finished_ms"]


def test_what_is_blocked_is_not_asked_for() -> None:
    trial, path = load_edited("landing", [Edit("block", "third-parties")])
    hosts = ("cdn.jsdelivr.example", "fonts-api.example", "use.fontawesome.example")
    assert {f"*://{host}/*" for host in hosts} <= set(read_blocked(path))
    asked = {request["url"].split("/")[2] for request in trial["requests"]}
    assert asked == {"landing.example", "images.landing.example"}
    failed = {item["failed"] for item in trial["objects"] if item["url"].split("/")[2] in hosts}
    assert failed == {"blocked (inspector)"}

"""What strangers wrote reaches the terminal as text: no markup, and nothing that steers it."""

import io
import json

import pytest
from rich.progress import Progress, TextColumn
from rich.text import Text

from eyelevel.base.from_outside.words import escape_control_characters
from eyelevel.cli import output
from eyelevel.cli.output import Screen, colour, json_text, table
from eyelevel.cli.site.check import print_info

CONTROLS = "\x1b]0;owned\x07\x1b[2J\x9b31m\x7f\u202egnp.\u2066x\u200b"
MARKUP = "text/html[/b] [red]x[/] :warning:"

INFO = {
    "name": f"a{CONTROLS}",
    "main_url": f"https://a.example/{CONTROLS}[/b]",
    "origins": [],
    "server_addresses": 1,
    "objects": 1,
    "body_bytes_median": 1,
    "body_bytes_max": 1,
    "body_bytes": 1,
    "secure_share": 1.0,
    "secure_bytes_share": 1.0,
    "dependency_depth": 1,
    "digest": "x",
    "media_types": {MARKUP + CONTROLS: {"objects": 1, "body_bytes": 1}},
    "provenance": {"altered": [f"[/b]{CONTROLS}\neyelevel: all is well"]},
    "notes": [{"message": CONTROLS}],
}


def screen() -> tuple[Screen, io.StringIO]:
    written = io.StringIO()
    made = Screen()
    made.file, made.width = written, 300
    return made, written


def steers(text: str) -> bool:
    return any(c in text for c in "\x1b\x07\x9b\x7f\u202e\u2066\u200b")


def test_site_info_prints_what_a_recording_says_as_text(monkeypatch: pytest.MonkeyPatch):
    shown, written = screen()
    monkeypatch.setattr("eyelevel.cli.site.check.results", shown)
    print_info(INFO)
    said = written.getvalue()
    assert not steers(said)
    assert "text/html[/b] [red]x[/] :warning:" in said and "\\x1b]0;owned" in said
    assert "\neyelevel: all is well" not in said, "a stranger begins no line"


@pytest.mark.parametrize(
    "make", [lambda text: text, Text, lambda text: colour(text, "red")], ids=["str", "Text", "in"]
)
def test_whatever_is_printed_steers_nothing(make):
    shown, written = screen()
    grid = table("a", CONTROLS, title=CONTROLS)
    grid.add_row(make(MARKUP + CONTROLS), "1")
    shown.print(grid)
    shown.print(make(CONTROLS + MARKUP), soft_wrap=True)
    with Progress(TextColumn("{task.description}", markup=False), console=shown) as bar:
        bar.add_task(CONTROLS)
    said = written.getvalue()
    assert not steers(said)
    assert said.count("text/html[/b] [red]x[/] :warning:") == 2


def test_a_spinner_says_names_as_they_are():
    shown, written = screen()
    shown._force_terminal = True
    with shown.waiting(f"a[/b]{CONTROLS}") as spinner:
        spinner.update(f"b[/b]{CONTROLS}")
    assert "\x1b]0;" not in written.getvalue() and "\u202e" not in written.getvalue()


def test_json_escapes_what_steers_and_means_the_same():
    value = {"title": CONTROLS + "ä\u0436\u4e2d\U0001f600\xad\ud800", "n": 1}
    text = json_text(value)
    assert not steers(text) and "\xad" not in text and "ä\u0436\u4e2d\U0001f600" in text
    assert json.loads(text) == value
    text.encode()


def test_letters_of_all_the_world_stay():
    for text in ("plain", "Ωμέγα", "中文", "é", "two  words", "a\nb"):
        assert escape_control_characters(text) == text
    assert escape_control_characters("a\nb\tc", keep="") == "a\\nb\\tc"


def test_the_screens_are_of_this_kind():
    assert isinstance(output.results, Screen) and isinstance(output.hints, Screen)

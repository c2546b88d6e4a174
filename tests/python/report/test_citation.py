"""The project's own citation: one in all places."""

import re

from repository import ROOT

from eyelevel.cli import main
from eyelevel.report.citation import RELEASED, own_bibtex


def test_the_command_and_the_file_say_the_same(monkeypatch, capsys) -> None:
    monkeypatch.setattr("sys.argv", ["eyelevel", "--cite"])
    assert main.main() == 0
    said = capsys.readouterr().out.strip()
    file = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    of_file = dict(re.findall(r"^(title|version|date-released): \"?([^\"\n]+)\"?$", file, re.M))
    assert of_file["date-released"] == RELEASED
    assert said == own_bibtex(of_file["version"])
    assert f"title = {{{of_file['title']}}}" in said
    assert "The eyelevel authors" in file and "{{The eyelevel authors}}" in said
    assert said.count("{") == said.count("}") and said.startswith("@misc{eyelevel,")

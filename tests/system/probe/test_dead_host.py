"""A host where nothing listens: the command says so, and its exit status too."""

import csv
import io
import json

import pytest

from eyelevel.cli import main


@pytest.mark.parametrize("form", ["--json", "--csv", "--thesis-csv"])
def test_a_probe_that_never_connects_has_no_result(
    form: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["probe", "127.0.0.1:1", "--protocols", "tls1.3,tcp", "--timeout", "1s", form]
    monkeypatch.setattr("sys.argv", ["eyelevel", *words])
    assert main.main() == main.EXIT_ALL_FAILED
    said = capsys.readouterr()
    assert said.err.startswith("eyelevel: all 2 attempts failed; the last one, on 127.0.0.1 over")
    assert "refused" in said.err
    if form == "--csv":
        assert [row["failure"] for row in csv.DictReader(io.StringIO(said.out))] == ["refused"] * 2
    if form == "--json":
        assert all(json.loads(line)["failure"] == "refused" for line in said.out.splitlines())

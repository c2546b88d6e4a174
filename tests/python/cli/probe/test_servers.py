"""What `eyelevel probe servers` refuses before it starts anything."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from eyelevel.cli.probe.commands import app
from eyelevel.errors import ExpectedError


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["ours,apache"], "apache is no server that is known here: choose among nginx"),
        (["ours", "--resume"], "--resume needs --out, the file to go on with"),
        (["ours", "--resume", "--out", "rows"], "rows is not there: leave --resume out to begin"),
        (["ours", "--out", "other"], "other holds something else than JSON lines"),
        ([","], ",: no server is named that is installed here"),
    ],
)
def test_it_is_refused_in_one_line(
    words: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "other").write_text("a,b\n")
    done = CliRunner().invoke(app, ["servers", *words])
    assert isinstance(done.exception, ExpectedError)
    assert said in str(done.exception) and len(str(done.exception).splitlines()) == 1
    assert (tmp_path / "other").read_text() == "a,b\n" and not (tmp_path / "rows").exists()

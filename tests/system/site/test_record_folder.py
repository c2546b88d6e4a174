"""`eyelevel record FOLDER`: static files become a site of https that replays."""

import json
import subprocess
import sys
from pathlib import Path

from needed_browser import needs
from timeouts import TEST_TIMEOUT_S


def eyelevel(*words: str, folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "eyelevel.cli.main", *words]
    return subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=TEST_TIMEOUT_S
    )


def test_a_folder_is_recorded_as_a_site_of_https(tmp_path: Path) -> None:
    needs("chromium")
    page = tmp_path / "dist"
    page.mkdir()
    third = "http://tags.localhost:9003/t.js"
    (page / "index.html").write_text(
        f"<!doctype html><title>x</title><script src={third}></script>"
        "<link rel=stylesheet href=a.css><h1>Hi</h1>",
        encoding="utf-8",
    )
    (page / "a.css").write_text("h1 { color: red }", encoding="utf-8")
    done = eyelevel("record", "dist", "--out", "site.wacz", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "over https" in done.stderr
    assert "`--allow tags.localhost:9003` if it is meant" in done.stderr
    info = json.loads(eyelevel("site", "info", "site.wacz", "--json", folder=tmp_path).stdout)
    assert (info["main_url"], info["secure_share"]) == ("https://dist.test/", 1)
    assert [each["host"] for each in info["origins"]] == ["dist.test"]
    assert not list(tmp_path.glob(".*")), "no draft stays"


def test_a_folder_without_a_page_is_refused(tmp_path: Path) -> None:
    done = eyelevel("record", ".", "--out", "site.wacz", folder=tmp_path)
    assert done.returncode == 2 and "index.html" in done.stderr
    both = eyelevel("record", ".", "https://a.example/", folder=tmp_path)
    assert both.returncode == 2 and "give it alone" in both.stderr

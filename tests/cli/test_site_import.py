"""`eyelevel site import`: what a recording does not say of itself can be said."""

import json
import subprocess
import sys

from labs import CORPUS
from timeouts import TEST_TIMEOUT_S

DASHBOARD = CORPUS / "dashboard.wacz"


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "eyelevel.cli.main", "site", "import", str(DASHBOARD)]
    return subprocess.run(
        [*command, *arguments], capture_output=True, text=True, timeout=TEST_TIMEOUT_S, check=False
    )


def test_the_viewport_goes_into_the_file(tmp_path):
    done = run("--out", str(tmp_path / "x.wacz"), "--viewport", "1920x1200", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["provenance"]["viewport_px"] == [1920, 1200]


def test_a_page_moves_to_https_with_the_rest(tmp_path):
    plain = "http://dashboard.example/pages/notifications.html"
    done = run("--out", str(tmp_path / "x.wacz"), "--secure", "--page", plain, "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["main_url"] == plain.replace("http:", "https:")


def test_a_page_that_is_none_is_refused(tmp_path):
    done = run("--out", str(tmp_path / "x.wacz"), "--page", "dashboard")
    assert done.returncode == 2 and "--page dashboard: write it as `https://" in done.stderr
    assert "main-url" not in done.stderr and not (tmp_path / "x.wacz").exists()


def test_a_viewport_that_is_none_is_refused(tmp_path):
    for wrong in ("wide", "1920", "0x700"):
        done = run("--out", str(tmp_path / "x.wacz"), "--viewport", wrong)
        assert done.returncode == 2 and f"`{wrong}` is not" in done.stderr
        assert not (tmp_path / "x.wacz").exists()

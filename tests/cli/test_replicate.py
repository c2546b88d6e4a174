"""`eyelevel replicate`, `plan show` and the options that narrow presets, as commands."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from synthetic_run import write_run
from timeouts import TEST_TIMEOUT_S

CLAIMS = """[text]
name = "a-post"
citation = "A. Author: HTTP/3. 2026."
short = "The post"
plans = ["wolsing-2019"]
figures = ["gain-cdf", "heat-map"]
[[claims]]
id = "P1"
place = "first paragraph"
claim = "QUIC is sooner, which is said at such a length that a terminal of 80 columns breaks it."
scope = "population"
rule = "sign"
sign = "negative"
metrics = ["page_load_time_ms"]
comparisons = ["quic/tcp"]
networks = ["dsl"]
"""
SITES = ("startup", "dashboard", "plain", "agency", "api", "blog")
PLAN = f"""sites = {json.dumps(SITES)}
networks = ["dsl"]
stacks = ["tcp", "quic"]
reference = "tcp"
blocks = 2
"""


def command(*words: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "eyelevel", *map(str, words)],
        capture_output=True, text=True, timeout=TEST_TIMEOUT_S, check=False,
    )  # fmt: skip


def test_runs_that_are_there_are_read_and_the_page_is_written(tmp_path: Path) -> None:
    write_run(tmp_path / "out" / "wolsing-2019-dsl", text=PLAN)
    (tmp_path / "claims.toml").write_text(CLAIMS, encoding="utf-8")
    words = ("replicate", tmp_path / "claims.toml", "--no-load", "--out", tmp_path / "out")
    done = command(*words)
    assert done.returncode == 0, done.stderr
    assert "P1" in done.stdout and "holds for our sites too" in done.stdout
    assert done.stdout.splitlines()[-1] == f"page: {tmp_path / 'out' / 'claims.md'}"
    page = (tmp_path / "out" / "claims.md").read_text(encoding="utf-8")
    assert "**P1** QUIC is sooner, which" in page
    assert "](figures/a-post-gain-cdf.svg)" in page and "heat-map" not in page
    assert (tmp_path / "out" / "figures" / "a-post-gain-cdf.svg").read_bytes().startswith(b"<svg")
    assert "wolsing-2019-dsl: 24 of 24 loads count, 6 sites, 2 of 2 blocks" in page
    numbers = json.loads(command(*words, "--json").stdout)
    assert numbers["claims"][0]["verdict"] == "agrees"
    assert numbers["claims"][0]["rows"][0]["value"] < 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("replicate", "wolsing"), "unknown text `wolsing`; did you mean `wolsing-2019`?"),
        (("replicate", "wolsing-2019", "--budget", "soon"), "`--budget soon`"),
        (("replicate", "wolsing-2019", "--budget", "9s"), "take"),
        (("replicate", "wolsing-2019", "--networks", "dls"), "unknown network `dls`; did you mean"),
        (("replicate", "jaeger-2018", "--no-load", "--data", "absent"), "there is no such folder"),
        (("run", "wolsing-2019", "--out", "x", "--stacks", "quic,tcp"), "no comparison of preset"),
    ],
)
def test_refusals_name_the_remedy(words: tuple[str, ...], message: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "eyelevel", *words],
        capture_output=True, text=True, timeout=TEST_TIMEOUT_S, check=False, cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 2, done.stdout
    assert len(done.stderr.splitlines()) == 1
    assert message in done.stderr


def test_plan_show_prints_a_plan_file(tmp_path: Path) -> None:
    shown = command("plan", "show", "wolsing-2019", "--networks", "dsl", "--stacks", "tcp+,quic")
    assert shown.returncode == 0
    file = tmp_path / "plan.toml"
    file.write_text(shown.stdout, encoding="utf-8")
    again = command("plan", "show", file)
    assert again.stdout == shown.stdout
    refused = command("plan", "show", file, "--networks", "dsl")
    assert refused.returncode == 2
    assert "are for presets; change the plan" in refused.stderr

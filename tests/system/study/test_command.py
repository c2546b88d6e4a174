"""The command as a user has it: loads, runs that are interrupted and resumed, replays."""

import json
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from labs import CORPUS
from loads import COMMAND, GOOD, load
from timeouts import TEST_TIMEOUT_S

from eyelevel.store.directory import iterate_trials, read_document
from eyelevel.store.outcomes import OUTCOMES_BY_NAME

PLAN = """\
title = "Does the command work?"
sites = ["{site}"]
networks = [{{ name = "near", base = "dsl", rtt_ms_min = "10 ms" }}]
stacks = ["http1", "tcp+", "quic"]
reference = "tcp+"
blocks = 1
"""

# The command, with signals that come while its first load runs.
SIGNALLED = """
import signal, sys
import eyelevel.run.study.loop as loop
def signalled(*arguments):
    for number in SIGNALS:
        signal.raise_signal(number)
    return "ok"
loop.commit_trial = signalled
from eyelevel.cli.main import main
sys.exit(main())
"""

pytestmark = pytest.mark.usefixtures("labs")


def eyelevel(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *arguments], capture_output=True, text=True, timeout=TEST_TIMEOUT_S, check=False
    )


def test_a_load_says_what_a_person_saw() -> None:
    trial = load("dashboard", "--network", "dsl", "--stack", "quic")
    assert {each["protocol"] for each in trial["objects"] if each["from"] == "network"} == {"h3"}
    assert len(trial["objects"]) == 21  # the other eight of the recording serve other text
    if trial["outcome"] == "ok":
        names = ("first_visual_change", "visual_complete_85", "last_visual_change", "speed_index")
        times = {name: trial[f"{name}_ms"] for name in names}
        assert all(value > 0 for value in times.values()), times
        assert times["first_visual_change"] <= times["visual_complete_85"]
        assert times["visual_complete_85"] <= times["last_visual_change"]
        assert times["first_visual_change"] <= times["speed_index"] <= times["last_visual_change"]
        assert trial["page_load_time_ms"] > 72  # three round trips


def test_a_load_is_kept_and_exported_where_it_says(tmp_path: Path) -> None:
    asked = ("--har", "--video", "--filmstrip")
    done = eyelevel("load", "dashboard", "--stack", "http1", "--out", str(tmp_path), *asked)
    (stored,) = iterate_trials(tmp_path)
    assert stored.record["host"]["queueing_discipline"] in ("pfifo_fast", None)
    assert stored.record["outcome"] in GOOD, stored.record["outcome_detail"]
    exports, name = tmp_path / "exports", stored.path.name
    assert done.stderr.endswith(f"har, video, filmstrip in {exports}\n")
    assert done.stdout.endswith(f"records and frames: {tmp_path}/trials\n")
    har = json.loads((exports / f"{name}.har").read_text())
    assert {each["response"]["httpVersion"] for each in har["log"]["entries"]} == {"http/1.1"}
    frames = stored.frames()
    shown = sorted(each.name for each in (exports / name).glob("0*.png"))
    assert shown == [f"{at_ms:06.0f}.png" for at_ms in frames.at_ms]
    assert (exports / name / "strip.png").exists()
    assert (exports / f"{name}.mp4").stat().st_size > 0
    assert len(list((tmp_path / "pictures").iterdir())) == 1


def test_an_interrupted_run_is_resumed(tmp_path: Path) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text(PLAN.format(site=CORPUS / "dashboard.wacz"))
    out = tmp_path / "out"
    run = ("run", str(plan), "--out", str(out))
    with subprocess.Popen([*COMMAND, *run], stderr=subprocess.PIPE, text=True) as process:
        _wait_for_first_record(out, process)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=TEST_TIMEOUT_S)
    assert process.returncode == 130
    assert said.count("stopping after the current load; press Ctrl-C again to abort it\n") == 1
    assert said.endswith(f"the rest: eyelevel {' '.join(run)} --resume\n")
    before = {trial.path: trial.record for trial in iterate_trials(out)}
    assert 1 <= len(before) < 3

    refused = eyelevel(*run)
    assert refused.returncode == 2 and "--resume" in refused.stderr

    resumed = eyelevel(*run, "--resume", "--json")
    assert resumed.returncode == 0, resumed.stderr
    after = {trial.path: trial.record for trial in iterate_trials(out)}
    assert len(after) == 3 == len(read_document(out, "plan.json")["trials"])
    assert all(after[path] == record for path, record in before.items())
    assert {record["outcome"] for record in after.values()} <= set(OUTCOMES_BY_NAME)
    assert {record["outcome"] for record in after.values()} <= set(GOOD)
    assert json.loads(resumed.stdout)["report"] == str(out / "report.html")

    page = (out / "report.html").read_text(encoding="utf-8")
    rebuilt = eyelevel("report", str(out), "--json")
    assert rebuilt.returncode == 0
    assert (out / "report.html").read_text(encoding="utf-8") == page


@pytest.mark.full
def test_the_demo_is_the_first_comparison_and_goes_on_by_itself(tmp_path: Path) -> None:
    out = tmp_path / "demo"
    demo = ("demo", "--out", str(out))
    with subprocess.Popen([*COMMAND, *demo], stderr=subprocess.PIPE, text=True) as process:
        _wait_for_first_record(out, process)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=TEST_TIMEOUT_S)
    assert process.returncode == 130
    assert said.endswith(f"of 36 loads; to load the rest: eyelevel {' '.join(demo)}\n")
    assert said.startswith("loading two recorded sites over two networks and three stacks")
    assert len(read_document(out, "plan.json")["trials"]) == 36


@pytest.mark.parametrize(
    ("signals", "status", "said"),
    [
        ((signal.SIGINT, signal.SIGINT), 130, "interrupted"),
        ((signal.SIGTERM,), 143, "terminated"),
    ],
)
def test_what_breaks_a_load_off_says_how_to_go_on(
    tmp_path: Path, signals: tuple[signal.Signals, ...], status: int, said: str
) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text(PLAN.format(site=CORPUS / "dashboard.wacz"))
    run = ("run", str(plan), "--out", str(tmp_path / "out"))
    program = SIGNALLED.replace("SIGNALS", str(list(map(int, signals))))
    command = [sys.executable, "-c", program, *run]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=TEST_TIMEOUT_S, check=False
    )
    assert done.returncode == status and "Traceback" not in done.stderr
    ending = "stopping after the current load; press Ctrl-C again to abort it\n"
    assert (ending in done.stderr) == (len(signals) == 2)
    assert f"\n{done.stderr}".endswith(
        f"\na load was aborted; to load the rest: eyelevel {' '.join(run)} "
        f"--resume\neyelevel: {said}\n"
    )


def test_replay_runs_a_command_beside_the_site() -> None:
    script = (
        "import os, ssl, sys, urllib.request\n"
        "context = ssl.create_default_context(cafile=os.environ['EYELEVEL_CA'])\n"
        "url = os.environ['EYELEVEL_URL']\n"
        "print(urllib.request.urlopen(url, context=context).status)\n"
        "sys.exit(7)\n"
    )
    options = ("--network", "dsl", "--stack", "http1", "--", sys.executable, "-c", script)
    done = eyelevel("replay", "dashboard", *options)
    assert done.stdout == "200\n", done.stderr
    assert done.returncode == 7
    assert "requests over http1 on dsl: 1, of which 0 are not in the recording" in done.stderr


def test_a_check_compares_every_byte(tmp_path: Path) -> None:
    picture = tmp_path / "check.png"
    done = eyelevel("site", "check", "dashboard", "--json", "--picture", str(picture))
    assert done.returncode == 0
    assert picture.read_bytes().startswith(b"\x89PNG")
    report = json.loads(done.stdout)
    page = report["page"]
    assert page["objects_used"] == page["objects_recorded"] == 21
    assert page["body_bytes_used"] == page["body_bytes_recorded"] > 0 and page["unused"] == []
    found = report["protocols"]
    assert [(each["protocol"], each["compared"], each["differences"]) for each in found] == [
        ("http/1.1", 21, []),
        ("h2", 21, []),
        ("h3", 21, []),
    ]


def _wait_for_first_record(out: Path, process: "subprocess.Popen[str]") -> None:
    """Waits, without a fixed sleep, until one trial is committed."""
    deadline = time.monotonic() + TEST_TIMEOUT_S
    trials = out / "trials"
    while time.monotonic() < deadline:
        committed = trials.glob("[!.]*") if trials.is_dir() else ()
        if any(committed):
            return
        if process.poll() is not None:
            pytest.fail(process.stderr.read() if process.stderr else "it ended")
        select.select([], [], [], 0.02)
    pytest.fail("no trial was committed")

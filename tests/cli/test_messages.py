"""What the command says: one clear line for each mistake, results apart from hints."""

import json
import os
import select
import signal
import socket
import subprocess
import sys
import time

import pytest
from in_process import run_command
from timeouts import TEST_TIMEOUT_S

from eyelevel.plan.networks.presets import find_network
from eyelevel.plan.single_load_plan import one_cell
from eyelevel.plan.stack_presets import STACKS_BY_NAME
from eyelevel.plan.trials import expand
from eyelevel.sites.recorded import open_site

COMMAND = (sys.executable, "-m", "eyelevel.cli.main")
LIVE_URL = "https://a.example/"


@pytest.mark.parametrize(
    ("arguments", "status", "expected"),
    [
        (("load", "nowhere"), 2, "no recorded site `nowhere`; shipped: admin, agency"),
        (("load", "./nowhere.wacz"), 2, "nowhere.wacz"),
        (
            ("load", LIVE_URL),
            2,
            "`https://a.example/` is the URL of a page, not a recording: `eyelev",
        ),
        (("load", "agency", "--network", "dls"), 2, "unknown network `dls`; did you mean `dsl`?"),
        (("load", "agency", "--network", "das-0-9"), 2, "das-RATE-RTT takes a rate from 0.001 to"),
        (("load", "agency", "--rtt", "40"), 2, "--rtt: clause 1"),
        (
            ("load", "agency", "--network", "dsl", "--rtt", "40ms"),
            2,
            "--network dsl and --rtt 40ms: a network has a round trip of its own, so leave one out",
        ),
        (("probe", "lab", "--network", "lte", "--trace-up", "x"), 2, "a network has links of its"),
        (("probe", "a.example", "--rtt", "40ms"), 2, "--rtt: a network needs the host `lab`"),
        (("record", "http://a.example/", "--rtt", "40"), 2, "--rtt: clause 1"),
        (
            ("ask", "agency", "--change", "http3", "--networks", "dsl", "--rtt", "40ms"),
            2,
            "--networks and --rtt both choose networks; give only one of them",
        ),
        (("record", "--proxy", "0", "--rtt", "40ms"), 2, "--proxy: no client outside the path"),
        (
            ("explain", "stacks", "--run", "x", "--up", "none"),
            2,
            "--up: a run has its own networks",
        ),
        (("replay", "agency", "--up", "delya 1ms", "--", "true"), 2, "--up: clause 1"),
        (("load", "http://a.example/", "--live", "--trace-up", "x"), 2, "--trace-up: a live load"),
        (
            ("load", "http://a.example/", "--live", "--longest-prefix"),
            2,
            "--longest-prefix: a live",
        ),
        (("validate", "live", "www.example.org"), 2, "`www.example.org` is not a page's URL"),
        (("validate", "live", LIVE_URL, "--visit", "repeat"), 2, "--visit, --visitor: a live load"),
        (
            ("validate", "live", LIVE_URL, "--logs", "qlog"),
            2,
            "--logs: the connections of a live load",
        ),
        (
            ("validate", "live", LIVE_URL, "--stack", "quic+0rtt"),
            2,
            "--stack `quic+0rtt`: early da",
        ),
        (("load", "agency", "--stack", "quik"), 2, "unknown stack `quik`; did you mean `quic`?"),
        (("load", "agency", "--stack", "quic+0rtt"), 2, "(of a load: `--visit repeat`)"),
        (("validate", "level", "--stacks", "quic"), 2, "that is 1; give two, as tcp+,quic"),
        (("validate", "level", "--stacks", "tcp+,quic,tcp"), 2, "that is 3; give two, as tcp+,q"),
        (("validate", "level", "--stacks", ","), 2, "that is none; give two, as tcp+,quic"),
        (("validate", "level", "--stacks", "tcp+,quik"), 2, "--stacks: unknown stack `quik`; did"),
        (
            ("validate", "level", "--stacks", "tcp,quik", "--plan", "quickstart"),
            2,
            "--stacks: unknown stack `quik`; did you mean `quic`? It must be one of quickstart's",
        ),
        (("validate", "level", "--plan", "no.toml"), 2, "there is no plan file `no.toml`"),
        (("ask", "agency", "--change", "iw=x→y"), 2, "asking `iw=x→y` of `agency`: "),
        (("run", "quickstar", "--out", "x"), 2, "no plan file `quickstar` and no preset"),
        (("run", "quickstar", "--out", "x"), 2, "did you mean `quickstart`?"),
        (
            ("list", "stacks", "quicc"),
            2,
            "unknown stack `quicc`; did you mean `quic`?",
        ),
        (("report", "."), 2, "reading .: there is no run, since it has no plan.json; give what"),
        (("list", "nets"), 2, "KIND: `nets` is not one of networks, stacks, s"),
        (
            ("ask", "www.example.org", "--change", "http3"),
            2,
            "; or give a page's URL, like `https://www.example.org/`, or a WACZ or WARC file",
        ),
        (
            ("ask", "agenci", "--change", "http3"),
            2,
            "did you mean `agency`? Or give a page's URL, like `https://www.",
        ),
        (("ask", "https:///", "--change", "http3"), 2, "names no host; write it as `https://"),
        (("ask", "https://[", "--change", "http3"), 2, "names no host; write it as `https://"),
        (
            ("ask", "agency", "--change", "http3", "--users", "./no.csv"),
            2,
            "reading no.csv: there is no such file",
        ),
        (
            ("ask", "x", "--change", "h3", "--users", "a", "--networks", "dsl"),
            2,
            "give only one of",
        ),
        (
            ("scan", "README.md", "--names-with", "quic"),
            2,
            "is not a HOST[:PORT]",
        ),
        (("record", "www.example.org"), 2, "neither a folder that exists nor a page's URL; build"),
        (("record", "https://[", "--out", "x.wacz"), 2, "`https://[` is neither a folder"),
        (("report", "./nowhere"), 2, "nowhere"),
        (("record",), 2, "give the URL of a page, a folder, or `--proxy PORT`"),
        (("list", "nets"), 2, "nets"),
        (("lod",), 2, "lod"),
    ],
)
def test_a_mistake_is_one_clear_message(
    arguments: tuple[str, ...], status: int, expected: str
) -> None:
    done = run_command(*arguments)
    assert done.returncode == status, done
    assert done.stdout == ""
    assert expected in done.stderr
    assert "Traceback" not in done.stderr


def test_a_live_study_that_is_refused_leaves_nothing(tmp_path) -> None:
    study = ("validate", "live", "--out", str(tmp_path / "out"), "--against", "plain")
    for url, told in (
        ("https://plain.example/", "for plain.example: give --no-recorded-rtt with a --network or"),
        ("https://a.example/", "not of https://a.example/; validate that page, or record this one"),
    ):
        done = run_command(*study, url)
        assert (done.returncode, done.stdout) == (2, "")
        assert told in done.stderr and done.stderr.count("\n") == 1
        assert not (tmp_path / "out").exists()


def test_a_plan_with_mistakes_names_file_and_line(tmp_path) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text(
        'sites = ["agency"]\nnetworks = ["dsl"]\nstacks = ["tcp"]\nreference = "tcp"\nruns = 3\n'
    )
    done = run_command("run", str(plan), "--out", str(tmp_path / "out"))
    assert done.returncode == 2
    assert f"{plan}:5: unknown key `runs`; did you mean `blocks`?" in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_load_that_is_there_is_refused_before_any_is_done(tmp_path) -> None:
    site = open_site("plain")
    plan = one_cell(site.name, [find_network("dsl")], STACKS_BY_NAME["tcp+"], 2, 1)
    _, second = expand(plan, [site.of_plan()])
    (tmp_path / "trials" / second.hash).mkdir(parents=True)
    options = ("--network", "dsl", "--stack", "tcp+", "--runs", "2", "--out", str(tmp_path))
    done = run_command("load", "plain", *options)
    assert done.returncode == 2
    assert f"eyelevel: keeping {tmp_path}/trials/{second.hash}: an earlier load" in done.stderr
    assert "load 1 of 2" not in done.stderr
    assert [each.name for each in (tmp_path / "trials").iterdir()] == [second.hash]


def test_names_of_a_list_need_the_rows_of_a_scan(tmp_path) -> None:
    hosts = tmp_path / "hosts"
    hosts.write_text("www.example.org\n", encoding="utf-8")
    done = run_command("scan", str(hosts), "--names-with", "quic")
    assert done.returncode == 2 and done.stdout == ""
    assert "scan first, or give the file of rows with --out" in done.stderr


def test_an_interrupted_command_says_so(tmp_path) -> None:
    rows = tmp_path / "rows.jsonl"
    with socket.create_server(("127.0.0.1", 0)) as server:
        host = f"127.0.0.1:{server.getsockname()[1]}"
        command = [*COMMAND, "probe", host, "--protocols", "tcp", "--every", "1h", "--for", "3h"]
        command += ["--out", str(rows)]
        process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        deadline = time.monotonic() + TEST_TIMEOUT_S
        while not (rows.exists() and rows.read_bytes().endswith(b"\n")):
            assert process.poll() is None and time.monotonic() < deadline
            select.select([], [], [], 0.02)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=TEST_TIMEOUT_S)
    assert process.returncode == 130 and said.endswith("eyelevel: interrupted\n")


def test_a_page_that_nothing_serves_is_told_with_what_the_recorder_met(tmp_path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        host = f"127.0.0.1:{server.getsockname()[1]}"
    done = run_command("record", f"https://{host}/", "--out", str(tmp_path / "site.wacz"))
    assert done.returncode == 2
    said = done.stderr.splitlines()[-1]
    assert said.startswith(
        f"eyelevel: recording https://{host}/ failed: connecting to {host} failed: Connection ref"
    )
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("kind", ["networks", "stacks", "sites", "plans"])
def test_lists_are_tables_for_people_and_json_for_machines(kind: str) -> None:
    for_people, for_machines = run_command("list", kind), run_command("list", kind, "--json")
    assert for_people.returncode == for_machines.returncode == 0
    values = json.loads(for_machines.stdout)
    assert values
    for value in values:
        # A grid of a hundred networks is one line for people.
        assert value["name"] in for_people.stdout or value.get("group") == "das"


def test_jobs_keep_to_the_cores_that_the_command_was_given(tmp_path) -> None:
    core = min(os.sched_getaffinity(0))
    done = subprocess.run(
        [*COMMAND, "run", "quickstart", "--out", str(tmp_path / "out"), "--jobs", "2"],
        capture_output=True,
        text=True,
        timeout=TEST_TIMEOUT_S,
        check=False,
        preexec_fn=lambda: os.sched_setaffinity(0, {core}),  # as `taskset` does
    )
    assert done.returncode == 2 and done.stdout == ""
    assert "--jobs 2 needs 4 cores, 2 a lab; this process may use 1; give --jobs 1" in done.stderr
    assert not (tmp_path / "out").exists()


def test_doctor_gives_each_lack_its_remedy() -> None:
    done = run_command("doctor", "--json")
    findings = json.loads(done.stdout)
    assert done.returncode == int(any(each["state"] == "missing" for each in findings))
    for each in findings:
        assert each["state"] == "ok" or each["remedy"], each


def test_what_would_steer_the_terminal_is_spelled_out(tmp_path):
    """A name from somebody's plan is shown, and does nothing."""
    plan = tmp_path / "plan.toml"
    plan.write_text(
        'sites = ["\\u001b[2J\\u202e[x]"]\nnetworks = ["dsl"]\nstacks = ["tcp", "quic"]\n'
        'reference = "tcp"\nblocks = 2\n'
    )
    found = run_command("plan", "check", str(plan))
    assert found.returncode == 2 and "\\x1b[2J\\u202e[x]" in found.stderr
    assert "\x1b[2J" not in found.stderr and "\u202e" not in found.stderr

"""What the command says: one clear line for each mistake, results apart from hints."""

import json
import subprocess
import sys

import pytest

COMMAND = (sys.executable, "-m", "eyelevel.cli.main")


def eyelevel(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *arguments], capture_output=True, text=True, timeout=60, check=False
    )


@pytest.mark.parametrize(
    ("arguments", "status", "expected"),
    [
        (("load", "nowhere"), 1, "no recorded site `nowhere`; shipped: admin, agency"),
        (("load", "./nowhere.wacz"), 1, "nowhere.wacz"),
        (("load", "agency", "--network", "dls"), 1, "unknown network `dls`; did you mean `dsl`?"),
        (("load", "agency", "--stack", "quik"), 1, "unknown stack `quik`; did you mean `quic`?"),
        (("run", "quickstar", "--out", "x"), 1, "no plan file `quickstar` and no preset"),
        (("ask", "https:///", "--change", "http3"), 1, "names no host; write it as `https://"),
        (("ask", "agency", "--change", "http3", "--users", "./no.csv"), 1, "reading no.csv: No"),
        (("ask", "x", "--change", "h3", "--users", "a", "--networks", "dsl"), 1, "give one of"),
        (("report", "./nowhere"), 1, "nowhere"),
        (("list", "nets"), 2, "nets"),
        (("lod",), 2, "lod"),
    ],
)
def test_a_mistake_is_one_clear_message(
    arguments: tuple[str, ...], status: int, expected: str
) -> None:
    done = eyelevel(*arguments)
    assert done.returncode == status, done
    assert done.stdout == ""
    assert expected in done.stderr
    assert "Traceback" not in done.stderr


def test_a_plan_with_mistakes_names_file_and_line(tmp_path) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text(
        'sites = ["agency"]\nnetworks = ["dsl"]\nstacks = ["tcp"]\nreference = "tcp"\nruns = 3\n'
    )
    done = eyelevel("run", str(plan), "--out", str(tmp_path / "out"))
    assert done.returncode == 1
    assert f"{plan}:5: unknown key `runs`; did you mean `blocks`?" in done.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("kind", ["networks", "stacks", "sites", "plans"])
def test_lists_are_tables_for_people_and_json_for_machines(kind: str) -> None:
    for_people, for_machines = eyelevel("list", kind), eyelevel("list", kind, "--json")
    assert for_people.returncode == for_machines.returncode == 0
    values = json.loads(for_machines.stdout)
    assert values
    for value in values:
        # A grid of a hundred networks is one line for people.
        assert value["name"] in for_people.stdout or value.get("group") == "das"


def test_doctor_gives_each_lack_its_remedy() -> None:
    done = eyelevel("doctor", "--json")
    findings = json.loads(done.stdout)
    assert done.returncode == int(any(each["state"] == "missing" for each in findings))
    for each in findings:
        assert each["state"] == "ok" or each["remedy"], each

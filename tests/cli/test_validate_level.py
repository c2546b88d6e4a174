"""`validate level` and `explain stacks` of a pair that was measured: with runs that are made up."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from in_process import run_command
from timeouts import TEST_TIMEOUT_S

from eyelevel.calibration.level.aspects import ASPECTS
from eyelevel.calibration.level.classes import SCENARIOS
from eyelevel.calibration.level.rows import Run
from eyelevel.calibration.measuring.cache import RunCache
from eyelevel.calibration.measuring.measure import RUNS_MAX
from eyelevel.plan.stack_presets import STACKS_BY_NAME

COMMAND = (sys.executable, "-m", "eyelevel.cli.main")
LABELS = {"connection_type": "4g", "priorities": "image u=3 x60", "cipher": "AES, X25519"}
APART_BY_NATURE = {"bulk on far": ("connect_ms", 402.0, 202.0),
                   "page on far": ("page_connect_ms", 402.0, 202.0),
                   "page on slow": ("page_connect_ms", 526.0, 264.0),
                   "loss at the tail": ("repair_ms", 460.0, 250.0)}  # fmt: skip


def keep(unequal: str = "") -> None:
    """As many runs of tcp+ and quic as there may be, so that nothing is measured."""
    kept = RunCache((STACKS_BY_NAME["tcp+"], STACKS_BY_NAME["quic"]))
    for scenario in SCENARIOS:
        names = [m.value for a in ASPECTS if (m := a.measure) and scenario.name in m.on]
        for side in (0, 1) * RUNS_MAX:
            numbers = dict.fromkeys(names, 7.0)
            if scenario.name in APART_BY_NATURE:
                name, *values = APART_BY_NATURE[scenario.name]
                numbers[name] = values[side]
            apart = {name: 10_000.0 * (1 + side) for name in names if name == unequal}
            labels = {name: LABELS[name] for name in names if name in LABELS}
            kept.add(Run(scenario.name, side, numbers | apart | labels))


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("COLUMNS", raising=False)


def test_what_is_kept_is_read_and_fits_where_there_is_no_terminal() -> None:
    keep()
    done = run_command("validate", "level")
    assert done.returncode == 0 and "run 1/" not in done.stderr
    assert done.stdout.startswith("tcp+ and quic are level: of 66 rows none unequal, none unknown")
    *lines, where = done.stdout.splitlines()
    assert max(map(len, lines)) <= 80
    word, _, file = where.partition(": ")
    assert word == "kept" and Path(file).read_text().count('"scenario"') > 0
    # A process of its own, since a console takes its width when it is made.
    wide = subprocess.run(
        [*COMMAND, "validate", "level"],
        capture_output=True,
        text=True,
        timeout=TEST_TIMEOUT_S,
        check=False,
        env={**os.environ, "COLUMNS": "140"},
    )
    assert len(wide.stdout.splitlines()) < len(done.stdout.splitlines())


def test_an_unequal_row_is_told_first_and_in_the_status_and_json_has_every_row() -> None:
    keep(unequal="unsent_bytes_max")
    done = run_command("validate", "level")
    assert done.returncode == 1
    said = " ".join(done.stdout.split())
    assert said.startswith("tcp+ and quic are not level: of 66 rows 2 unequal (unsent bytes), none")
    for_machines = run_command("validate", "level", "--json")
    assert for_machines.returncode == 1
    found = json.loads(for_machines.stdout)
    assert [row["aspect"] for row in found["rows"] if row["word"] == "unequal"] == (
        ["unsent bytes"] * 2
    )
    assert len(found["rows"]) == 66 and found["complete"]


def test_the_level_is_a_page_and_that_is_the_last_line(tmp_path) -> None:
    keep(unequal="unsent_bytes_max")
    page = tmp_path / "level.html"
    done = run_command("validate", "level", "--page", str(page))
    assert done.returncode == 1 and done.stdout.splitlines()[-1] == f"page: {page}"
    assert "tcp+ and quic are not level: of 66 rows 2 unequal" in page.read_text("utf-8")


def test_a_reader_who_closes_early_has_the_page(tmp_path) -> None:
    keep()
    page = tmp_path / "level.html"
    reading, writing = os.pipe()
    os.close(reading)
    words = [*COMMAND, "validate", "level", "--page", str(page)]
    subprocess.run(
        words, stdout=writing, stderr=subprocess.DEVNULL, timeout=TEST_TIMEOUT_S, check=False
    )
    os.close(writing)
    assert page.exists()


def test_stacks_are_explained_by_what_was_measured_and_what_was_not_is_named() -> None:
    keep(unequal="unsent_bytes_max")
    done = run_command("explain", "stacks")
    assert done.returncode == 0
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert done.stdout.startswith("tcp+ and quic are not level: ")
    command = "eyelevel validate level --stacks tcp,tcp+"
    assert f"not measured on this machine: tcp; {command} measures tcp and tcp+" in done.stderr
    found = json.loads(run_command("explain", "stacks", "--json").stdout)
    (unsent,) = (
        row
        for row in found["aspects"]
        if (row["aspect"], row["scenario"]) == ("unsent bytes", "page on far")
    )
    assert unsent == {
        "aspect": "unsent bytes",
        "scenario": "page on far",
        "kind": "measured",
        "values": {"tcp": None, "tcp+": "10,000 bytes", "quic": "20,000 bytes"},
        "differs": True,
        "findings": ["unequal"],
    }


def test_one_stack_with_other_ways_to_its_origins_is_not_measured_against_itself(tmp_path) -> None:
    plan = tmp_path / "ways.toml"
    plan.write_text(
        'sites = ["agency"]\nnetworks = ["dsl"]\nreference = "far"\nblocks = 2\n'
        + "".join(
            f'[[stacks]]\nname = "{name}"\nbase = "tcp+"\n'
            f'origin_rtt = {{ "images.agency.example" = "{rtt}" }}\n'
            for name, rtt in (("far", "90ms"), ("near", "20ms"))
        )
    )
    done = run_command("validate", "level", "--stacks", "far,near", "--plan", str(plan))
    assert (done.returncode, done.stdout) == (2, "")
    assert "far and near of" in done.stderr
    assert "differ only in the paths to their origins" in done.stderr


def test_a_plans_ways_to_its_origins_are_no_part_of_the_level_and_it_says_so(tmp_path) -> None:
    keep()
    plan = tmp_path / "ways.toml"
    head = 'sites = ["agency"]\nnetworks = ["dsl"]\nreference = "tcp+"\nblocks = 2\n'
    for more, is_told in (('origin_rtt = { "*" = "90ms" }\n', True), ("", False)):
        plan.write_text(f'{head}stacks = ["tcp+", "quic"]\n{more}')
        done = run_command("validate", "level", "--plan", str(plan))
        assert done.returncode == 0, done.stderr
        # What was measured of the same stacks without is what is read.
        assert done.stdout.startswith("tcp+ and quic are level: of 66 rows none unequal")
        assert ("measured without the plan's `origin_rtt`" in done.stderr) == is_told

"""`environment.json` and `stop.json` are checked in depth: a damaged row is named in one line."""

import json
import shutil
from copy import deepcopy
from importlib.resources import files
from pathlib import Path
from typing import get_args

import pytest
from bad_samples import STOPPED, environment

from eyelevel.analysis.run_files import (
    ROW_CODE,
    code_version,
    hash_of_code,
    read_environment,
    read_stopped,
)
from eyelevel.base.errors import StoreError
from eyelevel.calibration.level.classes import CLASS_NAMES
from eyelevel.store.directory import ENVIRONMENT_FILE, STOP_FILE
from eyelevel.store.environment import Word

ROW, CELL = ("levels", 0, "rows", 0), ("stacks_validated", 0)

WRONG_ROWS = [
    (("levels", 0, "rows"), "x"),
    (("levels", 0, "binary"), None),
    ((*ROW, "aspect"), ["x"]),
    ((*ROW, "first"), {}),
    ((*ROW, "difference"), None),
    ((*ROW, "difference", "low"), None),
    ((*ROW, "difference", "value"), "2"),
    ((*ROW, "word"), "fine"),
    ((*ROW, "runs"), [3]),
    ((*ROW, "settings"), "x"),
    ((*ROW, "margin"), "0"),
    (CELL, ["x"]),
    ((*CELL, "network"), 5),
    ((*CELL, "tcp"), None),
    ((*CELL, "quic", "corrected_bit_s"), "fast"),
    ((*CELL, "quic", "failed_runs"), -1),
    ((*CELL, "ratio"), 1.0),
    ((*CELL, "ratio", "high"), None),
    ((*CELL, "few_losses"), None),
]
WRONG_STOPS = [
    (("version",), 2),
    (("repetition",), "4"),
    (("reason",), None),
    (("networks",), ["traced"]),
    (("networks", "traced"), "4"),
    (("comparisons",), None),
    (("comparisons", 0), "x"),
    (("comparisons", 0, "stack"), None),
    (("comparisons", 0, "repetition"), -1),
]


def changed(document, place, value):
    """A copy with another value at a place."""
    copy = deepcopy(document)
    holder = copy
    for step in place[:-1]:
        holder = holder[step]
    assert place[-1] in holder or isinstance(holder, list)
    holder[place[-1]] = value
    return copy


def refusal(read, directory, name, document):
    """What is said of the document."""
    (directory / name).write_text(json.dumps(document))
    with pytest.raises(StoreError) as error:
        read(directory)
    said = str(error.value)
    assert len(said.splitlines()) == 1 and said.startswith(f"reading {directory / name}: ")
    return said


def test_what_was_measured_is_read_as_it_was_written(tmp_path):
    (tmp_path / ENVIRONMENT_FILE).write_text(json.dumps(environment()))
    (tmp_path / STOP_FILE).write_text(json.dumps(STOPPED))
    assert read_environment(tmp_path) == environment() and read_stopped(tmp_path) == STOPPED


@pytest.mark.parametrize(("place", "value"), WRONG_ROWS)
def test_a_damaged_row_of_what_was_measured_is_named(tmp_path, place, value):
    said = refusal(
        read_environment, tmp_path, ENVIRONMENT_FILE, changed(environment(), place, value)
    )
    assert f"`{place[0]}.0" in said


@pytest.mark.parametrize(("place", "value"), WRONG_STOPS)
def test_a_damaged_stop_is_refused(tmp_path, place, value):
    assert str(place[0]) in refusal(
        read_stopped, tmp_path, STOP_FILE, changed(STOPPED, place, value)
    )


@pytest.mark.parametrize("key", ["repetition", "reason", "networks", "comparisons"])
def test_what_a_stop_lacks_is_named(tmp_path, key):
    without = {name: value for name, value in STOPPED.items() if name != key}
    assert f"`{key}`" in refusal(read_stopped, tmp_path, STOP_FILE, without)


def test_a_rows_classes_are_those_of_the_level():
    assert set(get_args(Word)) == CLASS_NAMES.keys()


def test_kept_rows_are_of_the_code_of_all_rooms(tmp_path):
    """Whichever file changes, goes, or gets a sibling in a room: the rows are computed anew."""
    copies = [shutil.copytree(str(files(package)), tmp_path / package) for package in ROW_CODE]
    folders = [Path(str(files(package))) for package in ROW_CODE]
    version, code = hash_of_code(copies), [file for copy in copies for file in copy.rglob("*.py")]
    assert code_version() == hash_of_code(folders) and len(code) > 25
    assert {"visual", "browser", "network"} <= {file.stem for file in code}
    for file in code:
        text = file.read_bytes()
        file.write_bytes(text + b"# changed\n")
        assert hash_of_code(copies) != version, file
        file.unlink()
        assert hash_of_code(copies) != version, file
        file.write_bytes(text)
        sibling = file.with_name(f"a_{file.name}")
        sibling.write_bytes(b"")
        assert hash_of_code(copies) != version, file
        sibling.unlink()
    assert hash_of_code(copies) == version


def test_code_that_moves_to_another_room_is_other_code(tmp_path):
    for room in ("one", "other"):
        (tmp_path / room).mkdir()
    (tmp_path / "one" / "metric.py").write_text("x = 1\n")
    version = hash_of_code([tmp_path])
    (tmp_path / "one" / "metric.py").rename(tmp_path / "other" / "metric.py")
    assert hash_of_code([tmp_path]) != version

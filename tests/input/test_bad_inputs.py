"""Bad inputs through the command: each is read, or refused in one line that names the file.

Seeded mutants of real samples of every kind of file that people hand on (`bad_inputs`), read by the
command's own entry in processes whose memory is bounded at 512 MB beyond what they begin with, and
each input at 10 s of processor; of those that are refused a twentieth once more as whole commands.
`make test` reads the first of each kind, 230 in all; all 2,000 take three minutes of processor.
"""

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from bad_inputs import KINDS, bad_inputs, place
from counts import count
from remedies import has_remedy
from repository import ROOT
from timeouts import TEST_TIMEOUT_S

pytestmark = pytest.mark.counted

SEED = 20261123
ASKED = count(full=2000, sample=230)
OF_EACH = -(-ASKED // len(KINDS))
WHOLE = ASKED // 20
WORKERS = 2
LINE_MAX = 900
REFUSED_SINCE = 40
"""With so many inputs of a kind, some are refused of every kind."""
READER = ROOT / "tests" / "helpers" / "read_bad_inputs.py"


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """How the command ended with every mutant."""
    folder = tmp_path_factory.mktemp("bad")
    names = list(KINDS)
    # The slow ones, which end in reports, lie beside one another.
    parts = [names[start::WORKERS] for start in range(WORKERS)]

    def read(part: list[str]) -> list[dict[str, Any]]:
        command = [sys.executable, str(READER), str(SEED), str(OF_EACH), str(folder / part[0])]
        done = subprocess.run([*command, *part], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr[-2000:]
        return [json.loads(line) for line in done.stdout.splitlines()]

    with ThreadPoolExecutor(WORKERS) as workers:
        return [each for part in workers.map(read, parts) for each in part]


def test_each_is_read_or_refused_in_one_line(found: list[dict[str, Any]]) -> None:
    refused = sum(each["status"] == 2 for each in found)
    print(
        f"{len(found)} inputs of {len(KINDS)} kinds, seed {SEED}: {refused} refused, the rest read"
    )
    assert len(found) >= ASKED
    wrong = [each for each in found if fault_of(each)]
    assert not wrong, "\n".join(
        f"{each['kind']}, seed {SEED}, number {each['number']}: {fault_of(each)}: "
        f"{each['crash'] or each['said']}"
        for each in wrong[:5]
    )


@pytest.mark.parametrize("name", KINDS)
def test_a_sample_of_each_kind_is_read_and_a_mutant_is_not(
    found: list[dict[str, Any]], name: str
) -> None:
    """Where the sample itself is refused its mutants do not come far."""
    of_kind = [each for each in found if each["kind"] == name]
    samples, damaged = [], []
    for each in of_kind:
        part = samples if each["number"] < len(KINDS[name].samples()) else damaged
        part.append(each["status"])
    assert 0 in samples, of_kind[0]["said"]
    # A few mutants of one kind may all be read.
    assert 2 in damaged or OF_EACH < REFUSED_SINCE


def test_no_input_takes_long(found: list[dict[str, Any]]) -> None:
    """What takes over 10 s is ended and is no line; so far none has taken 2."""
    assert not [each for each in found if "TooLongError" in each["crash"]]


def test_whole_commands_end_alike(found: list[dict[str, Any]], tmp_path: Path) -> None:
    refused = [each for each in found if each["status"] == 2]
    chosen = refused[:: max(1, len(refused) // WHOLE)][:WHOLE]
    assert len(chosen) == WHOLE
    contents = {
        name: list(bad_inputs(name, SEED, OF_EACH)) for name in {each["kind"] for each in chosen}
    }

    def run(each: dict[str, Any]) -> str:
        folder = tmp_path / f"{each['kind']}-{each['number']}".replace(" ", "-")
        folder.mkdir()
        placed = place(KINDS[each["kind"]], contents[each["kind"]][each["number"]], folder)
        done = subprocess.run(
            [sys.executable, "-m", "eyelevel", *placed.words],
            capture_output=True,
            text=True,
            timeout=TEST_TIMEOUT_S,
            check=False,
            env={**os.environ, "COLUMNS": "80"},
        )
        ended = {"status": done.returncode, "said": done.stderr, "crash": "", "named": placed.named}
        return fault_of({**each, **ended})

    with ThreadPoolExecutor(WORKERS) as workers:
        faults = [fault for fault in workers.map(run, chosen) if fault]
    print(f"{len(chosen)} whole commands, seed {SEED}")
    assert not faults, faults[:5]


def fault_of(each: dict[str, Any]) -> str:
    """What is wrong with how a command ended; empty: nothing."""
    if each["crash"]:
        return "it ended in a traceback"
    if each["status"] == 0:
        return ""
    if each["status"] != 2:
        return f"status {each['status']}"
    lines = each["said"].splitlines()
    first = next((at for at, line in enumerate(lines) if line.startswith("eyelevel: ")), None)
    if first is None or (not each["said"].isprintable() and "\x1b" in each["said"]):
        return "no line that says what is wrong"
    error = lines[first:]
    # A plan's mistakes are all told, one a line; of all else there is one line.
    if len(error) > 1 and each["kind"] != "plan":
        return f"{len(error)} lines"
    file = Path(each["named"])
    named = (str(file), file.name) if file.is_file() or file.suffix else (str(file.parent),)
    for line in error:
        if not line.isprintable() or len(line) > LINE_MAX:
            return f"a line of {len(line)} characters, or one that is no text: {line[:300]!a}"
        if not has_remedy(line):
            return f"a line without a way out: {line}"
        if not any(name in line for name in named):
            return f"a line that does not name the file: {line}"
    return ""

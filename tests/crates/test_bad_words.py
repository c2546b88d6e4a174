"""What the data plane says of bad words and bad files: one line that has its way out."""

import json
import re
import subprocess
from pathlib import Path

import pytest
from remedies import has_remedy
from repository import ROOT
from timeouts import TEST_TIMEOUT_S

from eyelevel.lab.binary import find_binary

SITE = ROOT / "vectors" / "golden" / "small.wacz"
LAB = {"path": {"down": [], "up": []}, "seed": 1}
SCAN = {"in_flight": 0}


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("stages", "rate 10 furlongs"), ""),
        (("stages", "delay soon"), ""),
        (("stages", "loss recorded /none/such"), ""),
        (("stages", "[{}]"), ""),
        (("stages", "rate 1 Mbit/s, queue red weight x"), ""),
        (("archive", "info", "none.wacz"), ""),
        (("archive", "info", "FOLDER"), ""),
        (("archive", "verify", "TEXT"), ""),
        (("archive", "import", "TEXT", "--out", "out.wacz"), ""),
        (("archive", "import", "TEXT", "--out", "out.wacz", "--main-url", "nowhere"), ""),
        (("archive", "import", "TEXT", "--out", "out.wacz", "--viewport", "wide"), ""),
        (("archive", "pack", "TEXT", "--out", "out.wacz"), ""),
        (("archive", "export", str(SITE), "--har", "none/such/out"), ""),
        (("archive", "edit", str(SITE), "--edits", "TEXT", "--out", "out.wacz"), ""),
        (("path-check", "TEXT"), ""),
        (("path-check", "none.log"), ""),
        (("confine", "--user", "nobody", "--", "true"), ""),
        (("confine", "--user", "0:0", "--", "true"), ""),
        (("confine", "--writable", "here", "--", "true"), ""),
        (("record", "--out", "out.wacz", "--upstream-ca", "TEXT"), ""),
        (("record", "--out", "out.wacz", "--resolve", "here"), ""),
        (("traffic", "send", "--to", "127.0.0.1:9"), ""),
        (("shell", "--rtt", "20 ms loss 1", "true"), ""),
        (("shell", "--watch"), ""),
        (("shell", "--log", "TEXT/below", "true"), ""),
        (("nothing",), ""),
        (("up",), "{}"),
        (("up",), json.dumps({**LAB, "site": "none.wacz"})),
        (("up",), json.dumps({**LAB, "certificates": "."})),
        (("up",), json.dumps({**LAB, "path": {"down": "delya 1ms", "up": []}})),
        (("up",), json.dumps({**LAB, "watch_interval_ms": 1})),
        (("up",), json.dumps({**LAB, "log": "TEXT/below"})),
        (("probe",), "{}"),
        (("scan",), json.dumps(SCAN)),
        (("probe-target",), "no JSON"),
        (("simulate",), "no list"),
    ],
)  # fmt: skip
def test_bad_words_are_refused_in_a_line_with_its_way_out(
    tmp_path: Path, words: tuple[str, ...], line: str
) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "text").write_text("neither a site nor a log\n")
    known = {"FOLDER": "folder", "TEXT": "text", "TEXT/below": "text/below"}
    done = subprocess.run(
        [find_binary(), *(known.get(word, word) for word in words)],
        input=line.replace("TEXT", "text") + "\n",
        capture_output=True,
        text=True,
        timeout=TEST_TIMEOUT_S,
        check=False,
        cwd=tmp_path,
    )
    assert done.returncode not in (0, 101), "refused, and no panic"
    if done.stdout:
        message = json.loads(done.stdout)["message"]
    else:
        message = re.sub(r"^(?:eyelevel(?:-lab)?|error): ", "", done.stderr.strip())
    # Of an argument that cannot be read a further line says how to get help.
    assert "\n" not in message or "try '--help'" in message
    assert has_remedy(message), message

"""`eyelevel ask BEFORE AFTER`: two recordings of one page, loaded in the same blocks."""

import json
import subprocess
import sys
from pathlib import Path

from loads import GOOD
from small_site import BODIES, PAGE, PAGE_URL, pack_small_site
from timeouts import TEST_TIMEOUT_S

from eyelevel.store.directory import iterate_trials

COMMAND = (sys.executable, "-m", "eyelevel.cli.main")
SCRIPT = PAGE_URL + "slow.js"
BLOCKING_MS = 300
"""The time by which the script of the changed page delays painting."""
WITH_SCRIPT = {
    **BODIES,
    "": ("text/html", PAGE.replace(b"<h1>", b"<script src=/slow.js></script><h1>")),
    "slow.js": (
        "text/javascript",
        b"for (const end = performance.now() + %d; performance.now() < end;);"
        b"performance.mark('ready'); performance.measure('work', {start: 0, duration: 7})"
        % BLOCKING_MS,
    ),
}


def pack(folder: Path, bodies: dict[str, tuple[str, bytes]]) -> Path:
    folder.mkdir()
    return pack_small_site(folder, bodies)


def test_a_page_before_and_after_its_change(labs: None, tmp_path: Path) -> None:
    main, pr = pack(tmp_path / "main", BODIES), pack(tmp_path / "pr", WITH_SCRIPT)
    words = ["ask", main, pr, "--rtt", "40ms", "--blocks", "2", "--json"]
    words += ["--device", "moto-g", "--cpu-slowdown", "1"]
    done = subprocess.run(
        [*COMMAND, *map(str, words), "--inconclusive", "pass"],
        capture_output=True,
        text=True,
        timeout=TEST_TIMEOUT_S,
        check=False,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    loads = [each.record for each in iterate_trials(tmp_path / Path(found["report"]).parent)]
    assert {each["outcome"] for each in loads} <= set(GOOD), loads
    blocks: dict[str, set[tuple[str, str, int]]] = {}
    for each in loads:
        trial = each["trial"]
        assert trial["stack"] == f"{trial['variant']}/quic"
        shown = trial["browser"]
        assert (shown["device"]["name"], shown["cpu_slowdown"]) == ("moto-g", 1)
        key = trial["variant"], trial["site_digest"], trial["seed"]
        blocks.setdefault(trial["block"], set()).add(key)
        assert {item["protocol"] for item in each["objects"]} == {"h3"}
        requested = [item["url"] for item in each["objects"]]
        assert (SCRIPT in requested) == (trial["variant"] == "pr")
        timings = each["navigation"]["user_timings"]
        assert bool(timings) == (trial["variant"] == "pr")
        if timings:
            assert timings["measure:work"] == 7
            assert BLOCKING_MS < timings["mark:ready"] < each["navigation"]["page_load_time_ms"]
    for block in blocks.values():
        assert {variant for variant, _, _ in block} == {"main", "pr"}
        assert len({digest for _, digest, _ in block}) == 2
        assert len({seed for *_, seed in block}) == 1

    (changed,) = found["changed"]
    assert changed["counts"]["requests"] == {"main": 3, "pr": 4}
    assert changed["counts"]["render-blocking"] == {"main": 1, "pr": 2}
    assert changed["added"] == changed["render_blocking_added"] == [SCRIPT]
    assert (changed["removed"], changed["pixels_changed"]) == ([], 0)
    gain = next(each for each in found["gains"] if each["metric"] == found["primary_metric"])
    assert (gain["stack"], gain["reference"]) == ("pr/quic", "main/quic")

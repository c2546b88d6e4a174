"""The golden files: read by the product's own readers, and what `scripts/golden.py` makes now."""

import gzip
import io
import json
import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from repository import ROOT

from eyelevel.analysis.metrics.catalogue import metrics_of
from eyelevel.analysis.pathlog import read_log, summarise
from eyelevel.lab.binary import run_tool
from eyelevel.plan.plan_json import parse_plan_document
from eyelevel.plan.trials import Site, expand, plan_document
from eyelevel.run.bundle.unpack import open_bundle
from eyelevel.sites.recorded import open_site
from eyelevel.store.directory import PLAN_FILE, iterate_trials, list_committed, read_document
from eyelevel.store.schema import Host, Navigation, Record, TrialKey

GOLDEN = ROOT / "vectors" / "golden"
RUN = GOLDEN / "run"
SITE_SHA256 = "17026f1a466bb10698db1fe29a6e0b2272753717e739495578c0fb24dcb588ed"
TRACE_SHA256 = "0f9466ceaf3b4c0ccd2a06d260a2d6d249181123cdb8e1ea921a7f6e6bae0fc1"

MIXED_BYTES = (1272, 0.292453)
"""Of `mixed.wacz`: of all bodies, and the share of them over https."""

FOUND = {
    ("traced", "quic"): (125.63, 1, False),
    ("traced", "tcp"): (151.627, 1, False),
    ("traced+cross", "quic"): (5262.875, 1, True),
    ("traced+cross", "tcp"): (191.08, 1, True),
}
"""Speed Index in ms, connections, whether a transfer ran beside it."""


def test_the_archive_is_the_small_page_with_its_style_and_picture() -> None:
    site = open_site(str(GOLDEN / "small.wacz"))
    assert (site.name, site.digest) == ("small", SITE_SHA256)
    info = run_tool(["archive", "info", str(GOLDEN / "small.wacz"), "--json"])
    assert (info["main_url"], info["objects"]) == ("https://small.example/", 3)
    assert set(info["media_types"]) == {"text/html", "text/css", "image/png"}
    (origin,) = info["origins"]
    assert (origin["host"], origin["address"]) == ("small.example", "192.0.2.10")


def test_a_page_partly_over_http_keeps_both_schemes_and_says_their_shares() -> None:
    info = run_tool(["archive", "info", str(GOLDEN / "mixed.wacz"), "--json"])
    assert info["main_url"] == "http://mixed.example/"
    origins = {(each["scheme"], each["host"], each["port"]) for each in info["origins"]}
    assert origins == {
        ("http", "mixed.example", 80),
        ("http", "plain.example", 80),
        ("http", "www.google-analytics.com", 80),
        ("https", "secure.example", 443),
    }
    assert (info["objects"], info["secure_share"]) == (8, 0.25)
    assert (info["body_bytes"], round(info["secure_bytes_share"], 6)) == MIXED_BYTES


def test_the_plan_is_read_and_gives_the_same_trials() -> None:
    document = read_document(RUN, PLAN_FILE)
    stored = parse_plan_document(document)
    files = {TRACE_SHA256: "inputs/cell.down"}
    plan = replace(stored.plan, sites=("small.wacz",), trace_files=files)
    assert [stack.name for stack in plan.stacks] == ["tcp", "quic"]
    assert [network.name for network in plan.networks] == ["traced", "traced+cross"]
    (stored,) = document["sites"]
    body_bytes = open_site(str(GOLDEN / "small.wacz")).body_bytes()
    site = Site(stored["name"], stored["digest"], body_bytes)
    again = plan_document(plan, [site], expand(plan, [site]))
    assert json.loads(json.dumps(again)) == document
    assert list_committed(RUN) == {trial["hash"] for trial in document["trials"]}


def test_the_records_have_every_key_and_their_metrics() -> None:
    trials = list(iterate_trials(RUN))
    # No live build answered in it, and none of its stacks has Early Hints.
    keys = set(Record.__annotations__) - {"live", "early_hints"}
    assert {key for trial in trials for key in trial.record} == keys
    for trial in trials:
        record = trial.record
        # The golden run has no variants, and was made before pages' own timings were kept.
        assert set(record["trial"]) == set(TrialKey.__annotations__) - {"variant"}
        assert set(Navigation.__annotations__) - {"user_timings"} == set(record["navigation"])
        # It was on no cluster, of whose machines a record tells, too, nobody watched
        # whether its processes were suspended, and its labs reserved no core: a record without is a
        # whole one.
        optional = {"machine", "slot", "suspended", "browser_cores"}
        assert set(Host.__annotations__) - optional < set(record["host"])
        metrics = metrics_of(record, trial.frames())
        assert metrics["page_load_time_ms"] == record["navigation"]["page_load_time_ms"]
    found = {
        (trial.record["trial"]["network"], trial.record["trial"]["stack"]): (
            round(metrics_of(trial.record, trial.frames())["speed_index_ms"] or 0, 3),
            len(trial.record["connections"]),
            trial.record["cross_traffic"] is not None,
        )
        for trial in trials
    }
    assert found == FOUND


def test_the_frames_are_those_of_the_loads() -> None:
    for trial in iterate_trials(RUN):
        entries = trial.record["frames"]
        frames = list(trial.frames())
        assert [frame.at_ms for frame in frames] == [entry["at_ms"] for entry in entries]
        assert (frames[0].picture == 255).all() and frames[0].picture.shape == (360, 640, 3)
        assert (frames[-1].picture[-1, -1] == (230, 230, 255)).all()
        (step,) = trial.step_frames()
        assert np.array_equal(list(step)[-1].picture, frames[-1].picture)


def test_the_bundle_unpacks_to_the_run_and_what_it_was_made_from(tmp_path: Path) -> None:
    bundle = open_bundle(GOLDEN / "run.zip", tmp_path / "unpacked")
    assert content_of(bundle.run) == content_of(RUN)
    assert [Path(site).read_bytes() for site in bundle.plan.sites] == [
        (GOLDEN / "small.wacz").read_bytes()
    ]
    trace = tmp_path / "unpacked/files" / TRACE_SHA256
    assert trace.read_bytes() == (GOLDEN / "inputs/cell.down").read_bytes()
    assert bundle.plan.trace_files == {TRACE_SHA256: str(trace.resolve())}


def test_the_path_log_has_the_fate_of_every_packet() -> None:
    """Twelve pings through 2 Mbit/s with a queue of three and a loss of a tenth."""
    found = summarise(read_log((GOLDEN / "path.log").read_bytes(), "path.log"))
    assert (found.direction, found.packets, found.departed_packets) == ("down", 12, 12)
    assert found.dropped == {"loss": 1}
    means = (found.throughput_bit_s, found.queue_delay_ms_mean, found.queue_delay_ms_max)
    assert tuple(round(mean or 0, 3) for mean in means) == (695988.679, 4.042, 7.415)


def test_the_golden_files_are_what_the_script_makes_now(tmp_path: Path) -> None:
    command = [sys.executable, str(ROOT / "scripts/golden.py"), "--out", str(tmp_path)]
    subprocess.run(command, check=True)
    made, kept = content_of(tmp_path), content_of(GOLDEN)
    kept = {name: content for name, content in kept.items() if name in made or "run/" in name}
    assert made == kept, (
        "a format changed: regenerate with scripts/golden.py (docs/reference/frozen.md)"
    )


def content_of(folder: Path) -> dict[str, Any]:
    """Of each file what a reader finds, so that another zlib or libwebp makes no difference."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {
        path.relative_to(folder).as_posix(): _content(path.name, path.read_bytes())
        for path in files
    }


def _content(name: str, content: bytes) -> Any:
    if name.endswith(".json"):
        return json.loads(content)
    if name.endswith(".gz"):
        return json.loads(gzip.decompress(content))
    if name.endswith(".zip"):
        with zipfile.ZipFile(io.BytesIO(content)) as pack:
            inner = {each: _content(each, pack.read(each)) for each in pack.namelist()}
        inner["bundle.json"]["files"] = sorted(inner["bundle.json"]["files"])
        return inner
    if name.endswith(".npz"):
        with np.load(io.BytesIO(content)) as arrays:
            return {
                key: (array.dtype.str, array.ndim, None if key in CODED else array.tolist())
                for key, array in arrays.items()
            }
    return None if name.endswith(".webp") else content


CODED = ("webp", "offset")
"""Of a frames file what an encoder chose; its pictures are compared above."""

import json
from pathlib import Path

import pytest
from repository import ROOT
from sample_record import sample_connection, sample_object, sample_record, sample_request
from typer.testing import CliRunner

from eyelevel.base.errors import ConnectionLogError
from eyelevel.cli.explain.commands import _PAINT, _WAITS, app, critical_connection, only_trial
from eyelevel.store.directory import RECORD_FILE, StoredTrial


def test_a_folder_stands_for_its_only_trial(tmp_path: Path) -> None:
    with pytest.raises(ConnectionLogError, match="it is not a trial; give DIR/trials/HASH"):
        only_trial(tmp_path)
    for name in ("one", "two"):
        (tmp_path / "trials" / name).mkdir(parents=True)
    (tmp_path / "trials" / "two" / RECORD_FILE).touch()
    assert only_trial(tmp_path) == tmp_path / "trials" / "two"
    (tmp_path / "trials" / "one" / RECORD_FILE).touch()
    with pytest.raises(ConnectionLogError, match=r"it holds 2 trials; name one, such as .*one"):
        only_trial(tmp_path)


def test_the_parts_of_the_largest_paint_are_told_and_add_up(tmp_path: Path) -> None:
    (trial, *_) = sorted((ROOT / "vectors" / "golden" / "run" / "trials").iterdir())
    page = str(tmp_path / "page.html")
    done = CliRunner().invoke(app, ["trial", str(trial), "--out", page, "--json"])
    assert done.exit_code == 0, done.output
    (found,) = json.loads(done.stdout)["connections"]
    whole, *parts = (found[name] for name, _ in _PAINT)
    assert sum(parts) == pytest.approx(whole) and min(parts) > 0
    paint_ms, handshakes, *waits = (found[name] for name, _ in _WAITS)
    assert sum(waits) == pytest.approx(paint_ms) and min(waits) >= 0 and handshakes >= 1
    told = CliRunner().invoke(app, ["trial", str(trial), "--out", page]).stdout
    rows = {line[:30].strip(): line[30:].split() for line in told.splitlines()}
    assert rows["largest contentful paint, ms"][-1] == f"{whole:.0f}"
    assert rows["of it element render delay"][-1] == f"{parts[-1]:.0f}"


def test_the_connection_of_the_critical_path_is_drawn_though_another_sent_more(
    tmp_path: Path,
) -> None:
    record = sample_record()
    record["objects"] = [
        sample_object(connection=7, response_ms=50.0, finished_ms=60.0),
        sample_object(
            url="https://cdn.example/s.css", resource_type="Stylesheet", render_blocking="Blocking",
            connection=8, started_ms=70.0, connect_ms=[71.0, 170.0], sending_ms=171.0,
            response_ms=220.0, finished_ms=230.0,
        ),
    ]  # fmt: skip
    record["requests"] = [
        sample_request(connection=0),
        sample_request(url="https://cdn.example/s.css", connection=3),
    ]
    record["connections"] = [
        sample_connection(number, sent_bytes=sent) for number, sent in ((0, 900_000), (3, 2_000))
    ]
    trial = StoredTrial(tmp_path, record)
    assert critical_connection(trial) == 3
    assert critical_connection(StoredTrial(tmp_path, {**record, "navigation": None})) == 0

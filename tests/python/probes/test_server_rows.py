"""A run of servers side by side that was stopped, and files that are none."""

import json
import random
from pathlib import Path

import pytest
from bad_inputs import flipped

from eyelevel.errors import ProbeError
from eyelevel.probes.server_rows import begun, read_rows
from eyelevel.probes.servers import side_by_side

ABOUT = {"servers": ["ours", "nginx"], "network": {"name": "dsl", "stages": ()}, "seed": 1}


def row(server: str, block: int) -> dict[str, object]:
    return {
        "event": "attempt", "probed_server": server, "block": block, "protocol": "quic",
        "failure": None, "connection_us": 20_000, "resumption_offered": False, "resumed": False,
        "round_trips": 1, "extra_round_trips": 0, "certificate_bytes": 820,
        "received_bytes": 1500, "sent_bytes": 2400, "retries": 0, "hello_retry_request": False,
    }  # fmt: skip


def written(path: Path, *lines: object) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def test_whole_visits_of_the_last_run_are_there(tmp_path: Path) -> None:
    old = [begun(ABOUT | {"seed": 2}), row("ours", 7), row("ours", 7)]
    whole = [begun(ABOUT), row("ours", 0), row("ours", 0), row("nginx", 0), row("nginx", 0)]
    path = written(tmp_path / "rows", *old, *whole, row("ours", 1))
    found = read_rows(path, ABOUT, 2)
    assert {place: len(rows) for place, rows in found.items()} == {
        (0, "ours", "quic"): 2,
        (0, "nginx", "quic"): 2,
    }


def test_another_run_is_not_gone_on_with(tmp_path: Path) -> None:
    path = written(tmp_path / "rows", begun(ABOUT))
    for other in ({"seed": 2}, {"network": {"name": "lte"}}, {"servers": ["ours"]}):
        with pytest.raises(ProbeError, match="begun with other servers, another network or"):
            read_rows(path, ABOUT | other, 2)
    with pytest.raises(ProbeError, match="holds no servers side by side: leave --resume out"):
        read_rows(written(tmp_path / "none", row("ours", 0)), ABOUT, 2)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("block", "0"),
        ("block", True),
        ("connection_us", []),
        ("resumed", 1),
        ("protocol", None),
    ],
)
def test_a_row_that_is_none_is_named(tmp_path: Path, name: str, value: object) -> None:
    path = written(tmp_path / "rows", begun(ABOUT), row("ours", 0) | {name: value})
    with pytest.raises(ProbeError, match=f"rows, line 2: {name} is not as the prober writes it"):
        read_rows(path, ABOUT, 2)


def test_a_damaged_file_is_read_or_refused_in_one_line(tmp_path: Path) -> None:
    lines = [begun(ABOUT), *(row(name, n) for n in range(4) for name in ("ours", "ours", "nginx"))]
    sample = written(tmp_path / "rows", *lines).read_bytes()
    chance, refused = random.Random(4), 0
    for _ in range(300):
        (tmp_path / "rows").write_bytes(flipped(sample, chance))
        try:
            found = read_rows(tmp_path / "rows", ABOUT, 2)
            side_by_side([each for rows in found.values() for each in rows], ABOUT["servers"])
        except ProbeError as error:
            refused += 1
            assert len(str(error).splitlines()) == 1
    assert 50 < refused < 300

"""A run of servers side by side that was stopped, and files that are none."""

import json
import random
from pathlib import Path

import pytest
from bad_changes import flipped

from eyelevel.base.errors import ProbeError
from eyelevel.probes.servers import read_rows, run_row, side_by_side

ABOUT = {"servers": ["ours", "nginx"], "network": {"name": "dsl", "stages": ()}, "seed": 1}


def row(server: str, block: int, number: int = 0) -> dict[str, object]:
    return {
        "event": "attempt", "probed_server": server, "block": block, "protocol": "quic",
        "failure": None, "connection_us": 20_000, "tcp_handshake_us": None,
        "resumption_offered": False, "resumed": False,
        "round_trips": 1, "extra_round_trips": 0, "certificate_bytes": 820,
        "received_bytes": 1500, "sent_bytes": 2400, "retries": 0, "hello_retry_request": False,
        "visit_row": number, "visit_rows": 2,
    }  # fmt: skip


def visit(server: str, block: int) -> list[dict[str, object]]:
    return [row(server, block, number) for number in range(2)]


def written(path: Path, *lines: object) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def test_whole_visits_of_the_last_run_are_there(tmp_path: Path) -> None:
    old = [run_row(ABOUT | {"seed": 2}), *visit("ours", 7)]
    whole = [run_row(ABOUT), *visit("ours", 0), *visit("nginx", 0)]
    path = written(tmp_path / "rows", *old, *whole, row("ours", 1))
    found = read_rows(path, ABOUT)
    assert {place: len(rows) for place, rows in found.items()} == {
        (0, "ours", "quic"): 2,
        (0, "nginx", "quic"): 2,
    }


def test_a_visit_that_broke_off_counts_once_it_was_made_anew(tmp_path: Path) -> None:
    """However often it did: rows of two halves are no visit."""
    lines = [run_row(ABOUT), *visit("nginx", 0), row("ours", 0), row("ours", 0)]
    assert list(read_rows(written(tmp_path / "rows", *lines), ABOUT)) == [(0, "nginx", "quic")]
    again = visit("ours", 0)
    again[0]["connection_us"] = 7
    found = read_rows(written(tmp_path / "rows", *lines, *again), ABOUT)
    assert found[0, "ours", "quic"] == again


def test_another_run_is_not_gone_on_with(tmp_path: Path) -> None:
    path = written(tmp_path / "rows", run_row(ABOUT))
    for other in ({"seed": 2}, {"network": {"name": "lte"}}, {"servers": ["ours"]}):
        with pytest.raises(ProbeError, match="begun with other servers, another network or"):
            read_rows(path, ABOUT | other)
    with pytest.raises(ProbeError, match="holds no comparison of servers: leave out --resume"):
        read_rows(written(tmp_path / "none", row("ours", 0)), ABOUT)


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
    path = written(tmp_path / "rows", run_row(ABOUT), row("ours", 0) | {name: value})
    with pytest.raises(ProbeError, match=f"rows, line 2: {name} is not as the prober writes it"):
        read_rows(path, ABOUT)


def test_a_damaged_file_is_read_or_refused_in_one_line(tmp_path: Path) -> None:
    lines = [
        run_row(ABOUT),
        *(each for n in range(4) for name in ("ours", "nginx") for each in visit(name, n)),
    ]
    sample = written(tmp_path / "rows", *lines).read_bytes()
    chance, refused = random.Random(4), 0
    for _ in range(300):
        (tmp_path / "rows").write_bytes(flipped(sample, chance))
        try:
            found = read_rows(tmp_path / "rows", ABOUT)
            side_by_side([each for rows in found.values() for each in rows], ABOUT["servers"])
        except ProbeError as error:
            refused += 1
            assert len(str(error).splitlines()) == 1
    assert 50 < refused < 300

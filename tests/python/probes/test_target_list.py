"""Lists of hosts, and where a list was stopped."""

import json
from pathlib import Path

import pytest

from eyelevel.base.errors import ProbeError
from eyelevel.probes.targets import (
    key_of,
    list_row,
    read_finished_targets,
    read_targets,
    target_row,
)


def test_each_target_of_a_list_is_read_once(tmp_path: Path) -> None:
    path = tmp_path / "hosts"
    text = "\ufeff# all\na.example\n\nb.example:8443/x # why\n  a.example/\n[2001:db8::1]/y\n"
    path.write_text(text, encoding="utf-8")
    found = [(each.host, each.port, each.path) for each in read_targets(path)]
    assert found == [
        ("a.example", 443, "/"),
        ("b.example", 8443, "/x"),
        ("[2001:db8::1]", 443, "/y"),
    ]


@pytest.mark.parametrize(
    "text, said", [("# none\n", "names no host"), ("\nb c\n", "hosts:2: `b c`")]
)
def test_what_is_no_list_is_refused(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "hosts"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ProbeError, match=said):
        read_targets(path)


def test_a_host_counts_as_measured_once_its_end_is_in_the_last_lists_rows(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    rows = [{"event": "attempt", "host": host, "port": 443, "path": "/"} for host in ("a", "b")]
    ends = [target_row(key_of(row)) for row in rows]
    lines = [
        list_row(2),
        rows[0],
        ends[0],
        rows[1],
        ends[1],
        list_row(2),
        rows[0],
        ends[0],
        rows[1],
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    assert read_finished_targets(path) == {("a", 443, "/")}
    path.write_text(json.dumps(rows[0]) + "\n", encoding="utf-8")
    with pytest.raises(ProbeError, match="leave out --resume"):
        read_finished_targets(path)
    path.write_text('{"event": "list"}\n{"event": "target", "host": 1}\n', encoding="utf-8")
    with pytest.raises(ProbeError, match="line 2"):
        read_finished_targets(path)

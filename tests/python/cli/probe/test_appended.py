"""Files that grow over several runs."""

from pathlib import Path

import pytest

from eyelevel.base.errors import ExpectedError
from eyelevel.cli.probe.progress import mend


def test_half_a_line_is_cut_and_what_is_not_ours_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    mend(path)
    assert not path.exists()
    for before, after in ((b'{"a": 1}\n{"b', b'{"a": 1}\n'), (b'{"a', b""), (b"", b"")):
        path.write_bytes(before)
        mend(path)
        assert path.read_bytes() == after
    path.write_bytes(b"1,example.com")
    with pytest.raises(ExpectedError, match="rows\\.jsonl holds something other"):
        mend(path)
    assert path.read_bytes() == b"1,example.com"

"""Rows on their way to a Parquet file."""

import pytest

from eyelevel.base.errors import WriteError
from eyelevel.probes.export import ParquetRows


def test_rows_follow_no_link(tmp_path):
    victim = tmp_path / "victim"
    victim.write_text("kept")
    (tmp_path / "out.parquet.rows").symlink_to(victim)
    with pytest.raises(WriteError, match="symbolic link"):
        ParquetRows(tmp_path / "out.parquet")
    assert victim.read_text() == "kept"


def test_the_file_is_there_when_it_is_whole_and_its_rows_are_gone(tmp_path):
    writer = ParquetRows(tmp_path / "out.parquet")
    writer.take({"host": "a.example"})
    assert [each.name for each in tmp_path.iterdir()] == ["out.parquet.rows"]
    writer.close()
    assert [each.name for each in tmp_path.iterdir()] == ["out.parquet"]

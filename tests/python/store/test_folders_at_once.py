"""Temporary folders that are made at once, by threads of one process, are each there."""

import tempfile
from concurrent.futures import ThreadPoolExecutor

from eyelevel.store.disk import temporary_folder

THREADS, EACH = 8, 60


def test_threads_do_not_take_each_others_new_folders_for_orphans(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    def make_some(_):
        for _ in range(EACH):
            with temporary_folder("logs") as folder:
                (folder / "inside").write_bytes(b"x")
        return EACH

    with ThreadPoolExecutor(THREADS) as pool:
        assert sum(pool.map(make_some, range(THREADS))) == THREADS * EACH
    assert list(tmp_path.iterdir()) == []

"""The file of messages beside a record: what is written is read, and nothing else."""

import gzip
import json
from pathlib import Path

import pytest
from har_opening import MESSAGE

from eyelevel.base.errors import StoreError
from eyelevel.store.packed import MESSAGES_FILE, pack_messages, read_messages


def test_what_is_packed_is_read(tmp_path: Path) -> None:
    (tmp_path / MESSAGES_FILE).write_bytes(pack_messages([MESSAGE, None]))
    assert read_messages(tmp_path, 2) == [MESSAGE, None]


def test_a_trial_without_the_file_has_none(tmp_path: Path) -> None:
    assert read_messages(tmp_path, 2) is None


@pytest.mark.parametrize(
    "content, fault",
    [
        (b"{}", "objects: Field required"),
        (json.dumps({"objects": [{**MESSAGE, "content_bytes": "1k"}]}).encode(), "content_bytes"),
        (json.dumps({"objects": [None, None]}).encode(), "it has 2 messages for 1 objects"),
    ],
)
def test_a_damaged_file_is_refused_by_name(tmp_path: Path, content: bytes, fault: str) -> None:
    (tmp_path / MESSAGES_FILE).write_bytes(gzip.compress(content))
    with pytest.raises(StoreError, match=fault) as refused:
        read_messages(tmp_path, 1)
    assert MESSAGES_FILE in str(refused.value)

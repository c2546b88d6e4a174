import hashlib
from dataclasses import replace

import pytest

from eyelevel.base.errors import InputChangedError
from eyelevel.load.traces import check_trace_files, read_trace_file
from eyelevel.plan.networks.presets import NETWORKS_BY_NAME


def test_a_trace_is_read_with_its_digest_and_mean(tmp_path):
    file = tmp_path / "a.trace"
    file.write_text("1\n2\n10\n")
    found = read_trace_file(str(file))
    assert found.sha256 == hashlib.sha256(b"1\n2\n10\n").hexdigest()
    assert found.rate_bit_s_mean == 3_600_000 and found.file == str(file)


def test_a_bad_or_missing_trace_is_a_plans_mistake(tmp_path):
    (tmp_path / "b").write_bytes(b"1\n\xff\n")
    (tmp_path / "c").write_text("5\n1\n")
    for name, expected in (
        ("none", "there is no such file"),
        ("b", "b:2: not UTF-8"),
        ("c", ":2: "),
    ):
        with pytest.raises(ValueError, match=expected):
            read_trace_file(str(tmp_path / name))


def test_a_trace_that_changed_since_is_refused(tmp_path):
    file = tmp_path / "a.trace"
    file.write_text("1\n2\n")
    found = read_trace_file(str(file))
    settings = replace(NETWORKS_BY_NAME["dsl"], trace_down_sha256=found.sha256)
    check_trace_files({found.sha256: found.file}, settings)
    file.write_text("1\n3\n")
    with pytest.raises(InputChangedError, match="has changed"):
        check_trace_files({found.sha256: found.file}, settings)
    with pytest.raises(InputChangedError, match="is missing"):
        check_trace_files({}, settings)

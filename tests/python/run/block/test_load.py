"""A block where it is loaded."""

import hashlib

import cluster_stub
import pytest
from synthetic_study import SyntheticStudy

from eyelevel.plan.trials import expand
from eyelevel.run.block import load
from eyelevel.run.block.inputs import Input
from eyelevel.run.block.load import BlockWork, TooLargeError, load_block


def test_a_block_is_broken_off_as_soon_as_it_is_more_than_may_travel(tmp_path, monkeypatch):
    archive = tmp_path / "site"
    archive.write_text("a recording")
    recording = Input(hashlib.sha256(archive.read_bytes()).hexdigest(), str(archive))
    study = SyntheticStudy()
    trials = expand(study.plan, study.sites)[:2]
    loaded = []

    def loads(trial, archive, **_):
        loaded.append(trial)
        return cluster_stub.made_up(trial)

    work = BlockWork("client", {"startup": recording}, load=loads)
    whole = load_block(work, trials)
    sizes = [sum(map(len, (*each.files.values(), *each.pictures.values()))) for each in whole]
    # What a client has is not sent again; so another one asks.
    again = BlockWork("another", {"startup": recording}, load=loads)
    monkeypatch.setattr(load, "BLOCK_BYTES_MAX", sum(sizes))
    assert load_block(again, trials) == whole
    third = BlockWork("a third", {"startup": recording}, load=loads)
    monkeypatch.setattr(load, "BLOCK_BYTES_MAX", sizes[0] - 1)
    loaded.clear()
    with pytest.raises(TooLargeError, match=r"^loading block .*: 1 of its 2 loads left .* GiB"):
        load_block(third, trials)
    assert loaded == trials[:1]

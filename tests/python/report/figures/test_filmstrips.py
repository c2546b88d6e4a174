"""Filmstrips show what was on the screen, and decode no picture twice."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from synthetic_run import TWO_STACKS, metrics_of, write_run

from eyelevel.analysis.study import read_results
from eyelevel.report.figures.filmstrips import _changes, filmstrips, thumbnail, typical_loads
from eyelevel.store import directory as store
from eyelevel.store import frames as stored_frames
from eyelevel.store.directory import read_trial
from eyelevel.store.frames import Frame, Frames


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    directory = tmp_path_factory.mktemp("run")
    write_run(directory, text=TWO_STACKS)
    return read_results(directory, metrics_of)


def counted(monkeypatch, module, name):
    calls, function = [], getattr(module, name)

    def count(*arguments):
        calls.append(arguments)
        return function(*arguments)

    monkeypatch.setattr(module, name, count)
    return calls


def test_each_number_is_of_the_picture_that_was_there(results):
    found = filmstrips(results)
    assert len(found.strips) == 4
    for strip in found.strips:
        for stack in strip["stacks"].values():
            frames = read_trial(results.directory, stack["hash"]).frames()
            changes = _changes(frames.at_ms)
            numbers = [*stack["pictures"], *(number for _, number in stack["changes"])]
            there = frames.at([*strip["times_ms"], *changes])
            assert [found.pictures[number] for number in numbers] == [
                thumbnail(frame.picture) for frame in there
            ]


def test_the_typical_block_is_chosen_by_the_difference_not_by_the_values(results):
    """Its ratio is the median one; another block has the median values of both stacks."""
    values = {"tcp": [100.0, 200.0, 300.0], "quic": [95.0, 100.0, 200.0]}
    kept = results.blocks.kept.filter(pl.col("repetition") <= 3)
    speed = pl.struct("stack", "repetition").map_elements(
        lambda load: values[load["stack"]][load["repetition"] - 1], return_dtype=pl.Float64
    )
    blocks = replace(results.blocks, kept=kept.with_columns(speed_index_ms=speed))
    for loads in typical_loads(replace(results, blocks=blocks)).values():
        assert {load["repetition"] for load in loads.values()} == {3} and len(loads) == 2


def test_what_loads_share_is_decoded_once_and_no_record_is_read(results, monkeypatch):
    decoded = counted(monkeypatch, stored_frames, "decode")
    records = counted(monkeypatch, store, "parse_record")
    assert len(filmstrips(results).strips) == 4
    # Two sites, each of which looks alike in its four loads.
    assert len(decoded) == 2 and records == []


def frames_of(*levels):
    return Frames.of(
        [
            Frame(100.0 * place, np.full((6, 8, 3), each, np.uint8))
            for place, each in enumerate(levels)
        ]
    )


def test_equal_sources_are_equal_pictures():
    times_ms = [0.0, 100.0, 199.0, 250.0]
    dark, light, late = (
        frames.sources_at(times_ms)
        for frames in (frames_of(1, 2, 3), frames_of(1, 2, 9), frames_of(7, 2, 3))
    )
    assert dark == frames_of(1, 2, 3).sources_at(times_ms) and dark[1] == dark[2]
    # Another last picture makes others of the same parts; another first one is of that one alone.
    assert not set(dark) & set(light)
    assert dark[0] != late[0] and dark[1:] == late[1:]
    assert len({frames_of(level, 2, 3).sources_at([0.0])[0] for level in range(4, 40)}) == 36

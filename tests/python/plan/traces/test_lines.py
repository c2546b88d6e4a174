"""Lines written by numpy are byte by byte those that Python's own formatting writes."""

import numpy as np
import pytest

from eyelevel.plan.traces import mahimahi
from eyelevel.plan.traces.mahimahi import micro_lines, whole_lines

POWERS = [0, 1, 9, 10, 11, 99, 100, 9999, 10_000, 10_001, 2_592_000_000, 10**12, 10**18]


def plain_whole(values: np.ndarray) -> bytes:
    return "".join(f"{value}\n" for value in values.tolist()).encode()


def plain_micro(values: np.ndarray) -> bytes:
    return "".join(f"{value:.6f}\n" for value in values.tolist()).encode()


@pytest.mark.parametrize("piece", [1, 3, 1 << 18])
def test_whole_numbers(piece: int, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(mahimahi, "_PIECE", piece)
    generator = np.random.default_rng(7)
    for values in (
        np.array(POWERS),
        np.zeros(1, np.int64),
        np.sort(generator.integers(0, 200_000, 2000)),
        generator.integers(0, 10 ** generator.integers(1, 19, 2000)),
    ):
        assert whole_lines(values) == plain_whole(values)


@pytest.mark.parametrize("piece", [1, 3, 1 << 18])
def test_numbers_of_six_decimals(piece: int, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(mahimahi, "_PIECE", piece)
    generator = np.random.default_rng(7)
    halves = generator.integers(0, 60_000 * 10**6, 5000) / 1e6 + 0.5e-6
    for values in (
        np.array([0, 1e-7, 4.9e-7, 5e-7, 5.1e-7, 1.5e-6, 0.999_999_5, 9.999_999_5, 60_000]),
        generator.random(2000) * 60_000,
        generator.random(2000) * 10.0 ** generator.integers(-8, 5, 2000),
        generator.integers(0, 10**8, 2000) / 1000 * 0.5,
        halves,
        np.nextafter(halves, 0),
        np.nextafter(halves, 60_000),
    ):
        assert micro_lines(values) == plain_micro(values)

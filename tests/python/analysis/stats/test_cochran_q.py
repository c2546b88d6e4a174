from itertools import product

import pytest

from eyelevel.analysis.stats import hypothesis
from eyelevel.analysis.stats.hypothesis import rates_differ


def test_two_stacks_are_mcnemars_exact_test():
    # six discordant blocks, all on one side: 2 / 2^6
    rows = [[True, False]] * 6 + [[False, False]] * 30 + [[True, True]] * 4
    assert rates_differ(rows).p == pytest.approx(2 / 64)


def test_three_stacks_by_full_enumeration():
    rows = [[1, 0, 0], [1, 0, 0], [1, 1, 0], [0, 0, 1], [1, 0, 0], [0, 0, 0], [1, 0, 1]]

    def q(table):
        counts = [sum(row[column] for row in table) for column in range(3)]
        mean = sum(counts) / 3
        return sum((count - mean) ** 2 for count in counts)

    options = [
        [other for other in product([0, 1], repeat=3) if sum(other) == sum(row)] for row in rows
    ]
    tables = list(product(*options))
    expected = sum(q(table) >= q(rows) - 1e-9 for table in tables) / len(tables)
    assert rates_differ(rows).p == pytest.approx(expected)


def test_sampling_agrees_with_counting(monkeypatch):
    rows = [[1, 0, 0]] * 7 + [[0, 1, 0]] * 2 + [[1, 0, 1]] * 3
    exact = rates_differ(rows).p
    monkeypatch.setattr(hypothesis, "EXACT_STATES_MAX", 1)
    sampled = rates_differ(rows).p
    assert sampled == pytest.approx(exact, abs=0.01)
    assert sampled == rates_differ(rows).p


@pytest.mark.parametrize("rows", [[], [[True]], [[True, True], [False, False]]])
def test_what_cannot_be_tested_is_said(rows):
    found = rates_differ(rows)
    assert found.p is None and found.reason

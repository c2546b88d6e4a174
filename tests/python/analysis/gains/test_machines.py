"""The machine as a factor of a made-up run: what each loaded, and whether gains hang on it."""

import pytest
from synthetic_fleet import fleet_run
from synthetic_run import TWO_STACKS, read_run

from eyelevel.analysis.gains.machines import FAILED
from eyelevel.report.page import summary_of

FIVE = ("a", "b", "c", "d", "e")


@pytest.fixture(scope="module")
def odd(tmp_path_factory):
    """With quic 10 % slower on d, two failures there and one on a."""
    outcomes = {
        ("startup/dsl/2", "quic"): "starved",
        ("startup/dsl/1", "tcp"): "wrong-stack",
    }
    return fleet_run(tmp_path_factory.mktemp("odd"), FIVE, {"d": 1.1}, outcomes=outcomes)


def between(results, network="dsl"):
    return next(each for each in results.between_machines if each.network == network)


def test_each_machine_has_its_loads_and_failures(odd):
    rows = {row.machine: row for row in odd.machines}
    assert set(rows) == set(FIVE) and rows["a"].name == "host-a"
    assert sum(row.loads for row in rows.values()) == odd.table.height
    failed = odd.table.filter(odd.table["outcome"].is_in(FAILED))
    assert sum(row.failures for row in rows.values()) == failed.height == 2


def test_a_machine_that_gives_another_gain_is_found_and_named(odd):
    found = between(odd)
    assert found.alarms and found.farthest[0] == "d"
    gains = {
        name: each.gain for name, each in zip(found.machines, found.model.machines, strict=True)
    }
    assert gains["d"].value == pytest.approx(0.86 * 1.1 - 1, abs=0.02)
    assert gains["a"].value == pytest.approx(0.86 - 1, abs=0.02)
    assert all(gain.low < gain.value < gain.high for gain in gains.values())


def test_another_machine_has_an_interval_that_holds_all_of_these(odd):
    other = between(odd).model.other_machines
    assert other.low < 0.86 - 1 < 0.86 * 1.1 - 1 < other.high


def test_p_is_corrected_over_networks_and_comparisons(odd):
    ps = [(each.model.p, each.p_holm) for each in odd.between_machines]
    assert len(ps) == 2 and min(ps)[1] == pytest.approx(2 * min(ps)[0])


def test_equal_machines_are_left_in_peace(tmp_path):
    results = fleet_run(tmp_path, FIVE)
    assert len(results.machines) == 5
    assert not any(each.alarms or each.exceeds(0.05) for each in results.between_machines)


def test_a_run_on_one_machine_has_no_such_rows(tmp_path):
    for results in (
        fleet_run(tmp_path / "cluster", ("a",), blocks=3),
        read_run(tmp_path / "plain", None, TWO_STACKS),
    ):
        said = summary_of(results)
        assert said["machines"] == said["between_machines"] == []


def test_machines_that_time_out_too_often_have_no_gains(tmp_path):
    late = {(f"startup/dsl/{n}", "quic"): "timeout" for n in range(1, 6)}
    found = between(fleet_run(tmp_path, ("a", "b"), blocks=6, outcomes=late))
    assert "did not finish" in found.model.test.reason and found.farthest is None

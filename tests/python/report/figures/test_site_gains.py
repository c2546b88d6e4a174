"""Table 5.1 and the attributes' lines give back what a made-up run was made with."""

import math

import polars as pl
import pytest
import synthetic_run
from sample_record import sample_object
from synthetic_run import metrics_of, write_run

from eyelevel.analysis.study import read_results
from eyelevel.base.errors import PlanError
from eyelevel.report.figures.catalogue import FIGURES, TABLES
from eyelevel.report.figures.cellular import _NETWORKS, _OTHER, _SITES, _STACKS, why_not
from eyelevel.report.figures.site_gains import site_gains

SITES = [f"s{number}" for number in range(24)]
TEXT = f"""\
sites = {SITES}
networks = ["dsl", "lte"]
stacks = ["tcp", "tcp+", "quic"]
reference = "tcp"
blocks = 3
""".replace("'", '"')
SLOPE = 0.05  # of the logarithm with each doubling of the bytes
BASE_BYTES = 1000


def total_bytes(site):
    return BASE_BYTES * 2 ** (int(site[1:]) % 8)


def objects_of(site):
    """Not in step with the bytes."""
    return 1 + int(site[1:]) * 7 % 5


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    made, folder = synthetic_run.record_of, tmp_path_factory.mktemp("run")

    def record_of(trial, load_ms, outcome="ok"):
        if trial.stack == "quic":
            load_ms *= math.exp(SLOPE * math.log2(total_bytes(trial.site) / BASE_BYTES) - 0.15)
        record = made(trial, load_ms, outcome)
        count = objects_of(trial.site)
        record["objects"] = [
            sample_object(
                url=f"https://a.example/{n}",
                address=f"192.0.2.{n}:443",
                encoded_bytes=total_bytes(trial.site) // count,
            )
            for n in range(count)
        ]
        return record

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(synthetic_run, "record_of", record_of)
        write_run(folder, text=TEXT, noise=0.01)
    return folder


@pytest.fixture(scope="module")
def results(directory):
    return read_results(directory, metrics_of)


def rows_of(name, results, against="quic against tcp"):
    (table,) = [each for each in TABLES if each.name == name]
    return table.rows(results).filter(comparison=against)


def test_the_attribute_that_makes_the_gain_is_best_with_its_slope_in_the_interval(results):
    rows = rows_of("attributes", results)
    first = rows.row(0, named=True)
    assert first["attribute"] == "encoded_bytes" and first["best"] and rows["best"].sum() == 1
    assert first["change_low"] <= math.expm1(SLOPE) <= first["change_high"]
    assert first["r_squared_held_out"] > 0.9 and first["sites"] == 24


def test_no_attribute_is_best_where_the_gain_has_nothing_to_do_with_any(results):
    rows = rows_of("attributes", results, "tcp+ against tcp")
    assert rows["r_squared_held_out"].max() < 0.3


def test_the_extremes_are_those_sites_with_their_attributes_and_the_change(results):
    rows = rows_of("extremes", results)
    lowest, highest = rows.filter(group="lowest"), rows.filter(group="highest")
    assert lowest.height == highest.height == 10
    assert {total_bytes(site) for site in lowest["site"]} <= {BASE_BYTES * 2**n for n in range(4)}
    for row in lowest.iter_rows(named=True):
        assert row["objects"] == row["server_addresses"] == objects_of(row["site"])
    (change,) = rows.filter(group="lowest over highest")["encoded_bytes"]
    expected = lowest["encoded_bytes"].mean() / highest["encoded_bytes"].mean()
    assert change == pytest.approx(expected) and change < 0.5


def test_the_rows_of_means_are_of_their_own_group_and_objects_have_their_mean_size(results):
    rows = rows_of("extremes", results)
    for group in ("lowest", "highest"):
        (mean,) = rows.filter(group=f"mean of the {group}")["encoded_bytes"]
        assert mean == pytest.approx(rows.filter(group=group)["encoded_bytes"].mean())
    sites = rows.filter(pl.col("site").is_not_null())
    for row in sites.iter_rows(named=True):
        size = row["encoded_bytes"] / objects_of(row["site"])
        assert row["mean_object_bytes"] == pytest.approx(size) and row["https_share"] == 1


def test_any_pair_is_compared_and_only_it(directory, results):
    asked = read_results(directory, metrics_of, pairs=["quic/tcp+"])
    assert [str(each) for each in asked.comparisons] == ["quic against tcp+"] and asked.declared
    of_pair = rows_of("mean-differences", asked, "quic against tcp+")
    (row,) = of_pair.filter(network="dsl", metric="Page Load Time").iter_rows(named=True)
    loads = asked.blocks.kept.filter(network="dsl").group_by("stack")
    means = dict(loads.agg(pl.col("page_load_time_ms").mean()).iter_rows())
    assert row["difference_ms"] == pytest.approx(means["quic"] - means["tcp+"])
    assert row["difference_rtts"] == pytest.approx(row["difference_ms"] / 24)
    assert row["difference_ms_low"] < row["difference_ms"] < row["difference_ms_high"]
    shares = rows_of("significance-shares", results)
    counted = pl.sum_horizontal("sites_lower", "sites_higher", "sites_undetermined")
    assert shares.select((counted <= pl.col("sites")).all()).item()


BESIDE = """\
sites = ["a", "b", "c"]
networks = NETWORKS
stacks = ["tcp", "quic"]
reference = "tcp"
blocks = 2
"""


@pytest.mark.parametrize(
    ("counted", "beside"),
    [
        (
            [f"das-{rate}-{rtt}" for rate in (3, 25) for rtt in (30, 60, 120)],
            ["das-24-30", "das-24-120", "dsl", "unshaped"],
        ),
        (["dsl", "lte"], ["unshaped"]),
        (["unshaped"], []),
    ],
)
def test_a_sites_gain_is_the_mean_over_the_grid_or_what_is_shaped(
    counted, beside, tmp_path, monkeypatch
):
    """On all else QUIC takes three times as long, and one load of it times out."""
    made = synthetic_run.record_of

    def record_of(trial, load_ms, outcome="ok"):
        slow = trial.stack == "quic" and trial.network in beside
        return made(trial, load_ms * (3 if slow else 1), outcome)

    monkeypatch.setattr(synthetic_run, "record_of", record_of)
    outcomes = {(f"a/{network}/1", "quic"): "timeout" for network in beside}
    text = BESIDE.replace("NETWORKS", str([*counted, *beside]).replace("'", '"'))
    run = synthetic_run.read_run(tmp_path, outcomes, text=text, noise=0.001)
    rows = site_gains(run)
    assert rows.height == 3 and set(rows["networks"]) == {len(counted)}
    assert rows["networks_undetermined"].sum() == 0
    assert rows["ratio_of_means"].to_list() == pytest.approx([-0.14] * 3, abs=0.01)
    assert "networks" in rows_of("extremes", run).columns


@pytest.mark.parametrize(
    ("pairs", "said"),
    [(["quic"], "write STACK/REFERENCE"), (["quic/tpc"], "unknown"), (["tcp/tcp"], "with itself")],
)
def test_pairs_that_are_none_are_refused(directory, pairs, said):
    with pytest.raises(PlanError, match=said):
        read_results(directory, metrics_of, pairs=pairs)


def test_what_is_said_to_need_something_is_in_the_catalogue():
    said = [name for part in (_NETWORKS, _STACKS, _SITES, _OTHER) for name in part]
    # One of these needs stacks, where its networks are there.
    assert {name for name in said if said.count(name) > 1} == {"congestion-cdf"}
    assert set(said) <= {each.name for each in (*FIGURES, *TABLES)}


def test_what_a_run_lacks_is_named_with_what_it_has(results):
    assert why_not("heat-map", results).endswith("the run's networks: dsl, lte")
    assert "\n" not in why_not("progress", results)

"""Wolsing's table 3 from his own preset: QUIC - (TCP+ - 1 RTT), whatever the plan's reference."""

from dataclasses import replace

import polars as pl
import pytest
import synthetic_run
from sample_record import sample_object
from synthetic_run import metrics_of, write_run

from eyelevel.analysis.stats.paired import hodges_lehmann
from eyelevel.analysis.study import read_results
from eyelevel.plan.presets import preset_text
from eyelevel.plan.stack_presets import STACKS_BY_NAME
from eyelevel.report.figures.catalogue import TABLES
from eyelevel.report.figures.papers import partner_of

RTTS_MS = {"dsl": 24.0, "da2gc": 262.0}


def made_run(directory, text, outcomes=None):
    """`one` has a single origin, `two` has two."""
    made = synthetic_run.record_of

    def record_of(trial, load_ms, outcome="ok"):
        record = made(trial, load_ms, outcome)
        hosts = ["a", "a"] if trial.site == "one" else ["a", "b"]
        record["objects"] = [fetched(host, number) for number, host in enumerate(hosts)]
        return record

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(synthetic_run, "record_of", record_of)
        write_run(directory, outcomes, text=text)
    return read_results(directory, metrics_of)


def fetched(host, number):
    times = {"started_ms": 10.0 * number, "response_ms": 30.0, "finished_ms": 40.0}
    url = f"https://{host}.example/{number}.png"
    return sample_object(url=url, resource_type="Image", **times)


def rows_of(results):
    (table,) = [each for each in TABLES if each.name == "single-origin"]
    return table.rows(results)


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    text = preset_text("wolsing-2019", ["one", "two"], scale="small")
    return made_run(tmp_path_factory.mktemp("run"), text)


def test_each_quic_stack_is_against_the_tuned_tcp_with_its_controller(results):
    rows = rows_of(results)
    assert set(rows["site"]) == {"one"} and set(rows["network"]) == set(RTTS_MS)
    assert set(rows.select("stack", "reference").unique().rows()) == {
        ("quic", "tcp+"),
        ("quic+bbr", "tcp+bbr"),
    }
    assert set(rows["metric"]) == {"Speed Index", "First Visual Change", "Page Load Time"}


def test_the_values_are_the_paired_differences_and_one_round_trip(results):
    loads = results.blocks.kept.filter(site="one")
    for network, rtt_ms in RTTS_MS.items():
        own, other = (
            loads.filter(network=network, stack=stack).sort("repetition")["page_load_time_ms"]
            for stack in ("quic", "tcp+")
        )
        expected = hodges_lehmann(own, other).value
        (row,) = (
            rows_of(results)
            .filter(network=network, stack="quic", metric="Page Load Time")
            .iter_rows(named=True)
        )
        assert row["difference_ms"] == pytest.approx(expected)
        assert row["less_one_rtt_ms"] == pytest.approx(expected + rtt_ms)
        assert row["less_one_rtt_rtts"] == pytest.approx((expected + rtt_ms) / rtt_ms)
        assert row["pairs"] == 2
        reason = row["less_one_rtt_ms_undetermined_because"]
        assert reason.startswith("2 blocks are too few")


def test_a_difference_that_is_undetermined_says_why(tmp_path):
    text = preset_text("wolsing-2019", ["one"], scale="small")
    late = {(f"one/dsl/{n}", stack): "timeout" for n in (1, 2) for stack in ("quic", "tcp+")}
    rows = rows_of(made_run(tmp_path, text, late)).filter(network="dsl", stack="quic")
    assert rows["less_one_rtt_ms"].null_count() == rows.height == 3
    assert set(rows["less_one_rtt_ms_undetermined_because"]) == {
        "both loads of a block timed out: their order is unknown"
    }
    assert rows.schema["less_one_rtt_ms"] == pl.Float64


def stack(name, http="h2", cc="cubic", preset=None, tls="1.3"):
    return replace(
        STACKS_BY_NAME["tcp"],
        name=name,
        stack_preset=preset or name,
        http_version=http,
        congestion_control=cc,
        tls_version=tls,
    )


def test_without_a_tuned_tcp_the_reference_is_the_partner_if_it_is_tcp_with_tls():
    quic = stack("quic", "h3")
    plain, stock = stack("http1-plain", "h1", tls="none"), stack("tcp")
    assert partner_of(quic, [plain, stock, quic], "tcp") == "tcp"
    assert partner_of(quic, [plain, stock, quic], "quic") is None
    assert partner_of(quic, [plain, quic], "http1-plain") is None
    assert partner_of(stack("q", "h3", "sprout_ewma"), [stack("tcp+"), quic], "quic") == "tcp+"
    assert partner_of(quic, [stack("tcp", tls="1.2"), quic], "tcp") is None

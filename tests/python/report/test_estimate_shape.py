"""Every estimate in JSON has one shape, wherever it stands."""

import numpy as np
import polars as pl
import pytest
from synthetic_run import SITES, read_run

from eyelevel.analysis.gate import evaluate, parse_condition
from eyelevel.analysis.metrics.catalogue import METRICS_BY_NAME
from eyelevel.analysis.stats.estimate import Estimate, undetermined
from eyelevel.analysis.two_runs import compare_runs
from eyelevel.calibration.validation.stacks import ratio_of
from eyelevel.plan.presets import preset_text
from eyelevel.probes.intervals import quantile_estimates, share_estimates
from eyelevel.probes.scans import Share
from eyelevel.report.page import summary_of

SHAPE = ["value", "low", "high", "p", "undetermined_because"]


def estimates(document, path=""):
    """Each object that has bounds or a value, by its path; fails at one of another shape."""
    if isinstance(document, dict):
        flat = [name for name in document if name.endswith(("_low", "_high"))]
        assert not flat, f"{path}: bounds beside a value: {flat}"
        if {"value", "low", "high"} & document.keys():
            assert list(document) == SHAPE, path
            assert document["low"] is not None or document["undetermined_because"], path
            yield path
        for name, part in document.items():
            yield from estimates(part, f"{path}.{name}")
    elif isinstance(document, list):
        for index, part in enumerate(document):
            yield from estimates(part, f"{path}[{index}]")


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    text = preset_text("quickstart", SITES).replace("blocks = 3", "blocks = 6")
    text += 'cross_traffic = { congestion_control = "cubic", flows = 1, direction = "down" }\n'
    late = {("dashboard/lte/1", "quic"): "timeout", ("startup/dsl/1", "tcp"): "starved"}
    return read_run(tmp_path_factory.mktemp("run"), late, text)


def test_a_reports_estimates_have_one_shape(results):
    paths = list(estimates(summary_of(results)))
    roots = {path.split(".")[1].split("[")[0] for path in paths}
    assert roots >= {"gains", "site_tests", "timeouts_censored", "cross_traffic"}
    assert len(paths) > len(results.gains)


def test_so_have_verdicts(results):
    text = "quic.speed_index.p50 worse than tcp by 5%"
    condition = parse_condition(text, results.stacks, list(METRICS_BY_NAME), results.networks)
    verdicts = evaluate([condition], results)
    for verdict in verdicts:
        assert list(estimates(verdict.as_json())) == [".estimate"]
    for verdict in compare_runs(results, results, "page_load_time_ms", 0.05).verdicts:
        found = list(estimates(verdict.as_json()))
        assert found == [".estimate", ".gain_before", ".gain_now"]


def test_so_have_probes_scans_and_the_yardstick():
    values, hosts = np.arange(20.0), [f"host{n}" for n in range(20)]
    (median,) = quantile_estimates(values, hosts, [50])
    (few,) = share_estimates(values[:2], hosts[:2], [0])
    shares = [Share("quic", 3, of, "resolved").share for of in (10, 0)]
    ratios = [ratio_of([9.0, 10.0], [11.0, 10.0]), ratio_of([0.0], [1.0])]
    for estimate in (median, few, *shares, *ratios):
        assert list(estimates(estimate.as_json())) == [""]
        assert Estimate.of_json(estimate.as_json()).as_json() == estimate.as_json()
    assert median.value == 9.5 and few.value == 0.5 and shares[0].value == 0.3


def test_what_is_infinite_is_null_in_json_and_in_columns():
    late = Estimate(float("inf"), 0.5, float("inf"), reason="a timeout")
    assert late.as_json()["value"] is None and late.as_json()["low"] == 0.5
    columns = undetermined("no site").as_columns("gain")
    assert list(columns) == ["gain", *(f"gain_{name}" for name in SHAPE[1:])]
    assert pl.DataFrame([columns])["gain_undetermined_because"][0] == "no site"

"""What a report says of a drift: a number, seldom a warning, and never that there is none."""

import numpy as np
import polars as pl
import pytest
from synthetic_run import TWO_STACKS, read_run, write_run

from eyelevel.analysis.gains.cells import compare_cells
from eyelevel.analysis.gains.site_tests import drift_of
from eyelevel.analysis.stats.autocorrelation import lag_one
from eyelevel.report.first_screen.warnings import warnings
from eyelevel.report.sections.gains import drift_json, drift_note

TEXT = TWO_STACKS.replace("blocks = 6", "blocks = 12")
HEAD = "Successive blocks resemble each other."


def slower_every_block(trial):
    """A stack that becomes slower by a percent from block to block."""
    return {}, 1 + 0.03 * trial.repetition * (trial.stack == "quic")


@pytest.fixture(scope="module")
def drifting(tmp_path_factory):
    return read_run(tmp_path_factory.mktemp("run"), text=TEXT, placed=slower_every_block)


def test_a_drift_is_warned_of_with_its_number_and_what_helps(drifting):
    assert drifting.drift.seen
    (text,) = (text for head, text in warnings(drifting) if head == HEAD)
    assert "autocorrelation is +0." in text and "at another time or on other machines" in text
    found = drift_json(drifting)["drift"]
    assert found["autocorrelation"]["p"] <= 0.05 and found["autocorrelation"]["low"] > 0
    assert (found["of_share"], found["of_repetitions"]) == (0.3, 5)


def test_silence_is_never_offered_as_proof(tmp_path):
    still = read_run(tmp_path, text=TEXT)
    assert not still.drift.seen
    assert HEAD not in [head for head, _ in warnings(still)]
    note = str(drift_note(still))
    share = f"{100 * still.drift.noticed_share:.1f}"
    assert share in note and "that there is no warning proves nothing" in note


def test_too_few_blocks_are_stated_to_show_no_drift(quickstart_contents):
    note = str(drift_note(quickstart_contents))
    assert "A drift can be seen from 5 blocks on; here are 3." in note
    assert not quickstart_contents.drift.seen
    found = drift_json(quickstart_contents)["drift"]
    assert "3 blocks are too few" in found["autocorrelation"]["undetermined_because"]
    assert found["noticed_share"] == 0


def test_it_is_of_each_repetitions_mean_over_its_sites(drifting):
    rows = []
    for network in drifting.networks:
        logs = []
        for site in drifting.sites:
            (cell,) = (
                each
                for each in drifting.cells
                if (each.network, each.site, each.metric)
                == (network, site, drifting.primary_metric)
            )
            repetitions, x, r = cell.loads
            order = np.argsort(repetitions)
            ratios = np.log(x[order]) - np.log(r[order])
            logs.append(ratios - ratios.mean())
        rows.append(np.mean(logs, axis=0))
    assert drifting.drift.autocorrelation.value == pytest.approx(lag_one(np.array(rows)).value)


def test_a_comparison_with_a_load_of_no_time_is_left_out(tmp_path):
    write_run(tmp_path, text=TEXT)
    from synthetic_run import metrics_of

    from eyelevel.analysis.study import read_results

    results = read_results(tmp_path, metrics_of)
    metric = results.primary_metric
    first = (pl.col("network") == "dsl") & (pl.col("repetition") == 1)
    kept = results.blocks.kept.with_columns(
        pl.when(first).then(0.0).otherwise(pl.col(metric)).alias(metric)
    )
    lte = kept.filter(pl.col("network") == "lte")
    both, alone = (
        drift_of(compare_cells(rows, [metric], results.comparisons), metric, results.comparisons)
        for rows in (kept, lte)
    )
    assert both.autocorrelation == alone.autocorrelation
    assert drift_of([], metric, results.comparisons) is None

"""In which of its parts a time differs: made-up loads, told by hand."""

import json
from dataclasses import replace
from itertools import product
from pathlib import Path

import polars as pl
import pytest
import scipy
from synthetic_run import TWO_STACKS, metrics_of, read_run, write_run

from eyelevel.analysis.decisions import horizon_of
from eyelevel.analysis.formats import NO_BREAK
from eyelevel.analysis.stats.sequential import confidence_sequence
from eyelevel.analysis.study import StudyResults, read_results
from eyelevel.analysis.time_parts import (
    LARGEST_PAINT,
    PAINT,
    PARTS,
    Stops,
    compare_parts,
    handshakes_of,
    visible_parts,
)
from eyelevel.plan.comparisons import Comparison
from eyelevel.report.page import summary_of
from eyelevel.report.sections.time_parts import time_parts


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    return read_run(tmp_path_factory.mktemp("run"), text=TWO_STACKS)


@pytest.fixture(scope="module")
def of_paint(results):
    plan = replace(results.plan, primary_metric=PAINT)
    return replace(results, plan=plan)


def changed(results: StudyResults, **columns: pl.Expr) -> StudyResults:
    """The same with other values in the columns of kept trials."""
    kept = results.blocks.kept.with_columns(**columns)
    return replace(results, blocks=replace(results.blocks, kept=kept))


def where(value, *conditions, otherwise):
    return pl.when(*conditions).then(pl.lit(value)).otherwise(pl.col(otherwise))


def test_the_parts_add_up_to_the_whole_and_are_each_a_t_test_of_repetitions(results):
    paints = results.paints
    assert [(paint.network, paint.stack, paint.reference) for paint in paints] == [
        ("dsl", "quic", "tcp"),
        ("lte", "quic", "tcp"),
    ]
    for paint in paints:
        assert (paint.sites, paint.blocks, paint.blocks_without, paint.blocks_of_two) == (
            2, 12, 0, 0,
        )  # fmt: skip
        for name in ("mean", "mean_reference"):
            added = sum(getattr(part, name) for part in paint.parts.values())
            assert added == pytest.approx(getattr(paint.whole, name), rel=1e-12)
        added = sum(part.difference.value for part in paint.parts.values())
        assert added == pytest.approx(paint.whole.difference.value, rel=1e-9)
        assert list(paint.parts) == list(PARTS)
        rows = results.blocks.kept.filter(network=paint.network)
        for name, part in {PAINT: paint.whole, **paint.parts}.items():
            by = {
                (s, i, k): v
                for s, i, k, v in rows.select("stack", "site", "repetition", name).iter_rows()
            }
            means = [
                sum(by["quic", i, k] - by["tcp", i, k] for i in results.sites) / 2
                for k in range(1, 7)
            ]
            told = scipy.stats.ttest_1samp(means, 0).confidence_interval(0.95)
            found = part.difference
            assert (found.low, found.high) == pytest.approx((told.low, told.high), rel=1e-9)
            assert part.mean - part.mean_reference == pytest.approx(found.value)


def test_a_block_that_does_not_tell_all_parts_is_in_none_of_them(results):
    late = (pl.col("block") == "startup/dsl/3") & (pl.col("stack") == "quic")
    name = "lcp_resource_load_delay_ms"
    fewer = changed(results, **{name: where(None, late, otherwise=name)})
    dsl, lte = fewer.paints
    assert (dsl.blocks, dsl.blocks_without, dsl.sites_without) == (11, 1, ())
    assert (lte.blocks, lte.blocks_without) == (12, 0)
    added = sum(part.difference.value for part in dsl.parts.values())
    assert added == pytest.approx(dsl.whole.difference.value, rel=1e-9)
    assert dsl.whole.difference.value != results.paints[0].whole.difference.value


def test_a_site_without_such_loads_is_named_and_left_out(of_paint):
    results = of_paint
    lost = pl.col("site") == "startup"
    alone = changed(results, **{PAINT: where(None, lost, otherwise=PAINT)})
    dsl, _ = alone.paints
    assert (dsl.sites, dsl.sites_without, dsl.blocks, dsl.blocks_without) == (
        1, ("startup",), 6, 6,
    )  # fmt: skip
    section = time_parts(alone).replace(NO_BREAK, " ")
    assert "6 blocks of 1 site; 6 left out because one of their loads has no such parts" in section
    assert "none of startup" in section


def test_loads_of_which_something_else_was_the_largest_are_counted(results):
    of = "largest_contentful_paint_of"
    other = (pl.col("repetition") < 3) & (pl.col("stack") == "tcp") & (pl.col("network") == "lte")
    dsl, lte = changed(results, **{of: where("h1", other, otherwise=of)}).paints
    assert (dsl.blocks_of_two, lte.blocks_of_two) == (0, 4)
    nothing = changed(results, **{of: where(None, other, otherwise=of)})
    assert nothing.paints[1].blocks_of_two == 4


def test_loads_without_any_such_time_have_no_section(of_paint):
    results = of_paint
    none = changed(results, **{PAINT: pl.lit(None, dtype=pl.Float64)})
    assert none.paints == () and time_parts(none) == ""


def test_a_timeout_is_left_out_and_the_rest_is_told(tmp_path):
    write_run(tmp_path, {("startup/dsl/2", "tcp"): "timeout"}, text=TWO_STACKS)
    dsl, _ = read_results(tmp_path, metrics_of).paints
    assert (dsl.blocks, dsl.blocks_without) == (11, 1)
    assert dsl.whole.difference.determined


def test_a_study_that_may_stop_has_intervals_that_allow_for_it(tmp_path):
    results = read_run(tmp_path, text=TWO_STACKS + "stop = { }\n")
    at_once = read_results(_without_stop(tmp_path), metrics_of)
    horizon, compared = horizon_of(results.plan), 0
    for kind in ("paints", "speeds", "first_paints"):
        for parts, plain in zip(getattr(results, kind), getattr(at_once, kind), strict=True):
            rows = results.blocks.kept.filter(network=parts.network).sort("repetition")
            for name, part in parts.parts.items():
                found = part.difference
                if found.low is None:  # nothing is waited for in these loads
                    continue
                own, other = (
                    rows.filter(stack=stack)
                    .group_by("repetition", maintain_order=True)
                    .agg(pl.col(name).mean())[name]
                    for stack in ("quic", "tcp")
                )
                told = confidence_sequence((own - other).to_numpy(), 0.05, horizon)
                assert (found.value, found.low) == pytest.approx((told.value, told.low), rel=1e-9)
                at_end = plain.parts[name].difference
                assert found.high - found.low > at_end.high - at_end.low
                compared += 1
    assert compared > 6


def test_a_comparison_that_was_decided_counts_its_blocks_until_then(tmp_path):
    results = read_run(tmp_path, text=TWO_STACKS + "stop = { }\n")
    asked = Comparison("quic", "tcp")
    stops = Stops(horizon_of(results.plan), {("dsl", asked): 5})
    dsl, lte = compare_parts(results.blocks.kept, LARGEST_PAINT, [asked], results.networks, stops)
    assert (dsl.blocks, lte.blocks) == (10, 12)


def test_speed_index_is_the_sum_of_what_it_waited_for(results):
    for network in results.speeds:
        whole = network.whole
        for name in ("mean", "mean_reference"):
            added = sum(getattr(part, name) for part in network.parts.values())
            assert added == pytest.approx(getattr(whole, name), rel=1e-9)


def test_the_largest_visible_part_is_named_by_what_brought_it_in_most_loads(results):
    asked, late = Comparison("quic", "tcp"), pl.col("repetition") == 1
    brought = pl.when(late).then(pl.lit("a\nb")).otherwise(pl.lit("b\nc"))
    (startup, _) = [
        visible_parts(changed(results, largest_part_of=of).blocks.kept, "dsl", asked)[0]
        for of in (brought, pl.lit("a"))
    ]
    assert (startup.site, startup.url) == ("dashboard", "b")
    split = pl.when(pl.col("repetition") < 4).then(pl.lit("a")).otherwise(pl.lit("b"))
    kept = changed(results, largest_part_of=split).blocks.kept
    assert visible_parts(kept, "dsl", asked)[0].url is None
    assert visible_parts(results.blocks.kept, "dsl", asked)[0].url == ""


def test_the_intervals_of_visible_parts_allow_for_all_sites(results):
    asked = Comparison("quic", "tcp")
    found = visible_parts(results.blocks.kept, "lte", asked)
    assert {part.site for part in found} == set(results.sites)
    for part in found:
        rows = results.blocks.kept.filter(network="lte", site=part.site).sort("repetition")
        own, other = (rows.filter(stack=s)["largest_part_ms"].to_numpy() for s in ("quic", "tcp"))
        told = scipy.stats.ttest_1samp(own - other, 0).confidence_interval(0.975)
        difference = part.times.whole.difference
        assert (difference.low, difference.high) == pytest.approx((told.low, told.high))
    moved = [abs(part.times.whole.difference.value) for part in found]
    assert moved == sorted(moved, reverse=True)


def test_handshakes_are_those_of_typical_loads(results):
    counts = pl.when(pl.col("site") == "startup").then(1.0).otherwise(2.0)
    once = pl.when(pl.col("repetition") == 1).then(7.0).otherwise(counts)
    kept = changed(results, first_paint_handshakes=once).blocks.kept
    assert handshakes_of(kept, "dsl", "quic") == (1, 2)
    assert handshakes_of(kept, "mss", "quic") is None


def _without_stop(directory: Path) -> Path:
    file = directory / "plan.json"
    document = json.loads(file.read_text())
    del document["stop"]
    file.write_text(json.dumps(document))
    return directory


def test_the_page_and_json_say_the_same(of_paint):
    results = of_paint
    dsl, _ = results.paints
    found, _ = summary_of(results)["largest_contentful_paint"]
    assert (found["network"], found["stack"], found["reference"]) == ("dsl", "quic", "tcp")
    assert found["whole"]["difference_ms"] == dsl.whole.difference.as_json()
    assert list(found["parts"]) == list(PARTS)
    section = time_parts(results).replace(NO_BREAK, " ")
    value = dsl.parts["time_to_first_byte_ms"].difference.value
    assert value < 0
    row = section[section.index("time to first byte</th>") :]
    assert row.partition("</tr>")[0].count(f"−{-value:.0f} ms") == 1


def test_text_waits_for_no_resource(of_paint):
    results = of_paint
    middle = ("lcp_resource_load_delay_ms", "lcp_resource_load_duration_ms")
    text = changed(results, **dict.fromkeys(middle, pl.lit(0.0)))
    section = time_parts(text)
    assert section.count("no resource to wait for") == len(list(product(middle, ("dsl", "lte"))))

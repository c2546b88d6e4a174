"""In which of its parts Largest Contentful Paint differs: made-up loads, told by hand."""

from dataclasses import replace
from itertools import product

import polars as pl
import pytest
import scipy
from made_up_run import TWO_STACKS, metrics_of, read_run, write_run

from eyelevel.analysis.formats import NO_BREAK
from eyelevel.analysis.paint_parts import PAINT, PARTS
from eyelevel.analysis.study import Contents, read_contents
from eyelevel.report.page import summary_of
from eyelevel.report.sections.paint_parts import paint_parts


@pytest.fixture(scope="module")
def contents(tmp_path_factory):
    return read_run(tmp_path_factory.mktemp("run"), text=TWO_STACKS)


def changed(contents: Contents, **columns: pl.Expr) -> Contents:
    """The same with other values in the columns of kept trials."""
    kept = contents.blocks.kept.with_columns(**columns)
    return replace(contents, blocks=replace(contents.blocks, kept=kept))


def where(value, *conditions, otherwise):
    return pl.when(*conditions).then(pl.lit(value)).otherwise(pl.col(otherwise))


def test_the_parts_add_up_to_the_whole_and_are_each_a_t_test_of_repetitions(contents):
    paints = contents.paints
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
        rows = contents.blocks.kept.filter(network=paint.network)
        for name, part in {PAINT: paint.whole, **paint.parts}.items():
            by = {
                (s, i, k): v
                for s, i, k, v in rows.select("stack", "site", "repetition", name).iter_rows()
            }
            means = [
                sum(by["quic", i, k] - by["tcp", i, k] for i in contents.sites) / 2
                for k in range(1, 7)
            ]
            told = scipy.stats.ttest_1samp(means, 0).confidence_interval(0.95)
            found = part.difference
            assert (found.low, found.high) == pytest.approx((told.low, told.high), rel=1e-9)
            assert part.mean - part.mean_reference == pytest.approx(found.value)


def test_a_block_that_does_not_tell_all_parts_is_in_none_of_them(contents):
    late = (pl.col("block") == "startup/dsl/3") & (pl.col("stack") == "quic")
    name = "lcp_resource_load_delay_ms"
    fewer = changed(contents, **{name: where(None, late, otherwise=name)})
    dsl, lte = fewer.paints
    assert (dsl.blocks, dsl.blocks_without, dsl.sites_without) == (11, 1, ())
    assert (lte.blocks, lte.blocks_without) == (12, 0)
    added = sum(part.difference.value for part in dsl.parts.values())
    assert added == pytest.approx(dsl.whole.difference.value, rel=1e-9)
    assert dsl.whole.difference.value != contents.paints[0].whole.difference.value


def test_a_site_without_such_loads_is_named_and_left_out(contents):
    lost = pl.col("site") == "startup"
    alone = changed(contents, **{PAINT: where(None, lost, otherwise=PAINT)})
    dsl, _ = alone.paints
    assert (dsl.sites, dsl.sites_without, dsl.blocks, dsl.blocks_without) == (
        1, ("startup",), 6, 6,
    )  # fmt: skip
    section = paint_parts(alone).replace(NO_BREAK, " ")
    assert "6 blocks of 1 site; 6 left out because one of their loads has no such parts" in section
    assert "none of startup" in section


def test_loads_of_which_something_else_was_the_largest_are_counted(contents):
    of = "largest_contentful_paint_of"
    other = (pl.col("repetition") < 3) & (pl.col("stack") == "tcp") & (pl.col("network") == "lte")
    dsl, lte = changed(contents, **{of: where("h1", other, otherwise=of)}).paints
    assert (dsl.blocks_of_two, lte.blocks_of_two) == (0, 4)
    nothing = changed(contents, **{of: where(None, other, otherwise=of)})
    assert nothing.paints[1].blocks_of_two == 4


def test_loads_without_any_such_time_have_no_section(contents):
    none = changed(contents, **{PAINT: pl.lit(None, dtype=pl.Float64)})
    assert none.paints == () and paint_parts(none) == ""


def test_a_timeout_is_left_out_and_the_rest_is_told(tmp_path):
    write_run(tmp_path, {("startup/dsl/2", "tcp"): "timeout"}, text=TWO_STACKS)
    dsl, _ = read_contents(tmp_path, metrics_of).paints
    assert (dsl.blocks, dsl.blocks_without) == (11, 1)
    assert dsl.whole.difference.determined


def test_a_study_that_may_stop_has_no_interval_of_them(tmp_path):
    contents = read_run(tmp_path, text=TWO_STACKS + "stop = { }\n")
    dsl, _ = contents.paints
    for part in (dsl.whole, *dsl.parts.values()):
        assert part.difference.value is not None and not part.difference.determined
        assert "could stop" in part.difference.reason


def test_the_page_and_json_say_the_same(contents):
    dsl, _ = contents.paints
    found, _ = summary_of(contents)["largest_contentful_paint"]
    assert (found["network"], found["stack"], found["reference"]) == ("dsl", "quic", "tcp")
    assert found["whole"]["difference_ms"] == dsl.whole.difference.as_json()
    assert list(found["parts"]) == list(PARTS)
    section = paint_parts(contents).replace(NO_BREAK, " ")
    value = dsl.parts["time_to_first_byte_ms"].difference.value
    assert value < 0
    row = section[section.index("time to first byte</th>") :]
    assert row.partition("</tr>")[0].count(f"−{-value:.0f} ms") == 1


def test_text_waits_for_no_resource(contents):
    middle = ("lcp_resource_load_delay_ms", "lcp_resource_load_duration_ms")
    text = changed(contents, **dict.fromkeys(middle, pl.lit(0.0)))
    section = paint_parts(text)
    assert section.count("no resource to wait for") == len(list(product(middle, ("dsl", "lte"))))

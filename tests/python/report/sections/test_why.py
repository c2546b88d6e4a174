"""Which cause the sentences of the section `Why` name, and when none."""

from dataclasses import replace

import polars as pl
import pytest
from synthetic_run import TWO_STACKS, read_run

from eyelevel.analysis.claims import verdict_of
from eyelevel.analysis.formats import NO_BREAK
from eyelevel.analysis.gains.causes import NetworkSplit
from eyelevel.analysis.stats.decomposition import Decomposition
from eyelevel.analysis.stats.estimate import Estimate
from eyelevel.analysis.time_parts import PAINT, NetworkParts, TimePart
from eyelevel.report.sections.time_parts import metric_paragraphs
from eyelevel.report.sections.why import explain_causes, why_section, why_sentences

NOTHING = Estimate(0.0, -1.0, 1.0)


def sentence(difference, rtt_ms=70.0, **causes):
    split = Decomposition(difference, causes, NOTHING, NOTHING)
    (said,) = why_sentences((NetworkSplit("lte", "quic", "tcp", rtt_ms, split),))
    return said.replace(NO_BREAK, " ")


def test_a_part_that_may_be_none_is_no_cause():
    said = sentence(Estimate(3.0, -40.0, 46.0), handshake=Estimate(-35.0, -90.0, 20.0))
    assert said == (
        "quic against tcp on lte: +3 ms (95 % interval −40 ms to +46 ms), no part of which can "
        "be told apart from zero."
    )


@pytest.mark.parametrize("window", [Estimate(-80.0, -200.0, 40.0), Estimate(-10.0, -15.0, -5.0)])
def test_the_largest_part_of_those_that_are_certain_is_named_with_its_interval(window):
    handshake = Estimate(-35.0, -45.0, -25.0)
    said = sentence(Estimate(-40.0, -60.0, -20.0), handshake=handshake, window=window)
    assert said == (
        "quic against tcp on lte: −40 ms (95 % interval −60 ms to −20 ms), of which −35 ms (−45 ms "
        "to −25 ms) or 0.50 round trips is due to handshakes, the largest part that can be told "
        "apart from zero."
    )


def test_without_intervals_no_cause_is_named():
    few = "one block shows no spread"
    said = sentence(Estimate(-40.0, reason=few), handshake=Estimate(-35.0, reason=few))
    assert said == (
        f"quic against tcp on lte: −40 ms ({few}), no part of which can be told apart from zero."
    )


def test_an_undetermined_difference_says_why():
    late = "a load timed out, so there is no mean"
    said = sentence(Estimate(None, reason=late), handshake=Estimate(None, reason=late))
    assert said == f"quic against tcp on lte: undetermined ({late})."


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Its verdict is on Speed Index."""
    return read_run(tmp_path_factory.mktemp("run"), text=TWO_STACKS.replace(', "lte"', ""))


@pytest.fixture(scope="module")
def of_paint(tmp_path_factory):
    text = TWO_STACKS.replace(', "lte"', "") + f'primary_metric = "{PAINT}"\n'
    return read_run(tmp_path_factory.mktemp("run"), text=text)


def test_the_metric_of_the_verdict_is_explained_and_no_other(results, of_paint):
    assert "Largest Contentful Paint" not in why_section(results)
    assert "the average visible part came" in why_section(results)
    assert "On dsl, Largest Contentful Paint came" in why_section(of_paint)
    assert "visible part" not in why_section(of_paint)
    for metric in ("page_load_time_ms", "visual_complete_85_ms"):
        plan = replace(results.plan, primary_metric=metric)
        gains = tuple(replace(each, p_holm=each.gain.p) for each in results.gains)
        assert why_section(replace(results, plan=plan, gains=gains)) == ""


def times(network, whole, **parts):
    return NetworkParts(
        network, "quic", "tcp", 1, (), 6, 0, 0,
        TimePart(0.0, 0.0, whole),
        {name: TimePart(0.0, 0.0, part) for name, part in parts.items()},
    )  # fmt: skip


def explain(results, speed, paint=None, handshakes=(2.0, 2.0)):
    """The sentences of a study that called QUIC faster on `dsl`."""
    own, other = (pl.lit(count) for count in handshakes)
    counts = pl.when(pl.col("stack") == "quic").then(own).otherwise(other)
    kept = results.blocks.kept.with_columns(
        first_paint_handshakes=counts, largest_part_share=pl.lit(None, dtype=pl.Float64)
    )
    changed = replace(results, blocks=replace(results.blocks, kept=kept))
    changed.__dict__["speeds"] = (speed,)
    changed.__dict__["first_paints"] = (paint,) if paint else ()
    return " ".join(explain_causes(changed)).replace(NO_BREAK, " ")


WHOLE, NONE = Estimate(-141.0, -160.0, -122.0), Estimate(-9.0, -20.0, 2.0)
LESS, MORE = Estimate(-149.0, -160.0, -138.0), Estimate(30.0, 20.0, 40.0)


def test_each_part_that_is_named_has_an_interval_that_excludes_zero_on_the_side_of_the_gain(
    results,
):
    speed = times(
        "dsl", WHOLE,
        speed_index_connections_ms=LESS, speed_index_first_byte_ms=NONE,
        speed_index_bytes_ms=Estimate(-31.0, -40.0, -22.0), speed_index_rest_ms=MORE,
    )  # fmt: skip
    assert explain(results, speed) == (
        "On dsl, the average visible part came 141 ms (122 to 160 ms) earlier with quic than with "
        "tcp: 149 ms (138 to 160 ms) less waiting for connections and 31 ms (22 to 40 ms) less "
        "waiting for bytes; the other parts took 39 ms back."
    )
    assert explain(results, times("dsl", NONE, speed_index_connections_ms=LESS)) == ""
    assert explain(results, times("dsl", MORE, speed_index_connections_ms=MORE)) == ""
    assert explain(results, times("dsl", WHOLE, speed_index_connections_ms=NONE)) == ""
    assert explain(results, times("lte", WHOLE, speed_index_connections_ms=LESS)) == ""


def test_the_headlines_comparison_is_explained_first(quickstart_contents):
    """Gains are by network, and comparisons in the plan's order come before networks."""
    first, second, *_ = quickstart_contents.comparisons
    found_on = (("dsl", second), ("lte", first))
    claimed = [
        replace(each, gain=gain, median=gain, p_holm=p)
        for each in quickstart_contents.gains
        if each.metric == quickstart_contents.primary_metric
        for is_claimed in [(each.network, each.comparison) in found_on]
        for gain, p in [(LESS, 0.0) if is_claimed else (Estimate(0.0, -1.0, 1.0), 1.0)]
    ]
    changed = replace(quickstart_contents, gains=tuple(claimed))
    parts = times("", WHOLE, speed_index_connections_ms=LESS)
    changed.__dict__["speeds"] = tuple(
        replace(parts, network=each.network, stack=each.stack, reference=each.reference)
        for each in claimed
    )
    changed.__dict__["first_paints"] = ()
    found = [each[0] for each in metric_paragraphs(changed)]
    assert [each.split(",")[0] for each in found] == ["On lte", "On dsl"]
    assert f"with {first.stack} than with {first.reference}" in found[0]


@pytest.mark.parametrize(
    ("handshakes", "said"),
    [
        ((2.0, 2.0), "both waited for two handshakes: quic's took"),
        ((1.0, 2.0), "quic waited for one handshake instead of two, which took"),
        ((1.0, 1.0), "both waited for one handshake: quic's took"),
        ((9.0, 9.0), "both waited for 9 handshakes: quic's took"),
    ],
)
def test_handshakes_before_the_first_paint_are_counted_and_priced(results, handshakes, said):
    nothing = times("dsl", NONE, speed_index_connections_ms=NONE)
    paint = times("dsl", WHOLE, first_paint_connections_ms=LESS)
    assert explain(results, nothing, paint, handshakes) == (
        f"On dsl, before the first paint, {said} 149 ms (138 to 160 ms) less, and it painted "
        "141 ms earlier."
    )
    inconclusive = times("dsl", WHOLE, first_paint_connections_ms=NONE)
    assert explain(results, nothing, inconclusive, handshakes) == ""


def test_the_visible_part_of_a_site_is_said_with_what_brought_it(results):
    hero = pl.lit("https://a.example/pictures/hero.jpg?w=9\nhttps://a.example/x.png")
    kept = results.blocks.kept.with_columns(largest_part_of=hero, largest_part_share=pl.lit(0.98))
    changed = replace(results, blocks=replace(results.blocks, kept=kept))
    changed.__dict__["speeds"] = changed.__dict__["first_paints"] = ()
    said = " ".join(explain_causes(changed)).replace(NO_BREAK, " ")
    assert "of dashboard's picture, 98 % came at once through hero.jpg, " in said
    assert "Of startup's picture, 98 % came at once through hero.jpg, " in said


def test_a_page_explains_the_first_comparison_in_full_and_one_more(tmp_path):
    text = TWO_STACKS.replace('"lte"]', '"lte", "mss"]')
    results = read_run(tmp_path, text=text)
    of_page = why_section(results)
    assert len(explain_causes(results)) == 3
    assert of_page.count("<p>") == 2 and "mss" not in of_page
    assert of_page.count("came at once") == 2  # of both sites, on the first network


def test_a_stack_that_is_faster_by_less_than_matters_is_explained_too(results):
    plan = replace(results.plan, smallest_effect_of_interest=0.9)
    changed = replace(results, plan=plan)
    verdicts = {verdict_of(changed, gain) for gain in changed.gains}
    assert "faster, by less than matters" in verdicts
    assert explain_causes(changed) == explain_causes(results) != []


def test_a_study_that_may_stop_is_explained(tmp_path):
    results = read_run(tmp_path, text=TWO_STACKS + "stop = { }\n")
    assert explain_causes(results)


def test_the_part_of_largest_contentful_paint_in_which_a_stack_that_is_faster_gains_is_named(
    of_paint,
):
    said = why_section(of_paint).replace(NO_BREAK, " ")
    assert (
        "earlier with quic than with tcp; the largest part of this is resource load duration"
        in said
    )


def test_a_part_that_goes_the_other_way_is_not_the_largest_of_a_difference(of_paint):
    (paint,) = of_paint.paints
    against = Estimate(900.0, 800.0, 1000.0)
    name = "time_to_first_byte_ms"
    parts = {**paint.parts, name: replace(paint.parts[name], difference=against)}
    said = why_section(_with(of_paint, paints=(replace(paint, parts=parts),)))
    assert "the largest part of this is resource load duration" in said


def test_where_nothing_is_claimed_no_part_of_largest_contentful_paint_is_named(results):
    gains = tuple(replace(gain, p_holm=0.2) for gain in results.gains)
    unclaimed = _with(results, gains=gains, paints=results.paints)
    assert unclaimed.paints[0].whole.difference.excludes_zero
    assert why_section(unclaimed) == ""


def test_a_run_that_was_broken_off_has_no_sentence_of_causes(results):
    split = Decomposition(Estimate(-40.0, -60.0, -20.0), {"loss": NOTHING}, NOTHING, NOTHING)
    splits = (NetworkSplit("dsl", "quic", "tcp", 70.0, split),)
    whole = replace(results, splits=splits)
    assert explain_causes(whole) and ": −40" in why_section(whole)
    assert why_section(replace(whole, unfinished="5 of 6 loads are there")) == ""


def _with(results, paints, **fields):
    """The same with other fields and other parts, which are computed once."""
    changed = replace(results, **fields)
    changed.__dict__["paints"] = paints
    return changed

"""Which cause the sentences of the section `Why` name, and when none."""

from dataclasses import replace

import pytest
from made_up_run import TWO_STACKS, read_run

from eyelevel.analysis.formats import NO_BREAK
from eyelevel.analysis.gains.causes import NetworkSplit
from eyelevel.report.sections.why import said_why, why_section, why_sentences
from eyelevel.stats.estimate import Estimate
from eyelevel.stats.split import Split

NOTHING = Estimate(0.0, -1.0, 1.0)


def sentence(difference, rtt_ms=70.0, **causes):
    split = Split(difference, causes, NOTHING, NOTHING)
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
def contents(tmp_path_factory):
    return read_run(tmp_path_factory.mktemp("run"), text=TWO_STACKS.replace(', "lte"', ""))


def test_the_part_of_largest_contentful_paint_in_which_a_stack_that_is_faster_gains_is_named(
    contents,
):
    said = why_section(contents).replace(NO_BREAK, " ")
    assert (
        "earlier with quic than with tcp; the largest part of this is resource load duration"
        in said
    )


def test_a_part_that_goes_the_other_way_is_not_the_largest_of_a_difference(contents):
    (paint,) = contents.paints
    against = Estimate(900.0, 800.0, 1000.0)
    name = "time_to_first_byte_ms"
    parts = {**paint.parts, name: replace(paint.parts[name], difference=against)}
    said = why_section(_with(contents, paints=(replace(paint, parts=parts),)))
    assert "the largest part of this is resource load duration" in said


def test_where_nothing_is_claimed_no_part_of_largest_contentful_paint_is_named(contents):
    gains = tuple(replace(gain, p_holm=0.2) for gain in contents.gains)
    unclaimed = _with(contents, gains=gains, paints=contents.paints)
    assert unclaimed.paints[0].whole.difference.excludes_zero
    assert why_section(unclaimed) == ""


def test_a_run_that_was_broken_off_has_no_sentence_of_causes(contents):
    split = Split(Estimate(-40.0, -60.0, -20.0), {"loss": NOTHING}, NOTHING, NOTHING)
    splits = (NetworkSplit("dsl", "quic", "tcp", 70.0, split),)
    whole = replace(contents, splits=splits)
    assert said_why(whole) and ": −40" in why_section(whole)
    assert why_section(replace(whole, unfinished="5 of 6 loads are there")) == ""


def _with(contents, paints, **fields):
    """The same with other fields and other parts, which are computed once."""
    changed = replace(contents, **fields)
    changed.__dict__["paints"] = paints
    return changed

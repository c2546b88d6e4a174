"""Which cause the sentences of the section `Why` name, and when none."""

import pytest

from eyelevel.analysis.formats import NO_BREAK
from eyelevel.analysis.gains.causes import NetworkSplit
from eyelevel.report.sections.why import why_sentences
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
        "quic against tcp on lte: of +3 ms (95 % interval −40 ms to +46 ms) no part is told "
        "from none."
    )


@pytest.mark.parametrize("window", [Estimate(-80.0, -200.0, 40.0), Estimate(-10.0, -15.0, -5.0)])
def test_the_largest_part_of_those_that_are_certain_is_named_with_its_interval(window):
    handshake = Estimate(-35.0, -45.0, -25.0)
    said = sentence(Estimate(-40.0, -60.0, -20.0), handshake=handshake, window=window)
    assert said == (
        "quic against tcp on lte: of −40 ms (95 % interval −60 ms to −20 ms) the largest part that "
        "is told from none, −35 ms (−45 ms to −25 ms) or 0.50 round trips, is due to handshakes."
    )


def test_without_intervals_no_cause_is_named():
    few = "one block shows no spread"
    said = sentence(Estimate(-40.0, reason=few), handshake=Estimate(-35.0, reason=few))
    assert said == f"quic against tcp on lte: of −40 ms ({few}) no part is told from none."


def test_an_undetermined_difference_says_why():
    late = "a load timed out, so there is no mean"
    said = sentence(Estimate(None, reason=late), handshake=Estimate(None, reason=late))
    assert said == f"quic against tcp on lte: undetermined ({late})."

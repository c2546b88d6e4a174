"""The sentences of the answer, each whole: they are what people quote."""

import math
from dataclasses import replace

import pytest

from eyelevel.analysis.answers import answer, description, format_limit
from eyelevel.analysis.formats import NO_BREAK, format_change, format_change_interval
from eyelevel.analysis.gains.cells import NetworkGain
from eyelevel.analysis.stats.censoring import SlowLoads, Timeouts
from eyelevel.analysis.stats.estimate import Estimate

METRIC = "speed_index_ms"
NO_TIMEOUTS = Timeouts(0, 0, 62, 60_000.0, 60_000.0, None)


def gain(value, low, high, p=0.001, network="dsl", ms=None):
    estimate = Estimate(value, low, high, p, 0.01, 4.0, 2)
    beside = {} if ms is None else {"difference": Estimate(ms, ms - 100, ms + 100)}
    return NetworkGain(network, "quic", "tcp", METRIC, estimate, p, timeouts=NO_TIMEOUTS, **beside)


def lacking(reason, value=None, network="lte"):
    return NetworkGain(network, "quic", "tcp", METRIC, Estimate(value, reason=reason))


def said(*gains, sites=2):
    return [
        str(sentence).replace(NO_BREAK, " ")
        for sentence in answer(gains, METRIC, sites, smallest_effect=0.05)
    ]


@pytest.mark.parametrize(
    ("found", "sentence", "claim"),
    [
        (
            gain(-0.21, -0.268, -0.152, ms=-412.0),
            "On dsl, quic was faster than tcp by 412 ms or 21.0 % (95 % interval 15.2 % to "
            "26.8 %); Speed Index, 2 sites, 62 loads per stack.",
            "faster",
        ),
        (
            gain(0.21, 0.152, 0.268, ms=412.0),
            "On dsl, quic was slower than tcp by 412 ms or 21.0 % (95 % interval 15.2 % to "
            "26.8 %); Speed Index, 2 sites, 62 loads per stack.",
            "slower",
        ),
        (  # a few slow loads weigh more in milliseconds
            gain(-0.1, -0.15, -0.05, ms=30.0),
            "On dsl, quic was faster than tcp by 10.0 %, although the mean is 30 ms slower "
            "(95 % interval 5.0 % to 15.0 %); Speed Index, 2 sites, 62 loads per stack.",
            "faster",
        ),
        (  # and less than half of one says nothing
            gain(-0.1, -0.15, -0.05, ms=0.2),
            "On dsl, quic was faster than tcp by 10.0 % (95 % interval 5.0 % to 15.0 %); Speed "
            "Index, 2 sites, 62 loads per stack.",
            "faster",
        ),
        (
            gain(0.01, -0.02, 0.04, p=0.5, ms=12.0),
            "On dsl, quic and tcp did not differ by 5.0 % or more: 12 ms or 1.0 % slower (95 % "
            "interval 2.0 % faster to 4.0 % slower); Speed Index, 2 sites, 62 loads per stack.",
            "",
        ),
        (
            gain(-0.02, -0.03, -0.01, ms=-24.0),
            "On dsl, quic was faster than tcp, by less than the 5.0 % that matter: 24 ms or "
            "2.0 % faster (95 % interval 1.0 % to 3.0 % faster); Speed Index, 2 sites, 62 loads "
            "per stack.",
            "",
        ),
        (  # of a study that may stop early: what shows it are the bounds
            replace(gain(0.01, -0.03, 0.052, p=0.5), one_sided=Estimate(0.01, -0.02, 0.045)),
            "On dsl, quic and tcp did not differ by 5.0 % or more: 1.0 % slower (95 % interval "
            "3.0 % faster to 5.2 % slower); 95 % sure to be above −2.0 %, and as sure to be below "
            "+4.5 %; Speed Index, 2 sites, 62 loads per stack.",
            "",
        ),
        (
            gain(-0.03, -0.08, 0.02, p=0.2, ms=-60.0),
            "On dsl, it is unclear whether quic is faster than tcp: 60 ms or 3.0 % faster (95 % "
            "interval 8.0 % faster to 2.0 % slower); Speed Index, 2 sites, 62 loads per stack.",
            "",
        ),
        (
            gain(-0.2, -0.28, -0.12, p=0.071),
            "On dsl, it is unclear whether quic is faster than tcp: 20.0 % faster (95 % interval "
            "12.0 % to 28.0 % faster); clear on its own, but not after correction for all "
            "comparisons; Speed Index, 2 sites, 62 loads per stack.",
            "",
        ),
        (
            replace(gain(-0.12, -0.15, -0.09, ms=-1234.0), median=Estimate(0.01)),
            "On dsl, there is no verdict on quic against tcp, because mean and median point "
            "in opposite directions: 1 234 ms or 12.0 % faster (95 % interval 9.0 % to 15.0 % "
            "faster; median 1.0 % slower); Speed Index, 2 sites, 62 loads per stack.",
            "",
        ),
        (
            lacking("no complete block is left"),
            "On lte, the comparison of quic with tcp is undetermined: no complete block is "
            "left; Speed Index, 2 sites.",
            "",
        ),
        (
            lacking("one block shows no spread", -0.1),
            "On lte, the comparison of quic with tcp is undetermined: one block shows no "
            "spread; 10.0 % faster; Speed Index, 2 sites.",
            "",
        ),
    ],
)
def test_each_finding_is_a_sentence_with_what_it_rests_on(found, sentence, claim):
    (one,) = answer([found], METRIC, 2, smallest_effect=0.05)
    assert str(one).replace(NO_BREAK, " ") == sentence and one.claim == claim


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [
        (-0.08, 0.02, "8.0 % faster to 2.0 % slower"),
        (-0.08, -0.02, "2.0 % to 8.0 % faster"),
        (0.02, 0.08, "2.0 % to 8.0 % slower"),
        (-0.08, 0.0001, "0.0 % to 8.0 % faster"),  # zero is neither
        (-0.0001, 0.0001, "0.0 % to 0.0 %"),
        (None, None, "no interval"),
    ],
)
def test_bounds_without_a_claim_say_which_way(low, high, words):
    found = format_change_interval(Estimate(0.0, low, high))
    assert found.replace(NO_BREAK, " ") == words
    assert format_change(-0.0001).replace(NO_BREAK, " ") == "0.0 %"


def test_the_claim_stands_alone():
    (one,) = answer([gain(-0.21, -0.268, -0.152, ms=-412.0)], METRIC, 2, smallest_effect=0.05)
    assert one.head == "On dsl, quic was faster than tcp" and one.rest.startswith(" by 412")


def test_slow_loads_are_said_where_they_differ_after_correction():
    slow = SlowLoads(Estimate(0.2, 0.1, 0.3), Estimate(0.0, 0.0, 0.05), 40, 0.001)
    found = replace(gain(-0.03, -0.08, 0.02, p=0.2), slow_loads=slow, p_slow_holm=0.004)
    _, sentence = said(found)
    assert sentence == (
        "Slow loads on dsl: 20.0 % of quic's loads (10.0 % to 30.0 %) and 0.0 % of tcp's loads "
        "(0.0 % to 5.0 %) took more than 1.5 times their stack's median; p = 0.004 after "
        "correction for all comparisons."
    )
    assert len(said(replace(found, p_slow_holm=0.06))) == 1
    assert "differ on 4 networks" in said(*[found] * 4)[1]


def test_many_networks_are_one_sentence_by_finding():
    faster = [gain(-0.1 - n / 100, -0.2, -0.05, network=f"net-{n}") for n in range(4)]
    shown = [lacking("one block shows no spread", 0.02, f"few-{n}") for n in range(2)]
    found = [*faster, *shown, lacking("no complete block of a", network="none")]
    assert said(*found) == [
        "On 4 networks, quic was faster than tcp: 10.0 % to 13.0 % faster; Speed Index, 2 sites.",
        "On few-0, few-1 and none, the comparison of quic with tcp is undetermined: 2.0 % "
        "slower; mostly because one block shows no spread; Speed Index, 2 sites.",
    ]


def test_an_unfinished_run_is_described_and_no_more():
    (sentence,) = description([gain(-0.21, -0.268, -0.152, ms=-412.0)], METRIC, 1)
    assert str(sentence).replace(NO_BREAK, " ") == (
        "So far on dsl, quic against tcp: 412 ms or 21.0 % faster (95 % interval 15.2 % to 26.8 % "
        "faster), Speed Index, 1 site, 62 loads per stack."
    )
    assert sentence.claim == ""


def test_the_limit_of_timeouts_is_one_several_or_none():
    assert format_limit(Timeouts(1, 0, 9, 60_000.0, 60_000.0, 1.0)) == "within 60 s"
    assert format_limit(Timeouts(1, 0, 9, 60_000.0, 90_500.0, 1.0)) == "within 60 to 90.5 s"
    late = Timeouts(1, 0, 9, math.inf, math.inf, 1.0)
    of_no_time = replace(gain(0, 0, 0), metric="objects", timeouts=late, p_timeouts_holm=0.5)
    assert str(answer([of_no_time], "objects", 1, 0.05)[-1]) == (
        "Unfinished loads on dsl: 1 of 9 with quic and 0 of 9 with tcp did not finish in time "
        "(corrected p = 0.5)."
    )


def test_of_many_comparisons_the_first_is_told_network_by_network_and_the_others_at_once():
    first = [gain(-0.1, -0.2, -0.05, network=network) for network in ("dsl", "lte", "3g")]
    others = [replace(each, stack=stack) for stack in ("a", "b") for each in first]
    assert len(said(*first, *others)) == 3 + 1 + 1
    assert len(said(*first, *others[:3])) == 6

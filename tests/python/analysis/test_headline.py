"""The one line that answers a report's title, and the verdicts of its table."""

from dataclasses import replace

import pytest
from synthetic_run import SITES, read_run

from eyelevel.analysis.answers import comparison_verdicts, headline, headline_network
from eyelevel.analysis.formats import NO_BREAK
from eyelevel.analysis.stats.censoring import Timeouts
from eyelevel.analysis.stats.estimate import Estimate
from eyelevel.plan.presets import preset_text


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    text = preset_text("quickstart", SITES).replace("blocks = 3", "blocks = 6")
    return read_run(tmp_path_factory.mktemp("run"), text=text)


FASTER = Estimate(-0.1, -0.12, -0.08, p=1e-6, n=6)
SLOWER = Estimate(0.1, 0.08, 0.12, p=1e-6, n=6)
UNCLEAR = Estimate(-0.01, -0.2, 0.2, p=0.9, n=6)
ALIKE = Estimate(0.001, -0.004, 0.006, 0.8, 0.002, 9, n=6)
SMALL = Estimate(-0.02, -0.021, -0.019, 1e-6, 1e-4, 9, n=6)
UNKNOWN = Estimate(None, reason="no pairs")


def with_gains(results, *estimates):
    """Return the run with these gains of the first comparison on dsl, lte."""
    asked, metric = results.comparisons[0], results.primary_metric
    by_network = dict(zip(results.networks, estimates, strict=True))
    gains = []
    for gain in results.gains:
        if (gain.comparison, gain.metric) == (asked, metric):
            estimate = by_network[gain.network]
            change = Estimate(1000 * (estimate.value or 0.0))
            p = 0.0 if estimate.excludes_zero else 1.0
            gain = replace(gain, gain=estimate, median=estimate, difference=change, p_holm=p)
        gains.append(gain)
    return replace(results, gains=tuple(gains))


def line(results, *estimates):
    """Return the headline of these gains."""
    return headline(with_gains(results, *estimates)).replace(NO_BREAK, " ")


@pytest.mark.parametrize(
    ("estimates", "said"),
    [
        ((FASTER, FASTER), "quic was faster than tcp+ on dsl and lte by 10.0 %."),
        (
            (FASTER, SLOWER),
            "quic was faster than tcp+ on dsl by 100 ms or 10.0 %; on lte quic was slower by 100 "
            "ms or 10.0 %.",
        ),
        (
            (UNCLEAR, FASTER),
            "quic was faster than tcp+ on lte by 100 ms or 10.0 %; on dsl it is unclear.",
        ),
        (
            (FASTER, ALIKE),
            "quic was faster than tcp+ on dsl by 100 ms or 10.0 %; on lte they did not differ by "
            "5.0 % or more.",
        ),
        (
            (UNKNOWN, UNCLEAR),
            "The comparison of quic with tcp+ is undetermined on dsl (no pairs); on lte it is "
            "unclear.",
        ),
        (
            (SMALL, FASTER),
            "quic was faster than tcp+ on dsl, by less than the 5.0 % that matter; on lte quic was "
            "faster by 100 ms or 10.0 %.",
        ),
        (
            (FASTER, SMALL),
            "quic was faster than tcp+ on dsl by 100 ms or 10.0 %; on lte quic was faster, by less "
            "than the 5.0 % that matter.",
        ),
        ((ALIKE, ALIKE), "quic and tcp+ did not differ by 5.0 % or more on dsl and lte."),
        ((UNCLEAR, UNCLEAR), "It is unclear whether quic is faster than tcp+ on dsl and lte."),
    ],
)
def test_one_line_answers_the_title(results, estimates, said):
    assert line(results, *estimates) == said


def test_a_stack_that_finishes_fewer_loads_has_that_as_its_finding(results):
    late = Timeouts(7, 0, 20, 0.01, 0.001, 1.0)
    gains = [
        replace(gain, gain=UNKNOWN, timeouts=late, p_timeouts_holm=0.01)
        if gain.metric == results.primary_metric
        else gain
        for gain in results.gains
    ]
    rows = comparison_verdicts(replace(results, gains=tuple(gains)))
    assert {each.finding for row in rows for each in row.verdicts} == {"fewer loads finished"}


def test_no_verdict_is_given_before_a_run_is_complete(results):
    part = replace(results, unfinished="30 of 36 loads are there")
    assert headline(part) == "No verdict yet: 30 of 36 loads are there."
    findings = {each.finding for row in comparison_verdicts(part) for each in row.verdicts}
    assert findings == {"so far"}


def test_the_table_has_every_comparison_on_every_network(results):
    rows = comparison_verdicts(results)
    assert [row.comparison for row in rows] == list(results.comparisons)
    assert all([each.network for each in row.verdicts] == results.networks for row in rows)


@pytest.mark.parametrize(
    ("estimates", "network"),
    [
        ((UNCLEAR, FASTER), "lte"),
        ((UNKNOWN, ALIKE), "lte"),
        ((SLOWER, FASTER), "dsl"),
        ((UNCLEAR, UNKNOWN), "dsl"),
    ],
)
def test_the_headlines_network_has_its_verdict_and_is_the_first_named(results, estimates, network):
    found = with_gains(results, *estimates)
    assert headline_network(found) == network
    others = set(results.networks) - {network}
    said = headline(found)
    assert said.index(network) < min(said.index(other) for other in others)
    part = replace(found, unfinished="30 of 36 loads are there")
    assert headline_network(part) == "dsl"


@pytest.mark.parametrize("found", [FASTER, UNCLEAR])
def test_fewer_than_six_blocks_are_worded_as_a_first_look(results, found):
    few = replace(found, n=5)
    whole, first = line(results, found, found), line(results, found, few)
    assert first.lower() == f"a first look: {whole.lower()}"

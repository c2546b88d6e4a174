"""The section on a server's distances from level stacks: its sentences, of synthetic distances."""

from types import SimpleNamespace

from eyelevel.analysis.gains.level_distances import Distance, LevelDistances, LevelSquare
from eyelevel.analysis.stats.estimate import Estimate, undetermined
from eyelevel.report.sections.level_distances import describe_level_distances

SQUARE = LevelSquare("s-h3", "s-h2", "quic", "tcp+")


def results(ratio: Estimate, ms: Estimate, without: int = 0, **more: object) -> SimpleNamespace:
    distances = {
        name: Distance(each.stack, each.reference, ratio, ms)
        for name, each in SQUARE.comparisons.items()
    }
    found = LevelDistances("dsl", SQUARE, distances, 8, without)
    facts = {"unfinished": False, "level_distances": [found], "without_alt_svc": (), **more}
    return SimpleNamespace(**facts)


def test_a_sentence_has_all_four_parts_with_their_intervals() -> None:
    (sentence,) = describe_level_distances(
        results(Estimate(-0.158, -0.241, -0.075), Estimate(-28.8, -44.6, -13.0))
    )
    plain = sentence.replace("\N{NO-BREAK SPACE}", " ").replace("\N{MINUS SIGN}", "-")
    assert plain.count("-15.8 % [-24.1, -7.5], -28.8 ms [-44.6, -13.0]") == 4
    assert [part in plain for part in ("(a)", "(b)", "(c)", "(a - b + c)")] == [True] * 4


def test_what_is_unknown_is_said_and_blocks_without_a_load_are_counted() -> None:
    unknown = undetermined("too few blocks")
    first, second = describe_level_distances(results(unknown, unknown, without=2))
    assert "unknown" in first and "no interval" in first
    assert second.startswith("dsl: 2 blocks without one of the four loads")


def test_a_missing_alt_svc_is_a_line_of_its_own_and_unfinished_runs_have_none() -> None:
    one = Estimate(0.1, 0.0, 0.2)
    *_, last = describe_level_distances(results(one, one, without_alt_svc=("s-h3",)))
    assert last.startswith("s-h3: its HTTP/3 responses have no Alt-Svc")
    assert describe_level_distances(results(one, one, unfinished=True)) == []

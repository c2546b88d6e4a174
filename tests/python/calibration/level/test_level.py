"""A level on a terminal: the answer first, no line too long, nothing left out."""

import pytest
from levels import PRIORITIES, SAME, level

from eyelevel.analysis.stats.estimate import Estimate, undetermined
from eyelevel.calibration.level.text import GROUPS as HEADS
from eyelevel.calibration.level.text import level_lines


def text(found, width=80) -> str:
    return "\n".join(line.text for line in level_lines(found, width))


def prose(found) -> str:
    """However its sentences are broken."""
    return " ".join(text(found).split())


@pytest.mark.parametrize("width", [72, 80, 100, 120, 200])
@pytest.mark.parametrize("given", [{}, {"quic_ecn": 1.0, "image": 1, "ack_ms": (2.0, 47.0, 90.0)}])
def test_no_line_is_wider_than_the_terminal_and_no_row_is_missing(width, given) -> None:
    found = level(**given)
    lines = [line.text for line in level_lines(found, width)]
    assert max(map(len, lines)) <= width
    said = "\n".join(lines)
    assert all(row["aspect"] in said for row in found["rows"])
    # Rows that say the same share a line; none needs a second one.
    rows = [line for line in lines if "±" in line or " exact" in line or "margin" in line]
    assert len(rows) <= len(found["rows"]) + len(HEADS)


def test_the_first_sentence_is_the_answer() -> None:
    assert prose(level()).startswith(
        "tcp+ and quic are level: of 17 rows none unequal, none unknown, 12 equal, 3 inherent, "
    )
    uneven = prose(level(quic_ecn=1.0))
    assert uneven.startswith("tcp+ and quic are not level: of 17 rows 2 unequal (ECN bits), none ")
    inconclusive = prose(level(ack_ms=(2.0, 47.0, 90.0)))
    assert inconclusive.startswith(
        "Whether tcp+ and quic are level is not known: of 17 rows none unequal, 2 unknown (delayed "
    )


def test_what_measured_it_is_said() -> None:
    assert (
        "Measured on this machine, runs: 9 of tcp+ and 9 of quic. Linux 6.18.44-with-a-long-name, "
        "eyelevel 0.1.0 (binary 01234567), Chromium 156.0.8078.79 built on Debian."
    ) in prose(level())


def test_unequal_rows_come_first_then_unknown_then_equal_then_what_nature_has_apart() -> None:
    said = text(level(quic_ecn=1.0, ack_ms=(2.0, 47.0, 90.0)))
    heads = ["UNEQUAL: ", "UNKNOWN: ", "EQUAL: ", "INHERENT: "]
    places = [said.index(f"\n{head}") for head in heads]
    assert places == sorted(places)
    assert said.index("ECN bits, %: packets from the servers") < places[1]


def test_a_row_of_nature_says_how_much_is_allowed_and_by_what() -> None:
    said = text(level())
    assert "allowed −210 to −190 ms: one round trip less, RFC 9001 4.1" in said


def test_long_labels_have_lines_of_their_own_and_the_same_one_is_said_once() -> None:
    said = text(level(image=1), 200)
    assert f"tcp+: {PRIORITIES.format(3)}" in said and f"quic: {PRIORITIES.format(1)}" in said
    assert said.count(SAME["cipher"]) == 1


def test_what_a_stack_has_not_is_neither_equal_nor_unknown() -> None:
    found = level()
    for row in found["rows"]:
        if row["aspect"] == "priorities":
            row |= {"second": None, "difference": undetermined("few").as_json()}
            row["word"] = "unknown"
    said = prose(found)
    assert "none unknown" in said and "2 of something that a stack does not have" in said
    assert "NOTHING TO COMPARE: a stack has none (2 rows)" in said


def test_too_few_runs_are_told() -> None:
    found = level()
    row = found["rows"][0]
    row |= {"difference": undetermined("few").as_json(), "word": "unknown", "runs": (1, 2)}
    assert "runs: 1 and 2 of 3 at least" in text(found)


def test_numbers_of_a_row_have_as_many_digits_as_one_another() -> None:
    found = level()
    (own,) = (row for row in found["rows"] if row["aspect"] == "handshake")
    values = {"first": 2.25, "second": 3.0, "difference": Estimate(0.75, -0.5, 2.0).as_json()}
    assert _numbers(found, own | values) == "2.2 3.0 +0.8 (−0.5 to +2.0) ±10"
    values = {"first": 402.4, "second": 202.6}
    values["difference"] = Estimate(-199.8, -200.2, -199.4).as_json()
    assert _numbers(found, own | values) == "402 203 −200 (−200 to −199) ±10"


def _numbers(found, row) -> str:
    (line,) = (each for each in text({**found, "rows": [row]}).splitlines() if "bulk on" in each)
    return " ".join(line.split()[5:])

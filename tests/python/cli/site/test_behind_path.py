"""What is left of a command line whose words of a path are said around it."""

import pytest

from eyelevel.cli.site.record import without

GIVEN = {"--rtt": "40ms", "--down": "loss 1%"}


@pytest.mark.parametrize(
    ("arguments", "left"),
    [
        (["record", "--rtt", "40ms", "http://a.example/"], ["record", "http://a.example/"]),
        (["record", "http://a.example/", "--down=loss 1%", "--rtt=40ms"], 2),
        (["record", "--out", "--rtt.wacz", "a"], ["record", "--out", "--rtt.wacz", "a"]),
        (["record", "--rtt", "1ms", "--", "--rtt", "a"], ["record", "--", "--rtt", "a"]),
        (["record", "--downloads", "x"], ["record", "--downloads", "x"]),
        (["record", "--rtt"], ["record"]),
    ],
)
def test_words_go_and_all_else_stays(arguments: list[str], left: list[str] | int) -> None:
    expected = arguments[:left] if isinstance(left, int) else left
    assert without(GIVEN, arguments) == expected

"""`--origin-rtt` takes what plans and `ask --change "rtt:HOST=90→20"` take."""

import pytest

from eyelevel.base.errors import PlanError
from eyelevel.cli.network_options import parse_origin_rtt


@pytest.mark.parametrize(
    ("word", "asked"),
    [
        ("recorded", {"*": "recorded"}),
        ("20", {"*": 20.0}),
        ("20ms", {"*": 20.0}),
        ("cdn.example=20", {"cdn.example": 20.0}),
        ("cdn.example=.5, b.example=1s,*=recorded",
         {"cdn.example": 0.5, "b.example": 1000.0, "*": "recorded"}),
    ],
)  # fmt: skip
def test_a_number_is_milliseconds(word, asked):
    assert parse_origin_rtt(word) == asked


@pytest.mark.parametrize("word", ["cdn.example=2 0", "cdn.example=-1", "cdn.example=nan", "99999"])
def test_what_is_no_round_trip_is_refused(word):
    with pytest.raises(PlanError, match="is not a round trip for"):
        parse_origin_rtt(word)

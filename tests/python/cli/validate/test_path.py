"""What `validate path` prints."""

import pytest

from eyelevel.calibration.validation.path import Check
from eyelevel.cli.validate.commands import _print


@pytest.mark.parametrize(
    ("recorded", "said"),
    [
        ("late by, p99", "lateness, p99"),
        ("lost unasked", "unexpected losses"),
        ("unlike the model: loss", "differences from the model: loss"),
        ("loss rate", "loss rate"),
    ],
)
def test_a_check_is_said_in_words_whatever_records_call_it(recorded: str, said: str, capsys):
    _print([Check(recorded, "as it is", "1", "0", "none", ok=False)])
    assert f"FAIL  {said}  as it is  1" in capsys.readouterr().out

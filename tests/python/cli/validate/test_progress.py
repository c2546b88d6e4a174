from eyelevel.calibration.measuring.measure import Step
from eyelevel.cli.validate.commands import describe_step


def test_a_run_that_is_needed_says_which_and_both_times_left() -> None:
    step = Step("page on far", "tcp+", 7, 36, 110.0, 200.4)
    assert describe_step(step) == "run 7/36 page on far, tcp+: 1 min 50 s left, at most 3 min 20 s"


def test_a_run_more_is_of_what_is_unknown_and_has_no_number() -> None:
    step = Step("bulk on far", "quic", 37, 36, 0.0, 40.0)
    assert describe_step(step) == "one more run bulk on far, quic: at most 40 s left"


def test_a_line_fits_the_terminal() -> None:
    step = Step("loss in the middle", "quic+das-2014", 24, 36, 110.0, 200.4)
    assert len(describe_step(step)) <= 80

from eyelevel.cli.level_progress import step_said
from eyelevel.run.level_validation import Step


def test_a_run_that_is_needed_says_which_and_both_times_left() -> None:
    step = Step("page on far", "tcp+", 7, 36, 110.0, 200.4)
    assert (
        step_said(step)
        == "measuring 7/36 page on far, tcp+: about 1 min 50 s left, at most 3 min 20 s"
    )


def test_a_slow_machine_is_not_promised_a_limit_that_it_breaks() -> None:
    step = Step("page on far", "tcp+", 7, 36, 300.0, 300.0)
    assert step_said(step).endswith("about 5 min 00 s left")


def test_a_run_more_says_that_it_is_one_and_no_number() -> None:
    step = Step("bulk on far", "quic", 37, 36, 0.0, 40.0)
    assert (
        step_said(step)
        == "measuring bulk on far, quic, once more for what is unknown: at most 40 s left"
    )

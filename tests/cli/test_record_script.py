"""`eyelevel record --script`: a mistake is told with its file and line."""

import pytest

from eyelevel.base.errors import OutsideError
from eyelevel.cli.site.record import read_script
from eyelevel.plan.steps import STEPS_MAX


def test_steps_are_lines_without_comments(tmp_path):
    file = tmp_path / "steps.txt"
    file.write_text("# open the menu\nclick #menu\n\n  scroll 800\n", encoding="utf-8")
    assert [step.text for step in read_script(file)] == ["click #menu", "scroll 800"]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("scroll end\nhover #menu\n", "line 2"),
        ("scroll up\n", "line 1"),
        ("scroll end\n" * (STEPS_MAX + 1), f"more than {STEPS_MAX} steps"),
    ],
)
def test_what_is_no_step_is_refused(tmp_path, content, said):
    file = tmp_path / "steps.txt"
    file.write_text(content, encoding="utf-8")
    with pytest.raises(ValueError, match=said) as refused:
        read_script(file)
    assert str(file) in str(refused.value)


def test_a_script_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(OutsideError, match="none: there is no such file"):
        read_script(tmp_path / "none")

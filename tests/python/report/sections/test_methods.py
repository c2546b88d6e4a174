"""What the methods say of why an effect matters, and of when a study may end."""

import pytest
from synthetic_run import metrics_of, read_run
from synthetic_study import TEXT, SyntheticStudy

from eyelevel.analysis.study import read_results
from eyelevel.plan.file.parse import parse_plan
from eyelevel.plan.presets import PRESETS, preset_text
from eyelevel.report.sections.methods import paragraph

PLAN = """sites = ["startup"]
networks = ["dsl"]
stacks = ["tcp", "quic"]
reference = "tcp"
blocks = 2
"""


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ("", "of 5.0 % (the default: the plan gives no smallest effect of its own)."),
        ("smallest_effect_of_interest = 0.02\n", "of 2.0 % (the plan gives no reason)."),
        (
            'smallest_effect_reason = "our shop sells 1 % less for each 100 ms"\n',
            "of 5.0 % (reason: our shop sells 1 % less for each 100 ms).",
        ),
    ],
)
def test_the_smallest_effect_stands_with_its_reason(tmp_path, keys, said):
    text = paragraph(read_run(tmp_path, text=PLAN + keys)).replace("\N{NO-BREAK SPACE}", " ")
    assert f"a smallest effect of interest {said}" in text


def test_what_was_chosen_afterwards_is_not_said_to_be_declared(tmp_path):
    results = read_run(tmp_path, text=PLAN)
    assert "The comparisons were quic against tcp. " in paragraph(results)
    afterwards = paragraph(read_results(tmp_path, metrics_of, against="quic"))
    assert (
        "The comparisons were tcp against quic, chosen after the loads had been made (the plan "
        "had declared quic against tcp). "
    ) in afterwards


@pytest.mark.parametrize("name", [preset.name for preset in PRESETS])
@pytest.mark.parametrize("scale", ["full", "small"])
def test_every_preset_has_a_reason(name, scale):
    text = preset_text(name, ["startup", "dashboard"], scale=scale)
    assert "people notice" in parse_plan(text, "plan.toml").smallest_effect_reason


def test_a_study_that_may_stop_says_by_which_rule_and_what_was_decided(tmp_path):
    study = SyntheticStudy(TEXT + "futility = false\n")
    result = study.run(tmp_path)
    text = paragraph(study.results(tmp_path)).replace("\N{NO-BREAK SPACE}", " ")
    assert "After each repetition from number 6 on" in text
    assert (
        "as soon as its interval excluded 0 while the median had the same sign, or two one-sided "
        "bounds at the same level lay within the smallest effect of interest; a network's loads "
        "ended"
    ) in text
    assert f"Decided before the last block: {result.stopped}." in text and result.stopped

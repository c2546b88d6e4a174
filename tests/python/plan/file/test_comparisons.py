"""What a plan compares: declared pairs, or each stack against one reference."""

import pytest

from eyelevel.base.errors import PlanError
from eyelevel.plan.comparisons import Comparison, references_first
from eyelevel.plan.file.parse import parse_plan
from eyelevel.plan.presets import PRESETS_BY_NAME, preset_text

REST = """\
sites = ["agency"]
networks = ["dsl"]
stacks = ["tcp", "tcp+", "quic"]
blocks = 2
"""
FAIR = Comparison("quic", "tcp+")
TUNED = Comparison("tcp+", "tcp")


def compared(line):
    return parse_plan(REST + line, "plan.toml").comparisons


def test_declared_pairs_keep_their_order():
    assert compared('comparisons = [["quic", "tcp+"], ["tcp+", "tcp"]]') == (FAIR, TUNED)


def test_one_reference_is_held_against_every_other_stack():
    assert compared('reference = "tcp"') == (TUNED, Comparison("quic", "tcp"))


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("", "plan.toml:1: say what to compare: `comparisons = "),
        (
            'comparisons = [["quic", "tpc"]]',
            "plan.toml:5: unknown stack `tpc`; did you mean `tcp`?",
        ),
        ('comparisons = [["quic", "quic"]]', "plan.toml:5: `quic` is compared with itself"),
        (
            'comparisons = [["quic", "tcp"], ["tcp", "quic"]]',
            "plan.toml:5: `tcp against quic` is listed twice; drop one",
        ),
        (
            'comparisons = [["quic", "tcp"]]\nreference = "tcp"',
            "plan.toml:6: `comparisons` already says what to compare; drop one of the two",
        ),
        ("comparisons = []", "plan.toml:5: `comparisons`: "),
        (
            'comparisons = [["quic"]]',
            "plan.toml:5: `comparisons`: each is two names: a stack and its reference",
        ),
        (
            'comparisons = [["quic", "tcp+", "tcp"]]',
            "plan.toml:5: `comparisons`: each is two names: a stack and its reference",
        ),
    ],
)
def test_what_cannot_be_asked_is_refused_at_its_line(line, said):
    with pytest.raises(PlanError) as refused:
        compared(line)
    assert str(refused.value).startswith(said) and "\n" not in str(refused.value)


def test_the_presets_ask_their_studies_questions():
    def of(name):
        plan = parse_plan(preset_text(name, ["agency"]), name)
        return [str(asked) for asked in plan.comparisons]

    assert of("quickstart") == ["quic against tcp+", "tcp+ against tcp"]
    assert {"quic+bbr against tcp+bbr", "quic+bbr against quic", "tcp+bbr against tcp+"} < set(
        of("wolsing-2019")
    )
    assert of("das-2014") == [
        "quic+das-2014 against http1-plain",
        "tcp against http1-plain",
        "quic+das-2014 against tcp",
    ]


@pytest.mark.parametrize("name", PRESETS_BY_NAME)
def test_each_preset_can_be_read(name):
    assert parse_plan(preset_text(name, ["agency"]), name).comparisons


def test_stacks_stand_with_those_first_that_others_are_held_against():
    assert references_first((FAIR, TUNED), ["quic", "http1", "tcp+", "tcp"]) == [
        "tcp",
        "tcp+",
        "quic",
        "http1",
    ]

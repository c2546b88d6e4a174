from dataclasses import fields
from pathlib import Path

from eyelevel.level.aspect import Measure
from eyelevel.level.aspects import ASPECTS
from eyelevel.level.level_page import JSON_ROW_KEYS, reference_page
from eyelevel.level.made_page import FONTS, IMAGES, STYLES, items, kind_of
from eyelevel.level.networks import SCENARIOS_BY_NAME
from eyelevel.level.rows import Row
from eyelevel.plan.model import StackTable
from eyelevel.plan.stacks import STACKS_BY_NAME, stack_settings

ROOT = Path(__file__).resolve().parents[3]


def measures() -> list[Measure]:
    return [each.measure for each in ASPECTS if each.measure is not None]


def test_the_reference_page_is_the_table() -> None:
    written = (ROOT / "docs/reference/level.md").read_text(encoding="utf-8")
    assert written == reference_page(), "run: python -m eyelevel.level.level_page"


def test_every_key_of_a_row_is_explained() -> None:
    explained = [key for keys in JSON_ROW_KEYS for key in keys.split(", ")]
    assert explained == [each.name for each in fields(Row) if each.name in explained]
    assert set(explained) == {each.name for each in fields(Row)}


def test_names_are_unique_and_every_row_has_a_scenario_a_source_and_a_reason() -> None:
    assert len({each.name for each in ASPECTS}) == len(ASPECTS)
    for each in measures():
        assert each.on
        assert set(each.on) <= set(SCENARIOS_BY_NAME)
        assert each.source
        assert bool(each.bound) == bool(each.because)
        # A mean is never exactly another: without a margin it could only be unknown or unequal.
        assert each.compared != "mean" or each.margin or each.margin_share


def test_settings_of_aspects_are_those_of_stacks() -> None:
    known = set(StackTable.model_fields)
    for aspect in ASPECTS:
        assert set(aspect.settings) <= known, aspect.name


def test_settings_are_said_of_every_stack() -> None:
    network = SCENARIOS_BY_NAME["page on far"].network
    for stack in STACKS_BY_NAME.values():
        for aspect in ASPECTS:
            assert aspect.says is None or aspect.says(stack_settings(stack, network))


def test_the_made_page_is_the_same_every_time_and_small_enough_for_the_slow_network() -> None:
    kinds = [kind_of(item.url) for item in items()]
    assert [kinds.count(kind) for kind in ("style", "font", "image", "script", "page")] == [
        STYLES, FONTS, IMAGES, 2, 1,
    ]  # fmt: skip
    assert items() == items()
    slow = SCENARIOS_BY_NAME["page on slow"].network
    assert sum(len(item.body) for item in items()) * 8 / slow.rate_down_bit_s < 4.0

from dataclasses import fields
from urllib.parse import urlsplit

from eyelevel.calibration.level.aspects import ASPECTS
from eyelevel.calibration.level.classes import PAGES, SCENARIOS_BY_NAME, Measure
from eyelevel.calibration.level.generated_page import FONTS, IMAGES, STYLES, items, kind_of
from eyelevel.calibration.level.rows import Row
from eyelevel.cli.reference.level import JSON_ROW_KEYS
from eyelevel.plan.file.model import StackTable
from eyelevel.plan.in_force import stack_in_force
from eyelevel.plan.stack_presets import STACKS_BY_NAME


def measures() -> list[Measure]:
    return [each.measure for each in ASPECTS if each.measure is not None]


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
            assert aspect.says is None or aspect.says(stack_in_force(stack, network))


def test_the_made_page_is_the_same_every_time_and_small_enough_for_the_slow_network() -> None:
    kinds = [kind_of(item.url) for item in items()]
    assert [kinds.count(kind) for kind in ("style", "font", "image", "script", "page")] == [
        STYLES, FONTS, IMAGES, 2, 1,
    ]  # fmt: skip
    assert items() == items()
    slow = SCENARIOS_BY_NAME["page on slow"].network
    assert sum(len(item.body) for item in items()) * 8 / slow.rate_down_bit_s < 4.0


def bound_of(aspect: str) -> tuple[float, float]:
    (measure,) = (each.measure for each in ASPECTS if each.name == aspect)
    assert measure is not None and measure.bound is not None
    return measure.bound.low, measure.bound.high


def test_bounds_follow_from_the_page_and_the_networks() -> None:
    """Not from what was measured: each is what its reason gives at most."""
    heads, paths = len(items()), [urlsplit(item.url).path for item in items()]
    assert bound_of("head bytes down") == (0.0, heads * (2 + 2))
    assert bound_of("head bytes up") == (0.0, heads * 2 + sum(map(len, paths)))
    hosts = {urlsplit(item.url).netloc for item in items()}
    assert bound_of("connections") == bound_of("unused connections") == (len(hosts) * (1 - 6), 0.0)
    slow, rtt_ms = SCENARIOS_BY_NAME["page on slow"].network, 100.0
    record_ms, datagram_ms = (
        size * 8e3 / slow.rate_down_bit_s for size in (4096 * 1500 / 1448 - 1480, 1228)
    )
    assert bound_of("first usable byte") == (-round(record_ms), round(datagram_ms))
    assert SCENARIOS_BY_NAME["loss at the tail"].network.rtt_ms_min == rtt_ms
    probe_ms = (rtt_ms + 25, rtt_ms + 4 * rtt_ms / 2 + 25)
    timer_ms = (2 * rtt_ms + 200, 2 * (rtt_ms + 40) + 200)
    assert bound_of("repair at the tail") == (probe_ms[0] - timer_ms[1], probe_ms[1] - timer_ms[0])
    assert bound_of("handshake") == (-SCENARIOS_BY_NAME["bulk on far"].network.rtt_ms_min,) * 2
    ways_ms = [-SCENARIOS_BY_NAME[name].network.rtt_ms_min for name in PAGES]
    assert bound_of("handshake in the browser") == (min(ways_ms), max(ways_ms))
    assert bound_of("delayed acknowledgements") == (25 - 200, 0.0)
    assert bound_of("acknowledgements") == (0.1 - 1, 0.5 - 0.5)
    assert bound_of("bytes of a handshake") == (0.0, 1200 + 8 * 50)

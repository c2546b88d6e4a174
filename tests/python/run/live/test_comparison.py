"""Live loads against replays: both sides, the bias within blocks, and where it comes from."""

import random
from dataclasses import replace
from statistics import mean, stdev

import pytest

from eyelevel.analysis.stats.paired import hodges_lehmann
from eyelevel.cli.validate.live import BLOCKS
from eyelevel.run.live.comparison import Load, by_origin, compare, protocols, verdict

SEED = 20140
STUDIES = 100


def loads(bias_ms: float, blocks: int, fat: bool = True) -> list[Load]:
    """Live loads with the fat tail of figure 4-2, and replays near their quiet ones."""
    random_ = random.Random(SEED)
    made = []
    for block in range(1, blocks + 1):
        tail_ms = random_.expovariate(1 / 60) if fat else 0.0
        values = {
            "live": 700 + random_.gauss(0, 15) + tail_ms,
            "replay": 700 + random_.gauss(0, 15) + bias_ms,
        }
        made += [
            Load(side, block, "ok", "", {"page_load_time_ms": v}) for side, v in values.items()
        ]
    return made


def test_both_sides_have_mean_and_deviation_and_the_bias_is_within_blocks() -> None:
    made = loads(20.0, 40, fat=False)
    (primary,) = compare(made)
    sides = {
        side: [load.metrics["page_load_time_ms"] for load in made if load.side == side]
        for side in ("live", "replay")
    }
    for side, values in sides.items():
        summary = primary.as_json()[side]
        assert summary["loads"] == 40
        assert summary["mean"] == pytest.approx(mean(values))
        assert summary["coefficient_of_variation"] == pytest.approx(stdev(values) / mean(values))
    assert primary.bias == hodges_lehmann(sides["replay"], sides["live"])
    assert primary.bias.low <= 20.0 <= primary.bias.high and primary.bias.excludes_zero
    assert verdict(primary).startswith("replays are slower than the page")


def test_a_replay_with_late_packets_counts_and_a_starved_one_does_not() -> None:
    late = [replace(load, outcome="late-packets") for load in loads(20.0, 10)]
    assert compare(late) == compare(loads(20.0, 10))
    starved = [replace(load, outcome="starved") for load in late]
    assert not compare(starved)


def test_none_is_told_where_none_is() -> None:
    (primary,) = compare(loads(0.0, 40, fat=False))
    assert verdict(primary).startswith("no bias can be told")


def test_a_live_page_that_is_slower_makes_replays_faster() -> None:
    (primary,) = compare(loads(-100.0, 20))
    assert verdict(primary).startswith("replays are faster than the page")
    # The fat tail is the live page's alone.
    assert primary.sides["live"].variation > 2 * primary.sides["replay"].variation


def test_a_block_counts_where_both_loads_do() -> None:
    made = loads(20.0, 8, fat=False)
    made[0] = Load("live", 1, "timeout", "the page never came", {})
    made = [load for load in made if (load.side, load.repetition) != ("replay", 2)]
    (primary,) = compare(made)
    assert primary.bias.n == 6
    assert {side: summary.loads for side, summary in primary.sides.items()} == {
        "live": 7,
        "replay": 7,
    }


@pytest.mark.parametrize(("share", "low", "high"), [(0.44, 0.65, 0.9), (0.2, 0.1, 0.4)])
def test_what_bias_a_study_finds_is_as_its_default_says(
    share: float, low: float, high: float
) -> None:
    random_ = random.Random(SEED)
    found = [
        hodges_lehmann([random_.gauss(share, 1) for _ in range(BLOCKS)], [0.0] * BLOCKS)
        for _ in range(STUDIES)
    ]
    assert low < mean(estimate.excludes_zero for estimate in found) < high


def test_few_blocks_have_no_interval_and_say_so() -> None:
    (primary,) = compare(loads(20.0, 3))
    assert verdict(primary).endswith("3 blocks are too few for a 95% interval")
    assert compare([]) == []


def test_a_host_shows_where_time_went() -> None:
    def item(host: str, connect_ms: float | None, wait_ms: float) -> dict[str, object]:
        return {
            "url": f"https://{host}/x",
            "from": "network",
            "protocol": "h2",
            "lookup_ms": None if connect_ms is None else [0.0, 1.0],
            "connect_ms": None if connect_ms is None else [1.0, 1.0 + connect_ms],
            "sent_ms": 100.0,
            "response_ms": 100.0 + wait_ms,
        }

    cached = {**item("a.example", 0.0, 0.0), "from": "cache"}
    made = [
        Load("live", 1, "ok", "", {}, [item("a.example", 60, 40), item("a.example", None, 42)]),
        Load("replay", 1, "ok", "", {}, [item("a.example", 40, 20), cached]),
        Load("replay", 2, "timeout", "", {}, [item("b.example", 1, 1)]),
    ]
    assert by_origin(made) == [
        {
            "host": "a.example",
            "live": {"lookup_ms": 1.0, "connect_ms": 60.0, "wait_ms": 41.0},
            "replay": {"lookup_ms": 1.0, "connect_ms": 40.0, "wait_ms": 20.0},
        }
    ]
    assert protocols(made) == {"live": {"h2": 2}, "replay": {"h2": 1}}

import pytest

from eyelevel.base.errors import NetworkError
from eyelevel.plan.networks.from_csv import networks_from_csv

PERCENTILES = "percentile,rtt_ms,down_mbit_s\np25,30,40\n50,60,20\n95,400,1.2\n"


def test_percentiles_share_the_users_at_their_midpoints():
    made = networks_from_csv(PERCENTILES, "f")
    assert [each.network.name for each in made] == ["p25", "p50", "p95"]
    assert [each.share for each in made] == pytest.approx([0.375, 0.35, 0.275])
    assert made[2].network.rate_down_bit_s == 1_200_000
    assert made[2].network.rate_up_bit_s == 240_000


def test_classes_share_the_users_by_weight_and_units_are_read():
    text = (
        "# export\nnetwork;users;rtt_s;down_kbit_s;loss_two_way\na;30;0.1;5000;0.06\nb;10;1;100;0\n"
    )
    first, second = networks_from_csv(text, "f")
    assert (first.share, second.share) == (0.75, 0.25)
    assert first.network.rtt_ms_min == 100 and first.network.rate_down_bit_s == 5_000_000
    assert first.network.loss_down == pytest.approx(0.030464, rel=1e-4)


def test_a_class_of_a_presets_name_gets_another_one():
    (made,) = networks_from_csv("name,rtt_ms,down_mbit_s\nlte,50,10\n", "f")
    assert made.network.name == "users-lte"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "f: no rows"),
        ("rtt_ms\n5\n", "f:1: no column `down_mbit_s`"),
        ("rtt_ms,speed\n5,5\n", "f:1: unknown column `speed`"),
        ("rtt_ms,rtt,down_mbit_s\n5,5,5\n", "f:1: columns `rtt_ms` and `rtt` for one thing"),
        ("rtt_ms,down_mbit_s\n5,fast\n", "f:2: down_mbit_s is `fast`"),
        ("rtt_ms,down_mbit_s\n5\n", "f:2: down_mbit_s is ``"),
        ("rtt_ms,down_mbit_s\n\n0.02,5\n", "f:3: rtt_ms is 0.02"),
        ("name,rtt_ms,down_mbit_s\na,5,5\na,6,6\n", "f:3: the name `a` is used twice"),
        ("name,rtt_ms,down_mbit_s\na/b,5,5\n", "f:2: the name `a/b`"),
        ("weight,rtt_ms,down_mbit_s\n0,5,5\n", "f: all weights are 0"),
        ("p,rtt_ms,down_mbit_s\n50,5,5\n25,6,4\n", "f:3: percentiles must ascend"),
        ("p,rtt_ms,down_mbit_s\n25,9,5\n50,6,4\n", "f:3: the round trip falls"),
        ("p,rtt_ms,down_mbit_s\n25,5,5\n50,6,9\n", "f:3: the rate grows"),
    ],
)
def test_a_mistake_is_named_with_file_and_line(text, expected):
    with pytest.raises(NetworkError) as caught:
        networks_from_csv(text, "f")
    assert str(caught.value).startswith(expected) and "\n" not in str(caught.value)

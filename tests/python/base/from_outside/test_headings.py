"""One reader of headings: a name and a unit, and no unit that is guessed."""

import random
from itertools import product

import pytest

from eyelevel.base.errors import OutsideError
from eyelevel.base.from_outside.headings import (
    DELAY,
    RATE,
    TIME,
    Quantity,
    rate_words,
    read_heading,
)
from eyelevel.base.from_outside.limits import TABLE
from eyelevel.base.from_outside.source import Source

SOURCE = Source("f", TABLE)
QUANTITIES = (
    Quantity("time", TIME, frozenset(("time", "t", "timestamp")), {"time": 1000.0}),
    Quantity("rtt", DELAY, frozenset(("rtt",)), {"rtt": 1.0}),
    Quantity("down", RATE, rate_words("down", alone=True)),
    Quantity("up", RATE, rate_words("up")),
)


def scales(*cells: str) -> dict[str, float]:
    columns = read_heading(cells, QUANTITIES, "1", SOURCE)
    return {name: column.scale for name, column in columns.items()}


@pytest.mark.parametrize(
    ("cell", "found"),
    [
        ("time", {"time": 1000}),
        ("Time (s)", {"time": 1000}),
        ("\ufefftimestamp_ms", {"time": 1}),
        ("t [µs]", {"time": 1e-3}),
        ("RTT", {"rtt": 1}),
        ("RTT_MS", {"rtt": 1}),
        ("rtt in ms", {"rtt": 1}),
        ("mbps", {"down": 1}),
        ("Mbps", {"down": 1}),
        ("mBit_s", {"down": 1}),
        ("MBIT/S", {"down": 1}),
        ("Kbps", {"down": 1e-3}),
        ("bps", {"down": 1e-6}),
        ("throughput_Mbps", {"down": 1}),
        ("Mbit per s", {"down": 1}),
        ("rate (Mb/s)", {"down": 1}),
        ("up_Gb/s", {"up": 1e3}),
        ("Downlink (Gbit/s)", {"down": 1e3}),
        ("up-kbit-s", {"up": 1e-3}),
        ("rtt_min", {}),
        ("down_bytes", {}),
        ("bytes", {}),
        ("ms", {}),
        ("satellite", {}),
        ("", {}),
    ],
)
def test_a_heading_is_a_name_and_a_unit(cell, found):
    assert scales(cell) == found


BYTES_A_SECOND = [
    f"{prefix}{unit}"
    for prefix, unit in product(
        ("", "k", "K", "M", "G", "Mi", "Ki"), ("Bps", "B/s", "B_s", "bytes/s", "Bytes_per_s")
    )
]


@pytest.mark.parametrize("unit", [*BYTES_A_SECOND, "MBPS", "KBPS", "mb/s", "mb_s", "pps"])
@pytest.mark.parametrize("form", ["{}", "down_{}", "throughput ({})", "Uplink [{}]"])
def test_a_rate_of_bytes_is_never_one_of_bits(form, unit):
    if form == "{}" and unit == "bytes/s":
        form = "rate_{}"
    with pytest.raises(OutsideError) as error:
        scales("rtt_ms", form.format(unit))
    said = str(error.value)
    assert said.startswith("f:1: column `") and "is not known; convert its values" in said


@pytest.mark.parametrize("cell", ["time (UTC)", "time_min", "rtt (min)", "rate (furlongs)", "t_h"])
def test_another_unit_is_refused_as_well(cell):
    with pytest.raises(OutsideError, match=r"the unit `.*` is not known"):
        scales(cell)


def test_two_columns_of_one_thing_are_refused():
    with pytest.raises(OutsideError, match="columns `mbps` and `down_kbps` for one thing; keep"):
        scales("mbps", "down_kbps")


RATES = {"bit/s": 1e-6, "kbit/s": 1e-3, "Mbit/s": 1.0, "Gbit/s": 1e3}
WORDS = ["down", "downlink", "down_rate", "Throughput", "bandwidth", "rate"]


@pytest.mark.parametrize("seed", range(150))
def test_any_form_of_a_known_unit_has_its_factor(seed):
    rng = random.Random(seed)
    word = rng.choice(WORDS)
    unit, factor = rng.choice(list(RATES.items()))
    spelled = rng.choice(
        [unit, unit.replace("/", "_"), unit.replace("bit/s", "bps"), unit.replace("/", " per ")]
    )
    if "bit" in spelled:
        spelled = rng.choice([spelled, spelled.lower(), spelled.upper()])
    elif rng.random() < 0.5:
        spelled = spelled[:1].lower() + spelled[1:]
    form = rng.choice(["{}_{}", "{} {}", "{} ({})", "{}-{}", "{}[{}]", " {} in {} "])
    cell = form.format(rng.choice([word, word.upper()]), spelled)
    assert scales(cell) == {"down": factor}, cell

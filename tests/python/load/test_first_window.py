from dataclasses import replace

import pytest

from eyelevel.load.wrong_stack import offers_large_windows, wrong_first_window
from eyelevel.plan.stack_presets import STACKS_BY_NAME

TUNED = STACKS_BY_NAME["tcp+"]
OFFERED = {"receive_window_bytes": 15_728_128}
SMALL = {"receive_window_bytes": 64_256}


def test_the_window_that_was_asked_for_is_right_and_another_is_not() -> None:
    assert wrong_first_window(TUNED, OFFERED, "6.18.0") == ""
    found = wrong_first_window(TUNED, SMALL, "6.18.0")
    assert "64256 bytes" in found and "15728640" in found
    assert wrong_first_window(TUNED, {"receive_window_bytes": None}, "6.18.0") == "", (
        "nobody saw it"
    )


def test_a_kernel_that_cannot_is_excused_for_what_it_cannot_alone() -> None:
    assert wrong_first_window(TUNED, SMALL, "6.8.0-45-generic") == ""
    assert wrong_first_window(TUNED, {"receive_window_bytes": 200_000}, "6.8.0-45-generic")


@pytest.mark.parametrize(
    ("kernel", "large"), [("6.11.0", True), ("6.8.0-45-generic", False), ("7.0", True), ("", True)]
)
def test_the_release_says_what_a_kernel_offers(kernel: str, large: bool) -> None:
    assert offers_large_windows(kernel) == large


@pytest.mark.parametrize(
    ("wanted", "seen", "right"),
    [
        (65_536, 64_256, True),  # 44 segments of 1460 bytes, rounded to 128
        (65_536, 62_000, False),
        (65_536, 15_728_128, False),
        (15 * 2**20, 30 * 2**20, False),
        (4096, 2920, True),
    ],
)
def test_more_is_wrong_as_less_is_beyond_a_segment(wanted: int, seen: int, right: bool) -> None:
    found = wrong_first_window(
        replace(TUNED, receive_window_bytes=wanted), {"receive_window_bytes": seen}, "6.18.0"
    )
    assert (found == "") == right, found


def test_stock_stacks_and_quic_have_what_they_have() -> None:
    assert wrong_first_window(replace(TUNED, receive_window_bytes=None), SMALL, "6.18.0") == ""
    assert wrong_first_window(replace(TUNED, http_version="h3"), SMALL, "6.18.0") == ""

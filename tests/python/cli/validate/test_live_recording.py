"""A study's recording is of the study's page."""

import shutil
from pathlib import Path

import pytest
from labs import CORPUS
from recordings import pack_answers
from small_site import PAGE_URL, QUERIES, pack_small_site

from eyelevel.base.errors import PlanError
from eyelevel.cli.validate.live import RECORDING, check_recorded_rtts, is_same_page, recording_of
from eyelevel.sites.recorded import open_site


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("https://a.example", "https://A.example:443/#top"),
        ("https://a.example?q=1", "https://a.example/?q=1"),
        ("https://a.example/\u00fc b|'?d='e'", "https://a.example/%C3%BC%20b|%27?d=%27e%27"),
        ("https://m\u00fcnchen.example/", "https://xn--mnchen-3ya.example/"),
        ("http://[2001:db8::1]:80/", "http://[2001:db8::1]/"),
    ],
)
def test_one_page_has_many_spellings(one: str, other: str) -> None:
    assert is_same_page(one, other)


@pytest.mark.parametrize(
    "other",
    [
        "http://a.example/b?c",
        "https://b.example/b?c",
        "https://a.example:444/b?c",
        "https://a.example/B?c",
        "https://a.example/b",
        "https://a.example:70000/b?c",
    ],
)
def test_another_page_is_another(other: str) -> None:
    assert not is_same_page("https://a.example/b?c", other)


def test_a_second_page_is_not_told_by_the_first_ones_recording(tmp_path: Path) -> None:
    shutil.copy(pack_small_site(tmp_path), tmp_path / RECORDING)
    assert recording_of(PAGE_URL, None, tmp_path).path == tmp_path / RECORDING
    with pytest.raises(PlanError, match=r"is of https://small.example/, not of .*another --out"):
        recording_of("https://b.example/other", None, tmp_path)


@pytest.mark.parametrize("status", [403, 429, 503])
def test_an_error_page_is_no_recording_of_the_page(tmp_path: Path, status: int) -> None:
    made = pack_answers(tmp_path, [(PAGE_URL, 302, "/limit"), (f"{PAGE_URL}limit", status, "")])
    with pytest.raises(PlanError, match=f"the page answered {status} when it was recorded"):
        recording_of(PAGE_URL, str(made))


def test_a_given_recording_is_of_the_page(tmp_path: Path) -> None:
    made = str(pack_small_site(tmp_path, QUERIES, "?view=all"))
    assert recording_of(f"{PAGE_URL}?view=all", made).path == Path(made)
    with pytest.raises(PlanError, match=r"\?view=all, not of https://small.example/; validate"):
        recording_of(PAGE_URL, made)
    with pytest.raises(PlanError, match=r"plain.* is of "):
        recording_of("https://a.example/", str(CORPUS / "plain.wacz"))


def test_a_replay_has_the_recorded_round_trips_or_is_refused() -> None:
    plain = open_site(str(CORPUS / "plain.wacz"))
    with pytest.raises(
        PlanError, match=r"no recorded round trip for plain.example: give --no-recorded-rtt"
    ):
        check_recorded_rtts(plain)

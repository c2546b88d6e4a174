"""An error page is told from the page, after its redirects."""

import pytest
from recordings import har_of, pack_answers

from eyelevel.lab.binary import run_tool
from eyelevel.sites.corpora.recorded_page import REDIRECTS_MAX, page_status

URL = "https://a.example/"


def packed(folder, *answers):
    """A recording of answers by path: a status, and where it sends to."""
    return pack_answers(folder, [(f"{URL}{path}", *answer) for path, *answer in answers])


@pytest.mark.parametrize("status", [200, 403, 404, 503])
def test_a_page_has_its_status(tmp_path, status):
    assert page_status(packed(tmp_path, ("", status, ""))) == status


def test_redirects_are_followed(tmp_path):
    answers = [("", 301, "/b"), ("b", 302, "https://a.example/c"), ("c", 404, "")]
    assert page_status(packed(tmp_path, *answers)) == 404


def test_a_circle_of_redirects_ends(tmp_path):
    assert page_status(packed(tmp_path, ("", 302, "/b"), ("b", 302, "/"))) == 302
    assert REDIRECTS_MAX > 2


def test_a_recording_of_another_tool(tmp_path):
    har = har_of(tmp_path / "page.har", URL)
    run_tool(["archive", "import", str(har), "--out", str(tmp_path / "page.wacz")])
    assert page_status(tmp_path / "page.wacz") == 200

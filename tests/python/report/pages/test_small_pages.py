"""The pages of two runs and of a level: what the terminal says, for a browser."""

from pathlib import Path

from written_pages import comparison, level


def test_two_runs_are_told_verdict_by_verdict_with_what_they_rest_on(tmp_path: Path):
    page = comparison(tmp_path).read_text("utf-8")
    assert "<h1>What changed from before to now?</h1>" in page
    assert page.count("quic.speed_index_ms on lte changed by 0.0") == 1
    assert "which assumes that both change alike from run to run" in page
    assert "The records name nothing else that differs between the two runs." in page


def test_a_level_is_told_aspect_by_aspect(tmp_path: Path):
    page = level(tmp_path).read_text("utf-8")
    assert "<h1>Are tcp+ and quic level?</h1>" in page
    assert "tcp+ and quic are not level: " in page
    assert "page on far, quic: no lab" in page
    assert "ECN" in page and page.index("<h2") < page.index("ECN")

"""What a reader sees before anything is opened: the answer, and little else."""

from dataclasses import replace
from html.parser import HTMLParser

import polars as pl
import pytest
from made_up_run import SITES, read_run

from eyelevel.plan.presets import preset_text
from eyelevel.report.first_screen.marks import marks
from eyelevel.report.page import SECTIONS, page, summary_of

WORDS_MAX = 500
P_VALUES_MAX = 12
UNSEEN = ("script", "style", "noscript", "title", "option")
VOID = ("meta", "link", "input", "br", "img")


class Seen(HTMLParser):
    """The words outside of closed details, but for their summaries."""

    def __init__(self):
        super().__init__()
        self.open = []
        self.words = []

    def handle_starttag(self, tag, attributes):
        if tag not in VOID:
            self.open.append((tag, tag == "details" and "open" not in dict(attributes)))

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self.open.pop()[0] == tag

    def handle_data(self, data):
        tags = [tag for tag, _ in self.open]
        closed = [place for place, (_, is_closed) in enumerate(self.open) if is_closed]
        in_summary = len(closed) == 1 and tags[closed[0] + 1 : closed[0] + 2] == ["summary"]
        if (not closed or in_summary) and not set(tags) & set(UNSEEN):
            self.words += data.split()


def seen(contents):
    parser = Seen()
    parser.feed(page(contents))
    return parser.words


@pytest.fixture(scope="module")
def contents(tmp_path_factory):
    late = {("dashboard/lte/1", "tcp"): "timeout", ("startup/dsl/2", "quic"): "starved"}
    directory = tmp_path_factory.mktemp("run")
    return read_run(directory, late, text=preset_text("quickstart", SITES))


def test_the_names_of_stacks_are_explained(contents):
    text = " ".join(seen(contents))
    assert "quic is HTTP/3 over QUIC, initial window 32, paced" in text
    assert "tcp is HTTP/2 over TCP, initial window 10, not paced" in text


def test_few_words_and_few_p_values(contents):
    words = seen(contents)
    assert 150 < len(words) <= WORDS_MAX
    assert " ".join(words).count("p = ") <= P_VALUES_MAX


def test_the_answer_comes_before_all_else_and_reviewers_last(contents):
    text = " ".join(seen(contents))
    places = [
        text.index(words)
        for words in (
            "On dsl",
            "Level",
            "Loads",
            "Machine",
            "Gains",
            "Site by site",
            "For reviewers",
        )
    ]
    assert places == sorted(places)


def test_what_it_rests_on_stands_in_three_marks(contents):
    text = page(contents)
    marks = text[text.index('class="rests-on"') : text.index("side by side")]
    assert marks.count("<details>") == 3
    assert "2 of 2 pairs not measured here" in marks and "1 with loads left out" in marks


def test_nothing_is_lost_that_was_there(contents):
    """Every section is on the page or in the summary."""
    text, summary = page(contents), summary_of(contents)
    for identity in ("gain", "charts", "sites", "figures", "outcomes", "setup", "level", "cite"):
        assert f'id="{identity}"' in text[text.index('class="reviewers"') :]
    assert {"gains", "site_tests", "levels", "outcomes", "largest_contentful_paint"} <= set(summary)
    assert len({section.name for section in SECTIONS}) == len(SECTIONS)


def test_many_comparisons_keep_it_short(tmp_path):
    networks = ", ".join(f'{{ name = "n{n}", base = "dsl" }}' for n in range(8))
    text = preset_text("quickstart", SITES).replace('"dsl", "lte"', networks)
    assert len(seen(read_run(tmp_path, text=text))) <= WORDS_MAX


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        (0, "1 with loads left out</"),
        (1, "1 with loads left out; including them would change 1 finding</"),
    ],
)
def test_exclusions_that_change_a_finding_are_told_in_their_mark(
    contents, monkeypatch, changed, said
):
    monkeypatch.setattr("eyelevel.report.first_screen.marks.findings_changed", lambda _: changed)
    text = marks(contents)
    assert said in text and ("does not hold" in text) == bool(changed)


def test_the_machine_s_mark_counts_what_it_spoilt(contents, tmp_path):
    """One load starved: that nothing was disturbed would be no measurement's word."""
    spoilt = marks(contents)
    assert "1 of 36 loads failed because of it" in spoilt
    assert "none of 36 loads failed because of it" not in spoilt
    assert "none of 36 loads failed because of it" in marks(read_run(tmp_path))


def test_loads_that_were_made_again_are_in_the_machine_s_mark(contents):
    again = contents.table.with_columns(retried=pl.lit(1))
    assert "36 attempts repeated" in marks(replace(contents, table=again))

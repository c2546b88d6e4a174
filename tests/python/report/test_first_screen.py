"""What a reader sees before anything is opened: the answer, and little else."""

import html
import re
from collections import Counter
from dataclasses import replace
from html.parser import HTMLParser

import polars as pl
import pytest
from synthetic_run import SITES, TWO_STACKS, read_run

from eyelevel.analysis.stats.estimate import Estimate
from eyelevel.plan.presets import preset_text
from eyelevel.report.first_screen.marks import marks
from eyelevel.report.first_screen.opening import opening
from eyelevel.report.first_screen.warnings import machine_warnings
from eyelevel.report.page import SECTIONS, page, summary_of
from eyelevel.report.page_data import PageData

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


class Sentences(HTMLParser):
    """Every sentence of a page, opened or not, and the words of what is for reviewers."""

    BLOCKS = ("p", "li", "dd", "summary", "caption", "figcaption", "td", "th", "h1", "h2", "h3")
    WORDS_MIN = 5  # fewer are a heading

    def __init__(self):
        super().__init__()
        self.open, self.text, self.all, self.sentences, self.reviewers = [], "", "", [], 0

    def handle_starttag(self, tag, attributes):
        if tag in self.BLOCKS:
            self._end()
        if tag not in VOID:
            self.open.append((tag, dict(attributes).get("class")))

    def handle_endtag(self, tag):
        if tag in self.BLOCKS:
            self._end()
        if tag not in VOID:
            self.open.pop()

    def handle_data(self, data):
        if not {tag for tag, _ in self.open} & {"script", "style", "title", "option"}:
            self.text += data
            self.all += data
            if ("details", "reviewers") in self.open:
                self.reviewers += len(data.split())

    def _end(self):
        if {"td", "th", "dd"} & {tag for tag, _ in self.open}:  # a value is no sentence
            self.text = ""
        found = re.split(r"(?<=[.!?])\s+", " ".join(self.text.split()))
        self.sentences += [each for each in found if len(each.split()) >= self.WORDS_MIN]
        self.text = ""


def sentences(results):
    parser = Sentences()
    parser.feed(page(results))
    return parser


def seen(results):
    parser = Seen()
    parser.feed(page(results))
    return parser.words


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    late = {("dashboard/lte/1", "tcp"): "timeout", ("startup/dsl/2", "quic"): "starved"}
    directory = tmp_path_factory.mktemp("run")
    return read_run(directory, late, text=preset_text("quickstart", SITES))


def test_the_names_of_stacks_are_explained(results):
    text = " ".join(seen(results))
    assert "quic is HTTP/3 over QUIC, initial window 32, paced" in text
    assert "tcp is HTTP/2 over TCP, initial window 10, not paced" in text


def test_few_words_and_few_p_values(results):
    words = seen(results)
    assert 150 < len(words) <= WORDS_MAX
    assert " ".join(words).count("p = ") <= P_VALUES_MAX


def test_the_answer_comes_before_all_else_and_reviewers_last(results):
    text = " ".join(seen(results))
    places = [
        text.index(words)
        for words in (
            "comparison dsl lte",
            "Level",
            "Loads",
            "Machine",
            "Gains",
            "Site by site",
            "For reviewers",
        )
    ]
    assert places == sorted(places)


def test_what_it_rests_on_stands_in_three_marks(results):
    text = page(results)
    marks = text[text.index('class="rests-on"') : text.index("side by side")]
    assert marks.count("<details>") == 3
    assert "2 of 2 pairs not measured here" in marks and "1 with loads left out" in marks


def test_the_marks_are_the_same_for_programs(results):
    found = summary_of(results)["rests_on"]
    assert [each["name"] for each in found] == ["level", "loads", "machine"]
    text = html.unescape(re.sub("</?(strong|code)>", "", marks(results)))
    for each in found:
        assert each["status"] in ("holds", "open", "does not hold")
        assert f'aria-label="{each["status"]}"' in text
        assert f" {each['finding']}</summary>" in text
        for warning in each["warnings"]:
            assert warning.replace("`", "") in text
    assert any(each["warnings"] for each in found)


def test_nothing_is_lost_that_was_there(results):
    """Every section is on the page or in the summary."""
    text, summary = page(results), summary_of(results)
    for identity in ("gain", "charts", "sites", "figures", "outcomes", "setup", "level", "cite"):
        assert f'id="{identity}"' in text[text.index('class="reviewers"') :]
    assert {"gains", "site_tests", "levels", "outcomes", "largest_contentful_paint"} <= set(summary)
    assert len({section.name for section in SECTIONS}) == len(SECTIONS)


REVIEWERS_WORDS_MAX = 4000


def test_what_is_for_reviewers_is_short_and_no_sentence_stands_twice(results):
    parsed = sentences(results)
    assert 1000 < parsed.reviewers <= REVIEWERS_WORDS_MAX
    found = Counter(parsed.sentences)
    assert len(found) > 100
    assert [sentence for sentence, times in found.items() if times > 1] == []
    assert "too few" not in parsed.all


def of_many_networks(directory, count):
    networks = ", ".join(f'{{ name = "n{n}", base = "dsl" }}' for n in range(count))
    text = preset_text("quickstart", SITES).replace('"dsl", "lte"', networks)
    return read_run(directory, text=text)


def test_many_networks_keep_it_short(tmp_path):
    assert len(seen(of_many_networks(tmp_path, 8))) <= WORDS_MAX


def test_from_nine_networks_on_a_column_is_a_finding(tmp_path):
    """A cell has the networks with it by name, or how many they are."""
    results = of_many_networks(tmp_path, 9)
    faster, unclear = Estimate(-0.1, -0.12, -0.08, p=1e-6), Estimate(-0.1, -0.3, 0.1, p=0.2)
    first = results.comparisons[0]
    gains = [
        replace(gain, gain=faster, median=faster, p_holm=0.0)
        if gain.comparison == first and gain.network in ("n0", "n4")
        else replace(gain, gain=unclear, median=unclear, p_holm=1.0)
        for gain in results.gains
    ]
    results = replace(results, gains=tuple(gains))
    text = opening(results, PageData(results))
    table = text[text.index('<table class="verdicts') : text.index("</table>")]
    assert re.findall(r'<th scope="col">([^<]+)', table) == ["comparison", "faster", "unclear"]
    assert re.findall(r"<strong[^>]*>([^<]+)", table)[:2] == ["n0, n4", "7 networks"]


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        (0, "1 with loads left out</"),
        (1, "1 with loads left out; including them would change 1 finding</"),
    ],
)
def test_exclusions_that_change_a_finding_are_told_in_their_mark(
    results, monkeypatch, changed, said
):
    name = "eyelevel.report.first_screen.marks.count_changed_findings"
    monkeypatch.setattr(name, lambda _: changed)
    text = marks(results)
    assert said in text and ("does not hold" in text) == bool(changed)


def test_blocks_that_are_not_loaded_yet_have_no_loads_left_out(results):
    text = marks(replace(results, unfinished="30 of 36 loads are there"))
    assert "1 not complete" in text and "with loads left out" not in text
    assert "1 with loads left out" in marks(results)


@pytest.mark.parametrize(("lost", "said"), [((2,), "7 to 8 loads"), ((1, *range(3, 9)), "1 to 8")])
def test_the_loads_of_each_site_are_counted_and_not_repetitions(tmp_path, lost, said):
    """A repetition that one site lost counts for the others; a site of one block has no interval,
    so that its network has no sensitivity either."""
    outcomes = {(f"dashboard/lte/{n}", "quic"): "starved" for n in lost}
    found = read_run(tmp_path, outcomes, text=TWO_STACKS.replace("blocks = 6", "blocks = 8"))
    told = summary_of(found)
    assert f"2 sites, {said}" in " ".join(seen(found))
    heads = [each for each in told["warnings"] if each.startswith("Only ")]
    assert heads[0].startswith(f"Only {said.split(' loads')[0]} blocks per site and network.")
    effects = [each["network"] for each in told["sensitivity"]]
    assert effects == (["dsl", "lte"] if len(lost) == 1 else ["dsl"])
    assert (" (dsl) would often" in heads[0]) == (len(lost) > 1)
    reason = next(
        gain["gain"]["undetermined_because"] for gain in told["gains"] if gain["network"] == "lte"
    )
    assert reason == (None if len(lost) == 1 else "one block of dashboard shows no spread")


def test_one_load_and_one_finding_are_no_plural(tmp_path):
    one = {("startup/dsl/1", "quic"): "starved", ("dashboard/dsl/1", "quic"): "starved"}
    found = read_run(tmp_path, one, text=TWO_STACKS.replace("blocks = 6", "blocks = 2"), noise=0.01)
    assert "; 1 finding would change." in marks(found)
    single = read_run(tmp_path / "one", text=TWO_STACKS.replace("blocks = 6", "blocks = 1"))
    assert "2 sites, 1 load of each per stack" in " ".join(seen(single))


def test_the_machine_s_mark_counts_what_it_spoilt(results, tmp_path):
    """One load starved: that nothing was disturbed would be no measurement's word."""
    spoilt = marks(results)
    assert "1 of 36 loads failed because of the instrument" in spoilt
    assert "none of 36 loads failed because of the instrument" not in spoilt
    assert "none of 36 loads failed because of the instrument" in marks(read_run(tmp_path))


def test_loads_that_were_made_again_are_in_the_machine_s_mark(results):
    again = results.table.with_columns(retried=pl.lit(1))
    assert "36 attempts repeated" in marks(replace(results, table=again))


def test_a_network_that_was_disturbed_too_much_says_so_and_has_no_interval(tmp_path):
    """From the first block on, in the page, for machines and in the words of the terminal."""

    def placed(trial):
        busy = trial.network == "lte" and trial.repetition > 1 and trial.stack == "tcp"
        return {"cpu_foreign_share": 0.6 if busy else 0.02}, 1.0

    results = read_run(tmp_path, placed=placed)
    summary = summary_of(results)
    said = "the machine was too busy to answer: 4 of 6 blocks were disturbed"
    of_lte = [each for each in summary["gains"] if each["network"] == "lte"]
    assert of_lte and all(said in each["gain"]["undetermined_because"] for each in of_lte)
    assert all(each["gain"]["low"] is None for each in of_lte)
    assert all(each["gain"]["low"] for each in summary["gains"] if each["network"] == "dsl")
    answers = [each for each in summary["answer"] if each.startswith("On lte")]
    assert answers and all("undetermined" in each and said in each for each in answers)
    text = page(results)
    assert text.count("run it again on a quieter machine") == 1, "and not in every cell"
    assert ">undetermined</strong><span>the machine was too busy to answer</span>" in text
    assert "has no gains: the machine was too busy to answer." in text
    assert summary["rests_on"][1]["finding"].endswith("; no answer on lte")
    machine = marks(results)[marks(results).index("Machine") - 200 :]
    assert "does not hold" in machine and "The machine was busy" not in machine.split("<p>")[0]


def test_a_run_that_was_disturbed_throughout_says_only_that(tmp_path):
    results = read_run(tmp_path, placed=lambda trial: ({"cpu_foreign_share": 0.6}, 1.0))
    (answer,) = summary_of(results)["answer"]
    assert answer.startswith("There is no answer. On dsl, the machine was too busy to answer: 6 of")
    assert "does not hold" in marks(results)


def test_the_machine_s_mark_has_the_share_of_others_where_it_is_worth_a_word(results):
    tables = [
        results.table.with_columns(cpu_foreign_share=pl.lit(share)) for share in (0.004, 0.02)
    ]
    little, much = (marks(replace(results, table=table)) for table in tables)
    assert "other programs took" not in little
    assert "other programs took 2.0\N{NO-BREAK SPACE}% in the median load" in much


def test_commands_are_code_and_no_backtick_is_left(results):
    shown = re.sub(r"<script.*?</script>", "", page(results), flags=re.DOTALL)
    assert "`" not in shown and "<code>eyelevel " in shown


def test_versions_that_changed_are_told_of_unless_each_variant_has_one(tmp_path):
    text = TWO_STACKS.replace('"tcp", "quic"', '"quic"').replace('"tcp"', '"old"')
    own = 'variants = [{ name = "old" }, { name = "new", browser = { chromium = "/opt/c" } }]\n'
    results = read_run(tmp_path, text=text + own)

    def heads(is_new):
        versions = pl.when(is_new).then(pl.lit("2")).otherwise(pl.lit("1")).alias("versions")
        found = replace(results, table=results.table.with_columns(versions))
        return [head for head, _ in machine_warnings(found)]

    changed = "Versions changed during the run."
    assert changed not in heads(pl.col("stack") == "new/quic")
    assert changed in heads(pl.col("repetition") > 3)

import json
import re
from dataclasses import replace

import polars as pl
import pytest
from repository import ROOT
from synthetic_run import PROGRESS, SITES, metrics_of, read_run, write_run

from eyelevel.analysis.formats import NO_BREAK
from eyelevel.analysis.stats.estimate import Estimate
from eyelevel.analysis.study import read_results
from eyelevel.base.errors import StoreError
from eyelevel.plan.presets import preset_text
from eyelevel.plan.variants import Variant
from eyelevel.report.figures.filmstrips import _times, filmstrips
from eyelevel.report.first_screen.opening import opening, opening_json, overview_section
from eyelevel.report.first_screen.warnings import warnings
from eyelevel.report.html import data_block, element, table, with_code
from eyelevel.report.page import build_report, summary_of
from eyelevel.report.page_data import PageData
from eyelevel.report.sections.details import setup_section
from eyelevel.report.sections.gains import gains_section
from eyelevel.report.sections.methods import appendix_section, paragraph
from eyelevel.store.directory import list_committed

PAGE_BYTES_MAX = 5_000_000


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    directory = tmp_path_factory.mktemp("run")
    write_run(
        directory, {("startup/lte/2", "quic"): "starved", ("dashboard/lte/1", "tcp"): "timeout"}
    )
    return directory


@pytest.fixture(scope="module")
def results(run):
    return read_results(run, metrics_of)


@pytest.fixture(scope="module")
def text(run):
    return build_report(run, metrics_of).read_text(encoding="utf-8").replace(NO_BREAK, " ")


def outside_scripts(text):
    return re.sub(r"<script.*?</script>", "", text, flags=re.DOTALL)


def test_the_made_up_gain_is_found(results):
    gains = {(g.network, g.stack): g.gain for g in results.gains if g.metric == "speed_index_ms"}
    assert gains["dsl", "quic"].low < -0.14 < gains["dsl", "quic"].high


def test_the_question_and_its_answer_come_first(text):
    body = outside_scripts(text)
    places = [
        body.index(words)
        for words in (
            "<h1>Is QUIC faster than TCP",
            '<p class="headline">',
            '<table class="verdicts',
            'class="rests-on"',
            'id="strip-stage"',
        )
    ]
    assert places == sorted(places)


def test_every_load_that_was_not_ok_is_listed_with_its_reason(text):
    body = outside_scripts(text)
    for block, outcome in (("startup/lte/2", "starved"), ("dashboard/lte/1", "timeout")):
        assert re.search(rf"{block}</th><td>\w+</td><td>{outcome}</td><td>made up for a test", body)


def test_a_starved_load_is_left_out_and_a_timeout_is_not(results):
    assert [each.block for each in results.blocks.excluded] == ["startup/lte/2"]
    assert results.blocks.kept.height == 35 and results.blocks.whole == 11


def test_nothing_is_fetched(text):
    body = outside_scripts(text)
    assert not re.findall(r"""(?:src|href)\s*=\s*["']?(?!data:)[^"'> ]+""", body)
    assert "default-src 'none'" in body and len(text.encode()) < PAGE_BYTES_MAX


def test_tables_have_captions_and_scopes(text):
    body = outside_scripts(text)
    assert body.count("<table") == body.count("<caption") == body.count("</caption>")
    assert not re.search(r"<th(?! scope)[ >]", body)


def test_hashes_seed_and_versions_are_there(text, results):
    body = outside_scripts(text)
    for fact in (results.plan_hash, "sha256:startup", "Chromium 156.0", "6.1.0", "cubic, bbr"):
        assert fact in body


def test_the_same_directory_gives_the_same_page(run, text):
    again = build_report(run, metrics_of).read_text(encoding="utf-8").replace(NO_BREAK, " ")
    assert again == text


def test_few_blocks_are_warned_of(results):
    heads = [head for head, _ in warnings(results)]
    assert heads == [
        "Only 2 to 3 blocks per site and network.",
        "Level: not measured on this machine.",
    ]


@pytest.mark.parametrize("blocks", [5, 6])
def test_a_first_look_says_that_what_it_finds_is_overstated_and_has_faint_colours(results, blocks):
    """What counts is how many blocks were left, not how many were planned."""
    gains = tuple(replace(gain, gain=replace(gain.gain, n=blocks)) for gain in results.gains)
    cells = tuple(replace(cell, pairs=blocks) for cell in results.cells)
    few = replace(results, plan=replace(results.plan, blocks=12), gains=gains, cells=cells)
    texts = [text for _, text in warnings(few) if "overstates" in text]
    page = opening(few, PageData(few)) + overview_section(few, PageData(few))
    assert len(texts) == (blocks == 5)
    assert page.count("first-look") == (2 if blocks == 5 else 0)
    assert opening_json(few)["is_first_look"] == (blocks == 5)
    assert f"2 sites, {blocks} loads of each" in page
    assert f"Only {blocks} blocks of 12 per site and network." in dict(warnings(few))
    said = [each for each in opening_json(few)["answer"] if " was faster than " in each]
    assert said and all(each.endswith("; a first look.") == (blocks == 5) for each in said)
    assert ("first-look" in gains_section(few)) == (blocks == 5)


def test_a_machine_that_becomes_busy_during_the_run_is_warned_of(results):
    """By what each load measured, and not by how busy it was when the run began."""
    (machine,) = results.run_environments
    idle = replace(machine, environment={"load_1min": 0.1, "cores": 2})

    def first_warning(share):
        last = pl.col("repetition") == pl.col("repetition").max()
        foreign = pl.when(last).then(share).otherwise(0.01)
        table = results.table.with_columns(cpu_foreign_share=foreign)
        return warnings(replace(results, run_environments=(idle,), table=table))[0]

    head, text = first_warning(0.63)
    assert head == "The machine was busy."
    assert text.startswith("Other programs or the hypervisor disturbed 4 of 12 blocks, up to 63")
    assert first_warning(0.09)[0] == "Only 2 to 3 blocks per site and network."


def test_late_loads_without_real_time_priority_name_the_remedy(results):
    kept = results.blocks.kept
    one_late = kept.with_columns(late=pl.int_range(pl.len()) == 0)

    def heads(allowed, kept=one_late):
        (machine,) = results.run_environments
        machine = replace(machine, environment={"realtime_allowed": allowed})
        blocks = replace(results.blocks, kept=kept)
        return dict(warnings(replace(results, run_environments=(machine,), blocks=blocks)))

    head = "Labs had no real-time priority."
    assert heads(False)[head].startswith(f"1 of {kept.height} compared loads had late packets")
    assert "`eyelevel doctor`" in heads(False)[head]
    assert head not in heads(True)
    assert "Packets were late." in heads(True)
    assert not {head, "Packets were late."} & set(heads(False, kept))


def test_a_core_that_was_kept_from_the_browser_is_told(results):
    (machine,) = results.run_environments
    machine = replace(machine, environment={"realtime_allowed": False})

    def text_of(cores):
        table = results.table.with_columns(browser_cores=cores)
        said = warnings(replace(results, run_environments=(machine,), table=table))
        return dict(said)["Labs had no real-time priority."]

    assert "left the browser 1: pages" in text_of(pl.lit(1))
    assert "left the browser 1 to 7: pages" in text_of(1 + 6 * (pl.int_range(pl.len()) % 2))


def test_objects_in_cleartext_are_warned_of(results):
    partly = replace(results, environment={"secure_shares": {"startup": 0.75}})
    head, text = warnings(partly)[0]
    assert head == "startup is not entirely https." and text.startswith(
        "25.0\N{NO-BREAK SPACE}% of its objects were"
    )
    half = results.table.with_columns(cleartext_share=pl.lit(0.5))
    _, text = warnings(replace(partly, table=half))[0]
    assert "50.0\N{NO-BREAK SPACE}% of the bytes of its loads" in text


def test_different_failure_rates_are_said_before_the_numbers(tmp_path):
    blocks = [
        f"{site}/{network}/{n}" for site in SITES for network in ("dsl", "lte") for n in (1, 2)
    ]
    found = read_run(tmp_path, {(block, "quic"): "browser-crashed" for block in blocks})
    assert found.failure_rates.p == pytest.approx(3 / 3**8)
    assert warnings(found)[0][0] == "Outcomes differ between stacks."


def test_an_unfinished_run_says_so_and_compares_what_is_there(tmp_path):
    write_run(tmp_path)
    name = sorted(list_committed(tmp_path))[0]
    for file in (tmp_path / "trials" / name).iterdir():
        file.unlink()
    (tmp_path / "trials" / name).rmdir()
    found = read_results(tmp_path, metrics_of)
    head, text = warnings(found)[0]
    assert head == "No verdict: the run is not complete." and text.startswith("35 of 36 loads")
    assert (found.blocks.kept.height, found.blocks.whole) == (35, 11)
    assert "not run" in found.blocks.excluded[0].reason


def test_a_run_without_any_load_still_has_a_page(tmp_path):
    write_run(tmp_path)
    (tmp_path / "trials").rename(tmp_path / "elsewhere")
    page = build_report(tmp_path, metrics_of).read_text(encoding="utf-8")
    assert "No block is complete yet, so there is nothing to compare." in page


def test_without_a_whole_block_the_most_frequent_end_is_counted(tmp_path):
    text = preset_text("quickstart", SITES).replace("blocks = 3", "blocks = 1")
    blocks = [f"{site}/{network}/1" for site in SITES for network in ("dsl", "lte")]
    results = read_run(tmp_path, {(block, "tcp+"): "starved" for block in blocks}, text)
    count, of = len(blocks), results.table.height
    said = f"{count} of {of} loads ended as starved: made up for a test."
    assert summary_of(results)["answer"] == [
        f"No block is complete yet, so there is nothing to compare: {said}"
    ]
    each_its_own = results.table.with_columns(outcome_detail=pl.col("hash"))
    (answer,) = summary_of(replace(results, table=each_its_own))["answer"]
    assert f"{count} of {of} loads ended as starved: one of them: " in answer


def test_a_run_of_one_stack_compares_nothing_and_still_has_a_page(tmp_path):
    stated = preset_text("quickstart", SITES).replace('"tcp", "tcp+", "quic"', '"quic"')
    text = re.sub(r"(?m)^comparisons = .*$", 'reference = "quic"', stated)
    write_run(tmp_path, text=text)
    page = build_report(tmp_path, metrics_of).read_text(encoding="utf-8")
    assert "quic" in page and summary_of(read_results(tmp_path, metrics_of))["gains"] == []


def test_one_block_has_values_without_intervals(tmp_path):
    text = preset_text("quickstart", SITES).replace("blocks = 3", "blocks = 1")
    write_run(tmp_path, text=text)
    page = build_report(tmp_path, metrics_of).read_text(encoding="utf-8")
    assert "one block shows no spread" in page and "Only 1 block per site and network." in page


def test_a_missing_file_is_named_and_the_older_report_stays(tmp_path):
    write_run(tmp_path)
    build_report(tmp_path, metrics_of)
    (tmp_path / "plan.json").unlink()
    with pytest.raises(StoreError, match=r"plan\.json"):
        build_report(tmp_path, metrics_of)
    assert (tmp_path / "report.html").exists()


def test_the_summary_says_what_the_page_says(results, text):
    summary = summary_of(results)
    assert json.loads(json.dumps(summary, allow_nan=False)) == summary
    assert f'<p class="headline">{summary["headline"]}</p>'.replace(NO_BREAK, " ") in text
    assert summary["outcomes"]["quic"] == {"ok": 11, "starved": 1}
    quic = [each for each in summary["gains"] if each["stack"] == "quic" and each["verdict"]]
    assert {each["network"]: each["verdict"] for each in quic} == {
        "dsl": "faster",
        "lte": "no clear difference",
    }


def test_every_key_of_the_summary_is_in_its_reference(results):
    reference = ROOT / "docs/reference/report.md"
    documented = set(re.findall(r"`(\w+)`", reference.read_text(encoding="utf-8")))
    found = summary_of(results)
    lists = [found[key][0] for key in ("gains", "blocks_excluded")]
    assert documented >= {*found, *(key for each in lists for key in each)}


def test_filmstrips_share_one_time_axis(results):
    strips = filmstrips(results)
    assert [(s["site"], s["network"]) for s in strips.strips] == [
        (site, network) for site in results.sites for network in results.networks
    ]
    for strip in strips.strips:
        assert set(strip["stacks"]) == {"tcp", "tcp+", "quic"}
        for stack in strip["stacks"].values():
            assert len(stack["pictures"]) == len(strip["times_ms"]) <= 10


def test_a_strip_has_its_own_load_s_progress(results):
    for strip in filmstrips(results).strips:
        for stack in strip["stacks"].values():
            (load,) = results.table.filter(hash=stack["hash"]).iter_rows(named=True)
            steps = [[at * load["page_load_time_ms"], share] for at, share in PROGRESS]
            assert stack["progress"] == [[pytest.approx(at, abs=0.051), s] for at, s in steps]


def test_the_last_column_shows_the_finished_page(results):
    for strip in filmstrips(results).strips:
        ends = [stack["pictures"][-1] for stack in strip["stacks"].values()]
        assert len(set(ends)) == 1


@pytest.mark.parametrize(
    ("end_ms", "step", "count"),
    [(95, 10, 10), (100, 10, 10), (101, 20, 6), (2400, 250, 10), (1, 10, 1)],
)
def test_the_time_axis_has_round_steps(end_ms, step, count):
    times = _times(end_ms)
    assert times[0] == step and len(times) == count and times[-1] >= end_ms


def test_text_from_records_cannot_become_markup():
    assert "<b>" not in table("c", ["x"], [["<b>"]])
    assert element("p", "a < b", title='"') == '<p title="&quot;">a &lt; b</p>'
    block = data_block("x", {"a": "</script><script>"})
    assert "</script><script>" not in block
    assert json.loads(re.search(r">(.*)</script>", block)[1]) == {"a": "</script><script>"}


def test_no_text_of_a_page_steers_a_terminal_or_the_direction_of_writing():
    said = "a\x1b]0;x\x07b\x9b\u202ec\u2028"
    for part in (
        table("c", ["x"], [[said]]),
        element("p", said, title=said),
    ):
        assert part.replace("\n", "").isprintable()
        assert "a\\x1b]0;x\\x07b\\x9b\\u202ec\\u2028" in part
    block = data_block("x", {"a": said})
    assert block.isprintable()
    assert json.loads(re.search(r">(.*)</script>", block)[1]) == {"a": said}


def test_the_methods_paragraph_has_the_plans_numbers(text, results):
    body = outside_scripts(text)
    for fact in ("2 recorded sites", "11 of 12 blocks", "seed 1", "wolsing2019performance"):
        assert fact in body
    assert f"hash is {results.plan_hash}" in body


def test_one_of_a_kind_is_not_told_as_many(results):
    one_of = {key: getattr(results.plan, key)[:1] for key in ("sites", "networks")}
    alone = replace(results.plan, **one_of)
    said = paragraph(replace(results, plan=alone))
    assert said.startswith("1 recorded site was replayed with eyelevel ")
    assert "over 1 emulated network into" in said


def test_how_long_loads_waited_for_the_machine_is_told(results):
    def said(*waited_ms):
        column = pl.Series("waited_for_host_ms", [*waited_ms] * 4, dtype=pl.Float64)
        table = results.table.head(4 * len(waited_ms)).with_columns(column)
        return setup_section(replace(results, table=table))

    title = "loads that first waited for a quiet machine</dt><dd>"
    assert f"{title}none of 12<" in said(0.0, 0.0, 0.0)
    assert f"{title}8 of 12; median wait 2.0 s, longest 3.0 s<" in said(0, 1000, 3000)
    assert title not in said(None, None, None)


def test_words_between_backticks_are_code_and_still_escaped():
    assert with_code("a `tcp<b>` c") == "a <code>tcp&lt;b&gt;</code> c"


def test_the_appendix_prints_the_yardstick_or_how_to_measure_it(results):
    assert "eyelevel validate stacks" in appendix_section(results)
    side = {
        "corrected_bit_s": 9.5e6,
        "retransmitted_share": 0.01,
        "queue_delay_ms_p95": None,
        "failed_runs": 0,
        "lost_outside_packets": 0,
    }
    cell = {
        "network": "10ms-1.0%", "loss": 0.01, "congestion_control": "bbr", "few_losses": True,
        "ratio": Estimate(0.97, 0.9, 1.05).as_json(),
        "tcp": side | {"lateness_us_p99": 5.0}, "quic": side | {"lateness_us_p99": None},
    }  # fmt: skip
    environment = {**results.environment, "stacks_validated": [cell]}
    said = appendix_section(replace(results, environment=environment))
    for expected in ("10ms-1.0%", "0.970", "0.90-1.05", "9.500", "few losses", "lossy networks"):
        assert expected in said


def test_an_altered_recording_is_told_before_the_numbers(run, results):
    said = "30 of 30 exchanges were recorded over http and became https"
    altered = replace(results, environment={"altered_sites": {"startup": [said]}})
    assert (
        "startup was altered after recording.",
        f"{said}. Its loads show how the altered page behaves.",
    ) in warnings(altered)
    assert not any("recorded" in head for head, _ in warnings(results))
    # Of several recordings it is said once.
    many = {f"pr/page{number}": [said] for number in range(5)}
    found = warnings(replace(results, environment={"altered_sites": many}))
    ((head, text),) = [each for each in found if "altered" in each[0]]
    assert head == "5 recordings were altered after recording."
    assert text.count(said) == 3 and "pr/page2: 30 of" in text and "2 more" in text
    # What a variant's edits change is what the plan asks about.
    variants = (Variant("main"), Variant("pr", edits=("defer:/app.js",)))
    edits = "edited: defer:/app.js (1 match)"
    plan = replace(results.plan, variants=variants)
    asked = {"main/startup": [edits], "pr/startup": [edits], "pr/news": [said, edits]}
    found = warnings(replace(results, plan=plan, environment={"altered_sites": asked}))
    ((head, text),) = [each for each in found if "altered" in each[0]]
    assert head == "2 recordings were altered after recording."
    assert text.startswith(f"main/startup: {edits}. pr/news: {said}. ")


def test_outcomes_that_differ_between_stacks_are_told_before_the_answer(tmp_path):
    plan = preset_text("quickstart", SITES)
    late = {(f"{site}/{network}/{n}", "tcp"): "timeout"
            for site in SITES for network in ("dsl", "lte") for n in (1, 2, 3)}  # fmt: skip
    write_run(tmp_path, late, plan)
    page = build_report(tmp_path, metrics_of).read_text(encoding="utf-8")
    assert page.index("Outcomes differ between stacks.") < page.index('class="headline"')

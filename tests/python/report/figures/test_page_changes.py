"""Differences between variants, from synthetic records and frames."""

import json
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from sample_record import sample_object
from synthetic_run import metrics_of, write_run

from eyelevel.analysis.study import read_results
from eyelevel.plan.comparisons import Comparison
from eyelevel.report.figures.page_changes import compare_pictures, page_changes
from eyelevel.report.first_screen.changed_pages import ChangedPage, changed
from eyelevel.report.page import page, summary_of
from eyelevel.store.commit import write_trial
from eyelevel.store.directory import iterate_trials

TEXT = """\
sites = ["startup"]
networks = ["dsl"]
stacks = ["quic"]
variants = [{ name = "main" }, { name = "pr" }]
reference = "main"
blocks = 6
"""
SCRIPT = "https://a.example/script.js"


@pytest.fixture
def results(tmp_path):
    """A run whose variant `pr` has a script more, which blocks rendering."""

    def set_objects(record):
        objects = [sample_object(url="https://a.example/", encoded_bytes=4000)]
        if record["trial"]["variant"] == "pr":
            script = {"encoded_bytes": 1500, "render_blocking": "Blocking", "in_main_frame": True}
            objects.append(sample_object(url=f"{SCRIPT}?v=7", **script))
        return {"objects": objects}

    write_run(tmp_path, text=TEXT, change=set_objects)
    return read_results(tmp_path, metrics_of)


def test_counts_and_names_are_of_what_only_one_variant_has(results):
    (found,) = page_changes(results)
    assert found.comparison == Comparison("pr/quic", "main/quic")
    assert {name: rest for name, *rest in found.counts} == {
        "requests": [1, 2],
        "bytes": [4000, 5500],
        "origins": [1, 1],
        "render-blocking": [0, 1],
    }
    assert found.added == found.blocking_added == (SCRIPT,)
    assert found.removed == found.blocking_removed == ()
    (of_json,) = json.loads(json.dumps(summary_of(results)))["changed"]
    assert of_json["counts"]["bytes"] == {"main": 4000, "pr": 5500}
    assert (of_json["added"], of_json["pixels_changed"]) == ([SCRIPT], 0)


def test_two_hosts_of_one_page_are_no_change(tmp_path):
    """Two folders are recorded under two hosts: what both have at one path is not listed."""
    made, target = tmp_path / "made", tmp_path / "run"
    write_run(made, text=TEXT)
    target.mkdir()
    for name in ("plan.json", "environment.json"):
        (target / name).write_bytes((made / name).read_bytes())
    for trial in iterate_trials(made):
        variant = trial.record["trial"]["variant"]
        style = {"render_blocking": "Blocking", "in_main_frame": True}
        urls = ["", "a.js", f"{variant}.js"]
        objects = [sample_object(url=f"https://{variant}.test/{url}", **style) for url in urls]
        objects.append(sample_object(url=f"https://cdn-{variant}.example/a.js"))
        write_trial(target, trial.record | {"objects": objects}, trial.frames())
    (found,) = page_changes(read_results(target, metrics_of))
    assert found.blocking_added == ("https://pr.test/pr.js",)
    assert found.blocking_removed == ("https://main.test/main.js",)
    assert found.added == ("https://pr.test/pr.js", "https://cdn-pr.example/a.js")
    assert found.removed == ("https://main.test/main.js", "https://cdn-main.example/a.js")


def test_it_is_there_although_the_machine_left_no_answer(results):
    starved = results.table.with_columns(outcome=pl.lit("starved"))
    kept = replace(results.blocks, kept=results.blocks.kept.clear())
    (found,) = page_changes(replace(results, table=starved, blocks=kept, cells=(), gains=()))
    (usual,) = page_changes(results)
    assert (found.counts, found.added) == (usual.counts, usual.added)
    failed = results.table.with_columns(outcome=pl.lit("timeout"))
    assert not page_changes(replace(results, table=failed, blocks=kept, cells=(), gains=()))


def test_a_blocked_request_is_none_and_its_host_no_origin(tmp_path):
    made, target = tmp_path / "made", tmp_path / "run"
    write_run(made, text=TEXT)
    target.mkdir()
    for name in ("plan.json", "environment.json"):
        (target / name).write_bytes((made / name).read_bytes())
    for trial in iterate_trials(made):
        objects = [sample_object(url="https://a.example/")]
        blocked = {"status": None, "failed": "blocked (inspector)", "encoded_bytes": 0}
        is_pr = trial.record["trial"]["variant"] == "pr"
        objects.append(sample_object(url="https://ads.example/a.js", **(blocked if is_pr else {})))
        write_trial(target, trial.record | {"objects": objects}, trial.frames())
    (found,) = page_changes(read_results(target, metrics_of))
    counts = {name: rest for name, *rest in found.counts}
    assert (counts["requests"], counts["origins"]) == ([2, 1], [2, 1])
    assert found.removed == ("https://ads.example/a.js",) and found.added == ()


@pytest.mark.parametrize(
    ("apart", "said"),
    [(0, "equal counts"), (3, "+3\N{NO-BREAK SPACE}B"), (-5000, "\N{MINUS SIGN}5.0")],
)
def test_few_bytes_are_counted_one_by_one(results, apart, said):
    (found,) = page_changes(results)
    page = ChangedPage(replace(found, counts=(("bytes", 6000.0, 6000.0 + apart),)))
    assert said in page.sentence


def test_the_report_begins_with_what_changed(results):
    html = page(results)
    title = html.index("</h1>")
    assert title < html.index("What changed in startup") < html.index('class="headline"')
    assert f"Blocks rendering in pr alone: {SCRIPT}." in html
    assert html.count("last picture: ") == 3
    (sentence,) = changed(results).sentences
    assert sentence == (
        "startup, pr against main: +1 requests, +1.5\N{NO-BREAK SPACE}kB, +1 render-blocking; "
        "the last pictures are equal."
    )


def test_nothing_changed_in_a_run_without_variants(quickstart_contents):
    assert page_changes(quickstart_contents) == []
    assert "changed" not in summary_of(quickstart_contents)
    assert "What changed in" not in page(quickstart_contents)


def test_one_stack_needs_no_level(results):
    found = summary_of(results)
    assert found["rests_on"][0]["status"] == "holds"
    assert found["rests_on"][0]["finding"].startswith("one stack loads all variants")
    assert not [text for text in found["warnings"] if text.startswith("Level")]


def test_pixels_that_differ_are_red_and_counted():
    old = np.full((10, 20, 3), 250, dtype=np.uint8)
    new = old.copy()
    new[:5, :4] = (250, 250, 230)  # a channel apart by more than the edges of letters
    new[9, 19] = 240  # and by less
    shown, share = compare_pictures(old, new)
    assert share == pytest.approx(20 / 200)
    assert (shown == (200, 0, 0)).all(axis=2).sum() == 20 and (shown[:5, :4] == (200, 0, 0)).all()


def test_what_is_beyond_the_other_picture_differs():
    old, new = np.zeros((10, 20, 3), np.uint8), np.zeros((15, 10, 3), np.uint8)
    shown, share = compare_pictures(old, new)
    assert shown.shape == (15, 20, 3) and share == pytest.approx(1 - 100 / 300)
    assert compare_pictures(old, old)[1] == 0

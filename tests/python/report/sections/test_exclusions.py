"""What the exclusions do: gains with the excluded pairs and without them, by stack."""

import json
import re
import shutil
from dataclasses import replace

import numpy as np
import pytest
from repository import ROOT
from synthetic_run import SITES, metrics_of, read_run, write_run

from eyelevel.analysis.formats import MINUS, NO_BREAK
from eyelevel.analysis.study import read_results
from eyelevel.plan.presets import preset_text
from eyelevel.report.page import build_report, summary_of
from eyelevel.report.sections.outcomes import describe_exclusions

FAILED = {("startup/dsl/2", "quic"): "starved", ("dashboard/dsl/3", "tcp"): "wrong-stack"}


def said(results):
    return describe_exclusions(results).replace(NO_BREAK, " ").replace(MINUS, "-")


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    return read_run(tmp_path_factory.mktemp("run"), FAILED)


def test_a_failed_counterfactual_takes_no_pair_from_the_comparisons(tmp_path):
    text = preset_text("quickstart", SITES) + 'causes = ["handshake"]\n'
    results = read_run(tmp_path, {("startup/dsl/2", "quic+warm"): "starved"}, text=text)
    assert [each.reason for each in results.blocks.excluded] == ["quic+warm: starved"]
    assert summary_of(results)["exclusions"] == [] and said(results) == ""
    assert {each.gain.n for each in results.gains if each.network == "dsl"} == {3}


def by_stack(results):
    return {each["stack"]: each for each in summary_of(results)["exclusions"]}


def test_a_comparison_has_its_gain_with_and_without_and_who_failed(results):
    found = by_stack(results)
    assert set(found) == {"tcp+", "quic"} and {e["network"] for e in found.values()} == {"dsl"}
    quic, tuned = found["quic"], found["tcp+"]
    assert (quic["blocks"], quic["blocks_excluded"], quic["blocks_with_values"]) == (6, 2, 2)
    assert (tuned["blocks"], tuned["blocks_excluded"], tuned["blocks_with_values"]) == (6, 1, 1)
    assert (quic["failed"], quic["failed_reference"]) == (1, 1)
    assert (tuned["failed"], tuned["failed_reference"]) == (0, 1)
    answered = next(
        each.gain
        for each in results.gains
        if (each.network, each.stack, each.metric) == ("dsl", "quic", "speed_index_ms")
    )
    assert quic["gain"] == answered.as_json()


def test_a_withheld_answer_is_not_stated_beside_what_was_left_out(results):
    withheld = replace(results, too_disturbed={"dsl": "too busy to answer"})
    assert "would be" in said(results)
    text = said(withheld)
    assert text.endswith("There is no answer that they could change.")
    assert "faster" not in text and "undetermined" not in text


def test_with_them_it_is_the_gain_as_if_none_had_failed(results, tmp_path):
    whole = summary_of(read_run(tmp_path, {}))["gains"]
    for stack, found in by_stack(results).items():
        (expected,) = (
            each
            for each in whole
            if (each["network"], each["stack"], each["metric"]) == ("dsl", stack, "speed_index_ms")
        )
        assert found["gain_with_excluded"] == expected["gain"] != found["gain"]
        assert found["verdict_with_excluded"] in {"faster", "slower", "no clear difference"}


def test_a_load_that_never_ended_stays_out_and_one_that_timed_out_counts(tmp_path):
    failed = {("startup/dsl/1", "quic"): "browser-crashed", ("startup/dsl/2", "tcp"): "timeout"}
    failed |= {("startup/dsl/2", "tcp+"): "starved"}
    results = read_run(tmp_path, failed)
    found = by_stack(results)
    assert (found["quic"]["blocks_excluded"], found["quic"]["blocks_with_values"]) == (1, 0)
    assert (found["tcp+"]["blocks_excluded"], found["tcp+"]["blocks_with_values"]) == (1, 1)
    rows = results.table.filter(network="dsl", site="startup").sort("repetition")
    values = {
        stack: rows.filter(stack=stack)["primary_measured"].to_numpy().astype(float)
        for stack in ("quic", "tcp", "tcp+")
    }
    values["tcp"][1] = 180_000
    assert np.isnan(values["quic"][0]) and not np.isnan(values["tcp+"]).any()
    effect = next(each for each in results.exclusions if each.stack == "tcp+")
    other = results.table.filter(network="dsl", site="dashboard").sort("repetition")
    logs = [np.log(values["tcp+"] / values["tcp"])]
    logs.append(
        np.log(
            other.filter(stack="tcp+")["speed_index_ms"].to_numpy()
            / other.filter(stack="tcp")["speed_index_ms"].to_numpy()
        )
    )
    found = effect.gain_with_excluded.gain.value
    assert found == pytest.approx(np.expm1(np.mean(logs)))


def test_without_failures_there_is_none(tmp_path):
    results = read_run(tmp_path, {})
    assert results.exclusions == () and said(results) == ""
    assert summary_of(results)["exclusions"] == []


def test_a_block_that_did_not_run_whole_is_no_exclusion(tmp_path):
    write_run(tmp_path, FAILED)
    plan = json.loads((tmp_path / "plan.json").read_text())
    last = next(each for each in reversed(plan["trials"]) if each["block"] == "startup/dsl/3")
    shutil.rmtree(tmp_path / "trials" / last["hash"])
    results = read_results(tmp_path, metrics_of)
    assert len(results.blocks.excluded) == 3
    assert {each.stack: each.blocks_excluded for each in results.exclusions} == {
        "tcp+": 1,
        "quic": 2,
    }
    for each in results.exclusions:
        lost = last["stack"] in (each.stack, each.reference) and last["network"] == each.network
        assert each.gain_with_excluded.timeouts.pairs == 6 - lost


def test_one_line_says_what_they_do(results):
    line = said(results)
    assert line.startswith(
        "2 loads are left out because the instrument failed (1 of tcp, 1 of quic), with the pairs "
        "that they were part of. If the pairs with values for both stacks were "
    )
    change = r"[\d.]+ % (?:faster|slower) \(.* to .*\)"
    assert re.search(rf"would be {change} instead of {change}", line)
    moved = {each.stack: each.moved for each in results.exclusions}
    most = max(moved, key=lambda stack: moved[stack])
    assert f"{most} against tcp on dsl would be " in line and "the largest change" in line


def test_without_a_value_nothing_is_said_of_the_gain(tmp_path):
    line = said(read_run(tmp_path, {("startup/dsl/2", "quic"): "lab-failed",
                                    ("startup/dsl/2", "tcp+"): "lab-failed"}))  # fmt: skip
    assert line == (
        "2 loads are left out because the instrument failed (1 of tcp+, 1 of quic), with the pairs "
        "that they were part of. None of these pairs has values for both stacks, so it is unknown "
        "what including them would change."
    )


def test_the_page_has_the_line_after_the_answer_and_the_table_with_the_outcomes(results):
    page = build_report(results.directory, metrics_of).read_text(encoding="utf-8")
    text = page.replace(NO_BREAK, " ")
    assert text.index('class="headline"') < text.index("2 loads are left out")
    assert text.index("2 loads are left out") < text.index('id="gain"')
    at = text.index("What the exclusions do to the gains")
    assert text.index('id="outcomes"') < at and "<td>1 and 1</td>" in text[at:]


def test_a_study_that_may_stop_has_intervals_that_allow_it(tmp_path):
    text = preset_text("quickstart", SITES).replace("blocks = 3", "blocks = 8")
    text += "\n[stop]\nblocks_min = 6\n"
    results = read_run(tmp_path / "some", FAILED, text)
    whole = read_run(tmp_path / "all", {}, text)
    for effect in results.exclusions:
        (expected,) = (
            gain
            for gain in whole.gains
            if (gain.network, gain.stack, gain.metric)
            == (effect.network, effect.stack, effect.metric)
        )
        assert effect.gain_with_excluded.gain == expected.gain


def test_its_keys_are_in_the_reference(results):
    reference = ROOT / "docs/reference/report.md"
    documented = set(re.findall(r"`(\w+)`", reference.read_text(encoding="utf-8")))
    assert documented >= {"exclusions", *summary_of(results)["exclusions"][0]}

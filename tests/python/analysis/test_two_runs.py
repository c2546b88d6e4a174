"""Two runs are two runs: gains are compared, each within its own."""

import json
from dataclasses import replace
from xml.etree import ElementTree

import polars as pl
import pytest
import typer
from synthetic_run import metrics_of, quickstart_against_tcp, read_run, write_run

from eyelevel.analysis.formats import NO_BREAK
from eyelevel.analysis.gate import GateError
from eyelevel.analysis.stats.estimate import Estimate
from eyelevel.analysis.study import read_results
from eyelevel.analysis.two_runs import agreement, compare_runs, rerun_agrees
from eyelevel.cli.results.gate import conclude, junit
from eyelevel.plan.plan import StopRule

TEXT = quickstart_against_tcp()
TWELVE = TEXT.replace("blocks = 3", "blocks = 12")
METRIC = "page_load_time_ms"


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """What reads a run of a plan's text."""

    def read(text):
        directory = tmp_path_factory.mktemp("run")
        write_run(directory, text=text)
        return read_results(directory, metrics_of)

    return read


@pytest.fixture(scope="module")
def old(runs):
    return runs(TEXT)


@pytest.fixture(scope="module")
def long(tmp_path_factory):
    directory = tmp_path_factory.mktemp("long")
    return read_run(directory, {("startup/lte/2", "tcp+"): "timeout"}, text=TWELVE)


def again(run, every=1.0, **factors):
    """The same loads, all slower by `every` as the run was, and each stack's by its factor."""
    own = pl.col("stack").replace_strict(factors, default=1.0, return_dtype=pl.Float64)
    kept = run.blocks.kept.with_columns(pl.col(METRIC) * every * own)
    return replace(run, blocks=replace(run.blocks, kept=kept))


def statuses(found):
    return {(each.network, each.stack, each.reference): each.status for each in found.verdicts}


def test_a_run_that_was_slower_as_a_whole_is_no_regression(long):
    found = compare_runs(long, again(long, every=1.3), METRIC, 0.05)
    assert statuses(found) == {
        ("dsl", "tcp+", "tcp"): "passed",
        ("dsl", "quic", "tcp"): "passed",
        ("lte", "tcp+", "tcp"): "inconclusive",
        ("lte", "quic", "tcp"): "passed",
    }
    late = "1 of 24 loads against 0 of 24 timed out before; 1 of 24 loads against 0 of 24 timed out"
    assert f"{late} now, and count as their limit" in found.verdicts[2].message
    assert found.verdicts[2].estimate.determined and "timed out" not in found.verdicts[3].message
    assert found.verdicts[0].confidence == pytest.approx(1 - 0.05 / 4)
    assert (
        "hold together with 95 % confidence: each is a 98.8 % interval, wider"
        in found.level.replace(NO_BREAK, " ")
    )
    assert "both change alike from run to run" in found.assumption


def test_a_stack_that_became_slower_than_its_reference_is_one(long):
    found = compare_runs(long, again(long, every=0.7, quic=1.12), METRIC, 0.05)
    failed = [each for each in found.verdicts if each.status == "failed"]
    assert [(each.stack, each.network) for each in failed] == [("quic", "dsl"), ("quic", "lte")]
    assert failed[0].estimate.value == pytest.approx(0.12)
    assert failed[0].gain_now.value == pytest.approx(1.12 * (1 + failed[0].gain_before.value) - 1)
    suite = ElementTree.fromstring(junit("x", found.verdicts))
    assert suite.get("failures") == "2" and len(suite.findall("testcase/failure")) == 2


def test_inconclusive_says_how_many_blocks_in_each_run_would_do(long):
    found = compare_runs(long, again(long, quic=1.06), METRIC, 0.05).verdicts[1]
    assert found.status == "inconclusive" and found.blocks_needed > 12
    assert (
        f"it is worse, but by how much is not certain; about {found.blocks_needed} blocks in "
        "each run"
    ) in (found.message)


def test_another_stack_may_be_the_common_one(long):
    found = compare_runs(long, again(long, tcp=1.2), METRIC, 0.05, control_stack="quic")
    assert statuses(found) == {
        ("dsl", "tcp", "quic"): "failed",
        ("dsl", "tcp+", "quic"): "passed",
        ("lte", "tcp", "quic"): "failed",
        ("lte", "tcp+", "quic"): "inconclusive",
    }
    with pytest.raises(
        GateError, match="--control-stack: unknown stack of both runs `quik`; did you"
    ):
        compare_runs(long, long, METRIC, 0.05, control_stack="quik")


def test_a_common_stack_whose_settings_changed_is_none(long, capsys, tmp_path):
    new = again(long, every=1.3)
    stacks = tuple(
        replace(stack, initial_window_packets=99) if stack.name == "tcp" else stack
        for stack in new.plan.stacks
    )
    new = replace(new, plan=replace(new.plan, stacks=stacks))
    found = compare_runs(long, new, METRIC, 0.05)
    assert {each.status for each in found.verdicts} == {"no verdict"} and found.assumption == ""
    first = found.verdicts[0]
    assert first.estimate.value == pytest.approx(0.3) and first.estimate.low is None
    assert "the settings of tcp differ between the runs" in first.estimate.reason
    assert "two stacks of one plan" in first.message
    with pytest.raises(typer.Exit) as ended:
        conclude("x", found.verdicts, tmp_path / "gate.xml", found.as_json(), "pass")
    assert ended.value.exit_code == 4
    said = json.loads(capsys.readouterr().out)
    assert said["verdict"] == "no verdict" and said["assumes"] is None
    suite = ElementTree.parse(tmp_path / "gate.xml").getroot()
    assert suite.get("errors") == "4" and suite.get("failures") == "0"
    # Another stack of both runs did not change.
    other = compare_runs(long, new, METRIC, 0.05, control_stack="quic")
    assert statuses(other)["dsl", "tcp+", "quic"] == "passed"


def test_a_study_that_may_stop_is_compared_by_its_sequence(long):
    stopping = replace(long, plan=replace(long.plan, stop=StopRule(blocks_min=5)))
    fixed, sequential = (
        compare_runs(old, again(long, every=1.3), METRIC, 0.05).verdicts[0].estimate
        for old in (long, stopping)
    )
    assert sequential.value == pytest.approx(fixed.value) and sequential.p is None
    assert sequential.low < fixed.low < fixed.high < sequential.high


def test_runs_of_one_stack_have_no_verdict(runs):
    alone = TEXT.replace('["tcp", "tcp+", "quic"]', '["tcp"]')
    found = compare_runs(runs(alone), runs(alone), METRIC, 0.05)
    assert statuses(found) == {(name, "tcp", None): "no verdict" for name in ("dsl", "lte")}
    assert found.verdicts[0].estimate.value == pytest.approx(0.0)


def test_runs_without_anything_in_common_are_refused(long, runs):
    other = TEXT.replace("startup", "agency").replace("dashboard", "creative")
    with pytest.raises(GateError, match="share no site"):
        compare_runs(long, runs(other), METRIC, 0.05)


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [
        (-0.04, 0.04, "agrees"),
        (0.01, 0.04, "agrees"),
        (-0.04, 0.06, "cannot tell"),
        (-0.06, 0.04, "cannot tell"),
        (0.01, 0.06, "cannot tell"),
        (0.06, 0.2, "disagrees"),
        (-0.2, -0.06, "disagrees"),
        (-0.2, 0.2, "cannot tell"),
        (None, None, "cannot tell"),
    ],
)
def test_agreement_is_of_both_sides_and_by_the_whole_interval(low, high, said):
    assert agreement(Estimate(0.0, low, high), 0.05) == said


def test_a_gain_that_is_another_now_disagrees_though_it_is_faster(long):
    found = rerun_agrees(long, again(long, every=1.3, quic=0.85), METRIC, 0.05)
    assert statuses(found) == {
        ("dsl", "tcp+", "tcp"): "agrees",
        ("dsl", "quic", "tcp"): "disagrees",
        ("lte", "tcp+", "tcp"): "cannot tell",
        ("lte", "quic", "tcp"): "disagrees",
    }
    assert found.assumption == ""  # a stack that moved is what is asked about
    with pytest.raises(typer.Exit) as ended:
        conclude("x", found.verdicts, None)
    assert ended.value.exit_code == 1


def test_what_cannot_tell_says_how_many_blocks_would_do(long, runs):
    few = runs(TEXT)
    found = rerun_agrees(few, few, METRIC, 0.05)
    assert {each.status for each in found.verdicts} == {"cannot tell"}
    assert all(each.blocks_needed > 3 for each in found.verdicts)
    with pytest.raises(typer.Exit) as ended:
        conclude("x", found.verdicts, None)
    assert ended.value.exit_code == 3
    nearly = rerun_agrees(long, again(long, quic=0.94), METRIC, 0.05).verdicts[1]
    assert nearly.status == "cannot tell" and nearly.blocks_needed > 12


@pytest.mark.parametrize(
    ("key", "said"),
    [
        (
            'device = "moto-g"\ncpu_slowdown = 1',
            ["`device`: not given before, moto-g now", "`cpu_slowdown`: not given before, 1 now"],
        ),
        (
            'device = "moto-g"',
            ["`device`: not given before, moto-g now"],
        ),
        ('visit = "warm"', ["`visit`: first before, warm now"]),
        ("capture = false", ["`capture`: true before, false now"]),
        ("timeout_s = 30", ["`timeout_s`: not given before, 30 now"]),
        (
            'blocked_hosts = ["a.example", "b.example"]',
            ["`blocked_hosts`: none before, a.example, b.example now"],
        ),
    ],
)
def test_what_the_pages_were_shown_in_is_named_where_it_changed(runs, old, key, said):
    new = runs(f"{key}\n{TEXT}")
    assert list(compare_runs(old, new, METRIC, 0.05).differences) == said
    back = compare_runs(new, old, METRIC, 0.05).differences
    assert len(back) == len(said) and back != tuple(said)


def test_what_only_one_run_has_is_named(runs, old):
    new = runs(
        TEXT.replace('"dashboard"', '"agency", "blog"')
        .replace('"quic"', '{ name = "quic-new", base = "quic" }')
        .replace('"lte"', '"mss"')
    )
    found = compare_runs(old, new, METRIC, 0.05)
    assert [each.name for each in found.verdicts] == ["tcp+.page_load_time_ms on dsl against tcp"]
    assert found.differences == (
        "sites only in the earlier run, not compared: `dashboard`",
        "sites only in the later run, not compared: `agency`, `blog`",
        "networks only in the earlier run, not compared: `lte`",
        "networks only in the later run, not compared: `mss`",
        "stacks only in the earlier run, not compared: `quic`",
        "stacks only in the later run, not compared: `quic-new`",
    )


def test_a_site_that_was_recorded_anew_is_named(runs, old):
    new = runs(TEXT)
    first, second, *_ = new.recordings
    new = replace(new, recordings=(first, replace(second, digest="sha256:other")))
    found = compare_runs(old, new, METRIC, 0.05)
    assert found.differences == (
        "sites whose recording is different now, not compared: `dashboard`",
    )


def test_of_many_sites_the_first_are_named(runs, old):
    many = "".join(f', "site{number}"' for number in range(1, 13))
    text = TEXT.replace('"dashboard"', f'"dashboard"{many}').replace("blocks = 3", "blocks = 1")
    (said,) = compare_runs(old, runs(text), METRIC, 0.05).differences
    assert said.startswith("sites only in the later run, not compared: `site1`, ")
    assert said.endswith("`site8` and 4 more")

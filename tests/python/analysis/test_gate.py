from xml.etree import ElementTree

import numpy as np
import pytest
from made_up_run import SITES, metrics_of, read_run, write_run

from eyelevel.analysis.gate import GateError, evaluate, parse_condition
from eyelevel.analysis.study import read_contents
from eyelevel.analysis.two_runs import compare_runs
from eyelevel.cli.results.gate import junit
from eyelevel.plan.presets import preset_text
from eyelevel.stats.gain import performance_gain, unpaired_gain
from eyelevel.stats.quantile_gain import quantile_gain

TEXT = preset_text("quickstart", SITES).replace("blocks = 3", "blocks = 12")
STACKS, NETWORKS = ["tcp", "tcp+", "quic"], ["dsl", "lte"]


@pytest.fixture(scope="module")
def contents(tmp_path_factory):
    directory = tmp_path_factory.mktemp("run")
    return read_run(directory, {("startup/lte/2", "tcp"): "timeout"}, text=TEXT)


def condition(text):
    return parse_condition(text, STACKS, ["speed_index_ms", "page_load_time_ms"], NETWORKS)


def test_names_may_have_dots_and_spaces():
    stacks, networks = ["tcp+tls1.2", "tcp+-think_time-50 ms"], ["my lte"]
    text = f"{stacks[0]}.speed_index.p50 worse than {stacks[1]} by 2.5% on my lte"
    found = parse_condition(text, stacks, ["speed_index_ms"], networks)
    assert [found.stack, found.reference, found.network] == [*stacks, *networks]
    assert (found.metric, found.bound) == ("speed_index_ms", 0.025)


@pytest.mark.parametrize(
    ("text", "statuses"),
    [
        # tcp+ takes 0.93 and quic 0.86 of tcp's time.
        ("tcp.speed_index.p50 worse than quic by 5%", ["failed", "failed"]),
        ("quic.speed_index_ms.p50 worse than tcp by 5 %", ["passed", "passed"]),
        ("tcp.speed_index.p50 worse than quic by 30% on dsl", ["passed"]),
        ("quic.page_load_time.p50 better than tcp by 10% on dsl", ["failed"]),
    ],
)
def test_a_condition_holds_or_not(contents, text, statuses):
    assert [each.status for each in evaluate(condition(text), contents)] == statuses


def test_a_stack_whose_every_load_timed_out_fails_the_gate(tmp_path):
    late = {(f"startup/dsl/{n}", "quic"): "timeout" for n in range(1, 13)}
    run = read_run(tmp_path, late, text=TEXT)
    (slower,) = evaluate(condition("quic.speed_index.p50 worse than tcp by 5% on dsl"), run)
    (faster,) = evaluate(condition("tcp.speed_index.p50 better than quic by 5% on dsl"), run)
    assert (slower.status, faster.status) == ("failed", "failed")
    assert "is a timeout's (+∞" in slower.message
    fields = slower.as_json()["gain"]
    assert (fields["value"], fields["low"], fields["high"]) == (
        None,
        None,
        None,
    )  # JSON: no infinity
    assert "timeout" in fields["undetermined_because"]


def test_too_few_blocks_are_no_pass(quickstart_contents):
    few = quickstart_contents
    found = evaluate(condition("quic.speed_index.p50 worse than tcp by 5% on dsl"), few)
    assert found[0].status == "undetermined" and "3 blocks are too few" in found[0].message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("quic is slow", "write it like"),
        ("quik.speed_index.p50 worse than tcp by 5%", "did you mean `quic`"),
        ("quic.sped_index.p50 worse than tcp by 5%", "did you mean `speed_index_ms`"),
        ("quic.speed_index.p50 worse than tcp by 5% on dls", "did you mean `dsl`"),
        ("quic.speed_index.p0 worse than tcp by 5%", "p1 to p99"),
    ],
)
def test_a_condition_that_cannot_be_read_names_the_way_out(text, message):
    with pytest.raises(GateError, match=message):
        condition(text)


def test_a_run_against_itself_has_no_regression_and_a_slower_one_has(contents, tmp_path):
    same = compare_runs(contents, contents, "page_load_time_ms", 0.05)
    states = {each.name: each.status for each in same.verdicts}
    assert states["quic.page_load_time_ms on dsl"] == "passed" and same.differences == ()
    assert states["tcp.page_load_time_ms on lte"] == "undetermined"  # the timeout

    def slower(record, frames):
        found = metrics_of(record, frames)
        factor = 1.1 if record["trial"]["stack"] == "quic" else 1.0
        return {name: factor * value for name, value in found.items()}

    worse = read_contents(contents.directory, slower)
    found = compare_runs(contents, worse, "page_load_time_ms", 0.05)
    failed = [each.name for each in found.verdicts if each.status == "failed"]
    assert failed == ["quic.page_load_time_ms on dsl", "quic.page_load_time_ms on lte"]
    suite = ElementTree.fromstring(junit("x", found.verdicts))
    assert suite.get("failures") == "2" and len(suite.findall("testcase/failure")) == 2


def test_runs_without_anything_in_common_are_refused(contents, tmp_path):
    other = TEXT.replace("startup", "agency").replace("dashboard", "creative")
    write_run(tmp_path, text=other)
    with pytest.raises(GateError, match="share no site"):
        compare_runs(contents, read_contents(tmp_path, metrics_of), "page_load_time_ms", 0.05)


def test_unpaired_is_wider_than_paired_where_blocks_share_their_noise():
    draw = np.random.Generator(np.random.PCG64(4))
    shared = 100 + 10 * draw.standard_normal(30)
    x, r = 0.9 * shared + draw.standard_normal(30), shared
    paired, unpaired = performance_gain(x, r), unpaired_gain(x, r)
    assert paired.value == pytest.approx(unpaired.value)
    assert unpaired.standard_error > 3 * paired.standard_error


def test_the_interval_of_a_quantile_covers_it_about_as_often_as_promised():
    draw = np.random.Generator(np.random.PCG64(6))
    hits = 0
    for _ in range(200):
        sites = [
            (
                90 * np.exp(0.1 * draw.standard_normal(20)),
                100 * np.exp(0.1 * draw.standard_normal(20)),
            )
            for _ in range(2)
        ]
        found = quantile_gain(sites, 0.5)
        hits += found.low <= -0.1 <= found.high
    assert 0.88 <= hits / 200 <= 1.0

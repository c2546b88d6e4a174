"""Claims that are asked again with a suspected cause: their runs, answers and lines on the page."""

import json
from pathlib import Path

import pytest
from sample_claim import SITES
from synthetic_run import read_run

from eyelevel.analysis.metrics.catalogue import METRICS_BY_NAME
from eyelevel.plan.file.narrow import Narrowing
from eyelevel.plan.file.parse import parse_plan
from eyelevel.plan.trials import Trial
from eyelevel.replication.answers import MeasuredRun, answer_claims
from eyelevel.replication.claims import ClaimsError, parse_claims, read_claims
from eyelevel.replication.data_sets import DataSets
from eyelevel.replication.lab_handshakes import LabHandshakes
from eyelevel.replication.page import write_page
from eyelevel.replication.parts import list_parts

TEXT = """[text]
name = "x"
citation = "A. Author: X. 2020."
short = "Author 2020"
plans = ["das-2014"]
[[claims]]
id = "X1"
place = "section 1"
claim = "HTTP/1.1 is faster."
scope = "population"
rule = "sign"
sign = "negative"
estimator = "median_change"
metrics = ["page_load_time_ms"]
comparisons = ["quic+das-2014/http1-plain"]
networks = ["das-5-30"]
expected = "disagrees"
[[claims]]
id = "X2"
place = "section 1"
claim = "It is not asked again."
scope = "population"
rule = "sign"
sign = "negative"
comparisons = ["quic+das-2014/http1-plain"]
networks = ["das-5-30"]
[[follow_ups]]
claims = ["X1"]
stack = "quic+das-2014"
server = "aioquic"
cause = "a slow server"
"""


def test_follow_up_is_the_same_plan_with_another_server() -> None:
    pytest.importorskip("aioquic", reason="aioquic is the follow-up's server")
    claims = parse_claims(TEXT, "x")
    (first,) = list_parts(claims, SITES, Narrowing(sites=tuple(SITES)))
    parts = list_parts(claims, SITES, Narrowing(sites=tuple(SITES)), follow_up=True)
    assert parts[0] == first
    assert [each.folder for each in parts] == ["das-2014-das-5-30", "das-2014+aioquic-das-5-30"]
    assert [each.claims for each in parts] == [2, 1]
    ours, again = (
        parse_plan(each.text, each.preset, site_names=SITES, metric_names=METRICS_BY_NAME)
        for each in parts
    )
    assert (again.sites, again.networks) == (ours.sites, ours.networks)
    (own,) = [each for each in ours.stacks if each.over_quic]
    (external,) = [each for each in again.stacks if each.over_quic]
    assert external.name == "quic+das-2014-aioquic@external"
    assert external.external_server is not None
    assert external.external_server.command[-1].endswith("h3_aioquic.py")
    assert external.initial_window_packets == own.initial_window_packets
    (pair,) = again.comparisons
    assert (pair.stack, pair.reference) == (external.name, "http1-plain")


def run(folder: Path, stack: str, table: str, factor: float) -> MeasuredRun:
    text = (
        f'sites = {json.dumps(SITES)}\nnetworks = ["das-5-30"]\nstacks = ["http1-plain", {table}]\n'
        f'comparisons = [["{stack}", "http1-plain"]]\nblocks = 2\n'
        'primary_metric = "page_load_time_ms"\n'
    )

    def place(trial: Trial) -> tuple[dict[str, float], float]:
        return {}, factor if trial.stack.startswith("quic") else 1.0

    return MeasuredRun(read_run(folder, text=text, placed=place))


def test_answer_of_a_follow_up_stands_on_the_page_and_counts_among_no_others(
    tmp_path: Path,
) -> None:
    claims = parse_claims(TEXT, "x")
    served = "quic+das-2014-aioquic"
    table = (
        f'{{ name = "{served}", base = "quic+das-2014", '
        'external_server = { command = ["true"], protocols = ["h3"] } }'
    )
    runs = {
        "das-2014": {"das-5-30": run(tmp_path / "a", "quic+das-2014", '"quic+das-2014"', 0.7)},
        "das-2014+aioquic": {"das-5-30": run(tmp_path / "b", served, table, 1.5)},
    }
    found = answer_claims(claims, runs, DataSets(None), LabHandshakes(Path("none")))
    assert [each.verdict for each in found.answers] == ["disagrees", "agrees"]
    assert len(found.measured) == 2
    ((_, again),) = found.again
    assert [(each.claim.id, each.verdict) for each in again] == [("X1", "agrees")]
    document = found.as_json()
    assert document["asked"] == 2
    assert document["follow_ups"][0]["claims"][0]["verdict"] == "agrees"
    page = write_page(found, None)
    assert (
        "- **X1** HTTP/1.1 is faster. Again with aioquic as the server of quic+das-2014 (a slow "
        "server): theirs below 0, ours −" in page
    )
    assert "holds for our sites too; with our server: does not hold for our sites." in page
    none = answer_claims(claims, {}, DataSets(None), LabHandshakes(Path("none")))
    assert "Again with" not in write_page(none, None)


def test_follow_up_of_an_unknown_claim_is_refused() -> None:
    with pytest.raises(ClaimsError, match="follow_ups: `X3` is no claim that loads answer"):
        parse_claims(TEXT.replace('claims = ["X1"]', 'claims = ["X3"]'), "x")


def test_runs_of_follow_ups_have_names_of_their_own() -> None:
    claims = read_claims("das-2014")
    assert claims.runs[:3] == list(claims.text.plans)
    assert claims.runs[3:] == ["das-2014+aioquic", "das-2014-cellular+aioquic"]

"""Answers to claims from runs, data sets and handshakes, and the page that has them."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from sample_claim import SITES
from synthetic_run import read_run

from eyelevel.base.errors import ProbeError
from eyelevel.plan.trials import Trial
from eyelevel.replication.answers import Answers, MeasuredRun, answer_claims
from eyelevel.replication.claims import Claims, parse_claims
from eyelevel.replication.data_sets import DataSets
from eyelevel.replication.lab_handshakes import FILE, LabHandshakes
from eyelevel.replication.page import Measured, write_page

PLAN = f"""sites = {json.dumps(SITES)}
networks = ["dsl"]
stacks = ["tcp", "tcp+", "quic"]
comparisons = [["quic", "tcp+"], ["tcp+", "tcp"]]
blocks = 3
"""
HEAD = """[text]
name = "x"
citation = "A. Author: X. 2020."
short = "Author 2020"
plans = ["wolsing-2019"]
notes = ["The cause was another."]
"""


def claims_of(*tables: str) -> Claims:
    common = 'place = "section 1"\nclaim = "It is so."\n'
    texts = [
        f'[[claims]]\nid = "X{number}"\n{common}{table}\n' for number, table in enumerate(tables, 1)
    ]
    return parse_claims(HEAD + "".join(texts), "x.toml")


STUDY = 'scope = "population"\nnetworks = ["dsl"]\n'
TABLES = (
    # The made-up loads have gains of -7.5 % (quic/tcp+) and -14 % (quic/tcp).
    STUDY + 'comparisons = ["quic/tcp+"]\nrule = "number"\nnumber = -0.09',
    STUDY + 'comparisons = ["quic/tcp+"]\nrule = "number"\nnumber = -0.5',
    STUDY + 'comparisons = ["tcp+/quic"]\nrule = "sign"\nsign = "negative"',
    STUDY + 'rule = "order"\nabsolute = true\nterms = [{ comparison = "quic/tcp+" }, '
    '{ comparison = "quic/tcp" }]',
    STUDY + 'comparisons = ["quic/tcp+"]\nrule = "sign"\nsign = "negative"\nblocks_min = 31',
    STUDY + 'comparisons = ["quic+bbr/tcp+"]\nrule = "sign"\nsign = "negative"',
    'scope = "lost"\nreason = "The number is missing."',
)
VERDICTS = (
    ("agrees", 1),
    ("disagrees", 1),
    ("disagrees", 1),
    ("agrees", 1),
    ("cannot tell", 1),
    ("not asked", 0),
    ("not asked", 0),
)


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Answers:
    results = read_run(tmp_path_factory.mktemp("run"), text=PLAN)
    runs = {"wolsing-2019": {"dsl": MeasuredRun(results)}}
    return answer_claims(claims_of(*TABLES), runs, DataSets(None), LabHandshakes(Path("none")))


def test_verdicts_on_a_run(found: Answers) -> None:
    assert tuple((each.verdict, len(each.rows)) for each in found.answers) == VERDICTS


def test_few_loads_cannot_tell_and_the_reason_is_stated(found: Answers) -> None:
    (row,) = found.answers[4].rows
    assert row.loads == 3
    assert row.found.reason == "it takes 31 loads of each, and there are 3"


def test_false_verdicts_are_expected_of_measured_claims_alone(found: Answers) -> None:
    assert len(found.measured) == 5
    assert found.false_verdicts_max == pytest.approx(0.25)


def test_json_has_every_claim_with_its_rows(found: Answers) -> None:
    document = json.loads(json.dumps(found.as_json()))
    assert (document["asked"], document["agrees"], document["disagrees"]) == (5, 2, 2)
    assert document["claims"][0]["rows"][0]["number"] == -0.09
    assert document["claims"][6]["reason"] == "The number is missing."


def test_page_has_verdicts_first_and_folds_the_rest(found: Answers) -> None:
    measured = Measured(36, 7200.0, ("wolsing-2019-dsl: 36 of 36 loads count", "Chromium 1"))
    page = write_page(found, measured)
    shown = page.split("<details>")[0]
    assert (
        "Of 7 claims in the text, 5 were measured: 2 agree, 2 disagree, 1 cannot be told." in page
    )
    assert "at most 0.25 of these 5 verdicts are false" in page
    assert "**X1** It is so. (section 1) | −9.0 % ± 3.0 % | −" in shown
    assert "holds for our sites too" in shown
    assert "The cause was another." in shown
    assert "**X5**" not in shown
    assert "| **X7** It is so. | section 1 | The number is missing. |" in page
    assert "Ours are of 36 loads that count, 2.0 hours of them." in page


def test_page_of_no_measurements_is_written(found: Answers) -> None:
    none = answer_claims(found.claims, {}, DataSets(None), LabHandshakes(Path("none")))
    assert "0 were measured" in write_page(none, None)


def attempt(block: int, protocol: str, connection_us: int, **fields: object) -> str:
    row = {
        "event": "attempt", "failure": None, "resumed": False, "probed_server": "ours",
        "protocol": protocol, "block": block, "connection_us": connection_us,
    }  # fmt: skip
    return json.dumps(row | fields)


def test_round_trips_are_saved_within_blocks(tmp_path: Path) -> None:
    about = {"about": {"network": {"rtt_ms_min": 100.0}}, "event": "servers"}
    rows = [json.dumps(about)]
    for block in range(4):
        rows += [
            attempt(block, "tls1.3", 202_000 + block),
            attempt(block, "quic", 101_000),
            attempt(block, "quic", 1_000, resumed=True),
        ]
    (tmp_path / FILE).write_text("\n".join(rows), encoding="utf-8")
    table = (
        'scope = "property"\nrule = "number"\nnumber = 1\nmargin = 0.1\nnetworks = ["ours", '
        '"caddy"]\nestimator = "handshake_round_trips_saved"\ncomparisons = ["quic/tls1.3"]'
    )
    lab = LabHandshakes(tmp_path / FILE)
    (answer,) = answer_claims(claims_of(table), {}, DataSets(None), lab).answers
    (row,) = answer.rows  # nothing was measured of caddy, so that the claim is open
    assert row.found.value == pytest.approx(1.01, abs=1e-3)
    assert (row.verdict, answer.verdict) == ("agrees", "cannot tell")


def test_damaged_handshakes_are_refused_by_line(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text('{"event": "servers"}\n', encoding="utf-8")
    with pytest.raises(ProbeError, match=rf"{FILE}:1: not a row"):
        LabHandshakes(tmp_path / FILE).has(claims_of(TABLES[0]).claims[0].rows[0])


THESIS = (
    "DnsLookupTime;TimeOfMeasurement;Url;Path;Ip;Port;ConnectionEstablishmentTime;HttpResponse;"
    "Protocol;TcpHandshakeTimeOptional\n"
)


def test_data_sets_are_paired_over_hosts(tmp_path: Path) -> None:
    rows = []
    for host in range(8):
        for minute in range(3):
            at = 1_530_000_000 + 60 * minute
            slower = 18 if host else 2
            for version, ms in (("TCP/TLS1.2", 40 + slower), ("TCP/TLS1.3", 40)):
                rows.append(f"1;{at};www.h{host}.com;/;192.0.2.{host};443;{ms};200;{version};0.01")
    (tmp_path / "set.csv").write_text(THESIS + "\n".join(rows) + "\n", encoding="utf-8")
    table = (
        'scope = "data"\ndata = ["set"]\ncomparisons = ["tls1.3/tls1.2"]\nrule = "number"\n'
        'estimator = "share_faster_by"\nleast_ms = 5\nnumber = 0.9\nmargin = 0.1'
    )
    count = 'scope = "data"\ndata = ["set"]\nrule = "number"\nestimator = "row_count"\nnumber = 48'
    data = DataSets(tmp_path)
    found = answer_claims(claims_of(table, count), {}, data, LabHandshakes(Path("none")))
    share, rows_found = (each.rows[0].found for each in found.answers)
    assert share.value == pytest.approx(7 / 8)
    assert rows_found.value == 48
    assert found.answers[1].verdict == "agrees"


def test_unfinished_run_has_no_verdict(tmp_path: Path) -> None:
    results = replace(read_run(tmp_path, text=PLAN), unfinished="30 of 54 loads are there")
    runs = {"wolsing-2019": {"dsl": MeasuredRun(results)}}
    found = answer_claims(claims_of(TABLES[0]), runs, DataSets(None), LabHandshakes(Path("none")))
    (answer,) = found.answers
    assert answer.verdict == "cannot tell"
    assert "the run is not finished: 30 of 54" in answer.rows[0].found.reason


def test_disturbed_blocks_are_left_out_and_most_of_them_withhold_the_run(tmp_path: Path) -> None:
    def run_with(name: str, disturbed: set[int]) -> MeasuredRun:
        def place(trial: Trial) -> tuple[dict[str, float], float]:
            return {"cpu_foreign_share": 0.5 if trial.repetition in disturbed else 0.0}, 1.0

        return MeasuredRun(read_run(tmp_path / name, text=PLAN, placed=place))

    assert run_with("none", set()).kept.height == 54
    # One repetition is left: the report has no answer, claims have one over sites.
    some = run_with("some", {1})
    assert some.kept.height == 36 and not some.withheld
    assert some.results.too_disturbed
    most = run_with("most", {1, 2})
    assert "the machine was too busy to answer" in most.withheld
    assert most.kept.height == 0

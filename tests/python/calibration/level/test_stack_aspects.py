from dataclasses import replace

from levels import DSL, settings

from eyelevel.calibration.level.aspects import ASPECTS
from eyelevel.calibration.level.rows import explain, read_known
from eyelevel.calibration.level.value_text import ITS_OWN, NOT_MEASURED
from eyelevel.plan.in_force import stack_in_force
from eyelevel.plan.stack_presets import STACKS, STACKS_BY_NAME
from eyelevel.plan.stacks import ExternalServer


def test_nothing_is_said_of_an_aspect_but_a_setting_or_a_measurement() -> None:
    rows = explain(settings("tcp+", "quic"))
    assert {row.kind for row in rows} == {"set", "measured"}
    assert {value for row in rows if row.kind == "measured" for value in row.values} == {
        NOT_MEASURED
    }
    assert all(aspect.says or aspect.measure for aspect in ASPECTS)


def of_handshake(first, second, word):
    row = {"aspect": "handshake", "scenario": "bulk on far", "word": word}
    level = {"first": "tcp+", "second": "quic", "rows": [{**row, "first": first, "second": second}]}
    names = ["tcp+", "quic"]
    rows = explain(settings(*names), read_known([level], names))
    (found,) = (row for row in rows if row.aspect == "handshake")
    return found


def test_what_was_measured_stands_with_its_unit_and_what_was_not_as_such() -> None:
    handshake = of_handshake(402.2, None, "unknown")
    assert handshake.values == ("402 ms", NOT_MEASURED)
    assert handshake.differs is None


def test_measured_values_differ_as_was_found_and_not_because_two_numbers_are_not_the_same() -> None:
    assert of_handshake(402.2, 403.9, "equal").differs is False
    assert of_handshake(402.2, 202.5, "inherent").differs is True
    assert of_handshake(402.2, 380.0, "unknown").differs is None


def test_of_a_pair_that_is_not_shown_nothing_is_said() -> None:
    row = {"aspect": "handshake", "scenario": "bulk on far", "word": "inherent"}
    level = {"first": "tcp", "second": "quic", "rows": [{**row, "first": 402.0, "second": 202.0}]}
    known = read_known([level], ["tcp+", "quic"])
    assert known.values == [{}, {}] and not known.findings


def test_settings_that_are_not_the_same_are_marked() -> None:
    found = {row.aspect: row for row in explain(settings("tcp", "tcp+")) if row.kind == "set"}
    assert found["initial window"].values == ("10 packets", "32 packets")
    assert found["initial window"].differs
    assert not found["congestion control"].differs


def test_cleartext_has_nothing_of_tls() -> None:
    rows = explain(settings("http1-plain"))
    found = {row.aspect: row.values for row in rows if row.kind == "set"}
    assert found["first usable byte"] == ("no TLS",)
    assert found["certificate names"] == ("none",)


def test_what_somebody_elses_server_decides_is_its_own() -> None:
    server = ExternalServer(("server",), ("h2", "h3"))
    own = [
        stack_in_force(replace(STACKS_BY_NAME[name], external_server=server), DSL)
        for name in ("tcp+", "quic")
    ]
    found = {row.aspect: row.values for row in explain(own) if row.kind == "set"}
    for aspect in ("unsent bytes", "head bytes down", "pacing", "scheduler", "congestion control"):
        assert found[aspect] == (ITS_OWN, ITS_OWN)
    # Of the kernel's what the stack says is in force.
    assert found["ECN bits"] == ("off", ITS_OWN)
    assert found["initial window"] == ("32 packets", ITS_OWN)
    assert "names HTTP/3, or does not" in found["time in the browser's scheduler"][1]


def test_every_preset_is_explained() -> None:
    rows = explain(settings(*[stack.name for stack in STACKS]))
    assert all(len(row.values) == len(STACKS) for row in rows)


def test_a_visit_is_a_setting_and_a_first_one_where_nothing_is_said() -> None:
    (own,) = settings("tcp+")
    found = [row for row in explain([own, replace(own, visit="warm")]) if row.differs]
    assert [(row.aspect, row.values) for row in found] == [
        ("visit", ("first", "warm: a second load, over open connections"))
    ]

from eyelevel.networks import NETWORKS_BY_NAME
from eyelevel.plan.explained import explain
from eyelevel.plan.stacks import STACKS, STACKS_BY_NAME, stack_settings

DSL = NETWORKS_BY_NAME["dsl"]


def rows(*names: str) -> dict[str, tuple[str, ...]]:
    found = explain([stack_settings(STACKS_BY_NAME[name], DSL) for name in names])
    return {row.aspect: row.values for row in found}


def test_tuned_tcp_and_quic_differ_in_nothing_that_is_ours_to_set() -> None:
    settings = [stack_settings(STACKS_BY_NAME[name], DSL) for name in ("tcp+", "quic")]
    differing = [row.aspect for row in explain(settings) if row.differs and row.kind == "equalised"]
    assert differing == []


def test_handshakes_take_the_round_trips_that_their_versions_need() -> None:
    found = rows("http1-plain", "tcp+tls1.2", "tcp+", "tcp+0rtt", "quic", "quic+0rtt")
    assert found["round trips to the first response"] == ("2", "4", "3", "3", "2", "2")
    early = "with early data"
    resumed = ("2", "3", "3", f"2, {early}", "2", f"1, {early}")
    assert found["the same on a repeat visit"] == resumed


def test_cleartext_has_nothing_of_tls() -> None:
    found = rows("http1-plain")
    aspects = ("cipher", "key share", "certificate chain", "certificate names", "protected at once")
    assert {found[aspect] for aspect in aspects} == {("none",)}


def test_every_preset_and_older_records_are_explained() -> None:
    assert all(len(values) == len(STACKS) for values in rows(*[s.name for s in STACKS]).values())
    new = ("tls_version", "priorities", "certificate_key", "coalescing", "think_time", "early_data")
    settings = stack_settings(STACKS_BY_NAME["tcp+"], DSL)
    old = {key: value for key, value in settings.items() if key not in new}
    assert [row.values for row in explain([old])] == [row.values for row in explain([settings])]


def test_a_visit_is_ours_to_set_and_a_first_one_where_nothing_is_said() -> None:
    settings = stack_settings(STACKS_BY_NAME["tcp+"], DSL)
    found = explain([settings, {**settings, "visit": "warm"}])
    assert [row.aspect for row in found if row.differs] == ["visit"]
    assert found[0].values == ("first", "warm: a second load, over open connections")

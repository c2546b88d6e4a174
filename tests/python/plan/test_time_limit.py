import pytest

from eyelevel.plan.file.parse import parse_plan
from eyelevel.plan.networks.presets import NETWORKS_BY_NAME
from eyelevel.plan.time_limit import Weight, load_s, tight_cells, time_limit_s
from eyelevel.plan.trials import Site, expand

TEXT = """\
sites = ["a", "b"]
networks = ["das-0.2-30", "dsl"]
stacks = ["tcp"]
reference = "tcp"
blocks = 1
"""
GALLERY_BYTES = 5.98e6


def limits_of(text, body_bytes):
    sites = [Site("a", "sha256:a", body_bytes), Site("b", "sha256:b", 20e3)]
    return {
        (trial.site, trial.network): trial.browser.timeout_s
        for trial in expand(parse_plan(text, "plan.toml"), sites)
    }


def test_a_load_may_take_twice_what_its_pages_bytes_need():
    # 5.98 MB at 0.2 Mbit/s are 239 s.
    slow = NETWORKS_BY_NAME["das-0.2-30"]
    assert load_s(GALLERY_BYTES, slow) == pytest.approx(239.2 + 12 * 0.03)
    assert time_limit_s(GALLERY_BYTES, slow) == 480
    assert time_limit_s(20e3, slow) == time_limit_s(GALLERY_BYTES, NETWORKS_BY_NAME["dsl"]) == 180


def test_where_packets_are_lost_the_limit_goes_by_what_a_connection_moves():
    # sqrt(3/2 / 0.0305) segments of 1448 bytes in 760 ms are 107 kbit/s.
    assert time_limit_s(GALLERY_BYTES, NETWORKS_BY_NAME["mss"]) == pytest.approx(900, abs=20)


def test_each_cell_has_the_limit_of_its_own_bytes_and_rate():
    found = limits_of(TEXT, GALLERY_BYTES)
    assert found == {
        ("a", "das-0.2-30"): 480,
        ("a", "dsl"): 180,
        ("b", "das-0.2-30"): 180,
        ("b", "dsl"): 180,
    }


def test_a_limit_that_the_plan_gives_is_the_limit_of_all():
    assert set(limits_of("timeout_s = 300\n" + TEXT, GALLERY_BYTES).values()) == {300}


def test_a_limit_that_does_not_change_leaves_hashes_as_they_are():
    slow, fast = (
        expand(parse_plan(TEXT, "plan.toml"), [Site("a", "sha256:a", size), Site("b", "sha256:b")])
        for size in (GALLERY_BYTES, 20e3)
    )
    changed = [one for one, other in zip(slow, fast, strict=True) if one.hash != other.hash]
    assert [(one.site, one.network) for one in changed] == [("a", "das-0.2-30")]


def test_cells_that_cannot_end_are_named_slowest_first():
    networks = [NETWORKS_BY_NAME[name] for name in ("das-0.3-30", "das-0.2-30", "das-1-30")]
    weights = [Weight("gallery", GALLERY_BYTES), Weight("plain", 20e3)]
    assert [each.network for each in tight_cells(150, weights, networks)] == [
        "das-0.2-30",
        "das-0.3-30",
    ]
    assert tight_cells(240, weights, networks) == []

from pathlib import Path

import pytest
from repository import ROOT

from eyelevel.base.errors import PlanError
from eyelevel.plan.file.parse import parse_plan
from eyelevel.plan.file.tables import Readers, TraceFile
from eyelevel.plan.networks.presets import find_recorded_pair
from eyelevel.plan.plan import StopRule
from eyelevel.plan.presets import PRESETS, preset_text
from eyelevel.plan.trials import Site, plan_document
from eyelevel.sites.recorded import list_shipped

GOOD = """\
sites = ["agency", "own/page.wacz"]
networks = ["dsl", {name = "lossy", base = "lte", loss_two_way = "6 %", rate_up_bit_s = "1 Mbit/s"}]
stacks = ["tcp", { name = "iw64", base = "tcp+", initial_window_packets = 64 }]
reference = "tcp"
blocks = 31
"""


def traces(read):
    return Readers(read, lambda text: pytest.fail("no stages here"), find_recorded_pair)


def refused(text, **known):
    with pytest.raises(PlanError) as caught:
        parse_plan(text, "plan.toml", **known)
    return caught.value.problems


def test_presets_are_overridden_key_by_key():
    plan = parse_plan(GOOD, "plan.toml", site_names=SHIPPED)
    lossy, iw64 = plan.networks[1], plan.stacks[1]
    assert lossy.rate_up_bit_s == 1_000_000 and lossy.rate_down_bit_s == 10_500_000
    assert lossy.loss_down == pytest.approx(0.030464, rel=1e-4)
    assert iw64.initial_window_packets == 64 and iw64.pacing and iw64.stack_preset == "tcp+"


@pytest.mark.parametrize(
    ("base", "version", "window"),
    [
        ("tcp+", "h3", None),
        ("tcp", "h3", None),
        ("quic", "h2", 15 * 2**20),
        ("quic", "h1", 15 * 2**20),
        ("tcp+", "h1", 15 * 2**20),
        ("tcp", "h1", None),
    ],
)
def test_over_another_transport_the_first_window_is_what_quic_has(base, version, window):
    changed = f'base = "{base}", http_version = "{version}"'
    plan = parse_plan(
        GOOD.replace('base = "tcp+", initial_window_packets = 64', changed), "plan.toml"
    )
    assert plan.stacks[1].receive_window_bytes == window


def test_a_given_window_holds_over_another_transport():
    changed = 'base = "quic", http_version = "h2", receive_window_bytes = "1 MiB"'
    given = GOOD.replace('base = "tcp+", initial_window_packets = 64', changed)
    assert parse_plan(given, "plan.toml").stacks[1].receive_window_bytes == 2**20
    over_quic = given.replace("quic", "tcp+").replace('"h2"', '"h3"')
    assert "is TCP's" in refused(over_quic)[0]


@pytest.mark.parametrize("said", ["0", '"0 B"'])
def test_tables_of_headers_may_be_none(said):
    changed = GOOD.replace("initial_window_packets = 64", f"header_table_bytes = {said}")
    (_, iw64) = parse_plan(changed, "plan.toml").stacks
    assert iw64.header_table_bytes == 0


def test_defaults_are_declared():
    plan = parse_plan(GOOD, "plan.toml")
    assert plan.seed == 1 and plan.primary_metric == "speed_index_ms"
    assert plan.browser.limit_s == 180 and plan.browser.capture


SHIPPED = list(list_shipped())


@pytest.mark.parametrize(
    "file", sorted(ROOT.glob("benchmarks/*/*.toml")), ids=lambda file: file.stem
)
def test_every_benchmarks_plan_is_a_plan(file: Path):
    assert parse_plan(file.read_text(), file.name, site_names=SHIPPED).blocks


def test_bare_loss_is_refused_with_what_to_write():
    problems = refused(GOOD.replace("loss_two_way", "loss"))
    assert len(problems) == 1 and problems[0].startswith("plan.toml:2: ")
    assert "loss_two_way" in problems[0] and "`loss_down` and `loss_up`" in problems[0]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("blocks =", "bloks =", "plan.toml:5: unknown key `bloks`; did you mean `blocks`?"),
        ("blocks =", "runs =", "plan.toml:5: unknown key `runs`; did you mean `blocks`?"),
        ("initial_window_packets = 64", "quic_packet_bytes = 1500", "equal to 1452"),
        ("initial_window_packets = 64", "header_table_bytes = 8192", "at most 4096"),
        ("initial_window_packets = 64", "header_table_bytes = -1", "greater than or equal to 0"),
        (
            "initial_window_packets = 64",
            'header_table_bytes = "1 MB"',
            "less than or equal to 65536",
        ),
        (
            "initial_window_packets = 64",
            'ecn = "maybe"',
            "plan.toml:3: `ecn`: Input should be 'off'",
        ),
        ("window_packets =", "windows =", "did you mean `initial_window_packets`?"),
        ("initial_window_packets = 64", "tcp_fast_open = true", "Chromium has none"),
        ('"dsl"', '"dls"', "plan.toml:2: unknown network `dls`; did you mean `dsl`?"),
        ('"dsl"', '"das-1-0"', "`das-1-0`: das-RATE-RTT takes a rate from 0.001 to 100000 Mbit/s"),
        ('["tcp",', '["tpc",', "plan.toml:3: unknown stack `tpc`; did you mean `tcp`?"),
        ('= "tcp"', '= "tcp+"', "plan.toml:4: unknown stack `tcp+`"),
        ('"agency"', '"agenci"', "plan.toml:1: unknown site `agenci`; did you mean `agency`?"),
        ("blocks = 31", "blocks = 0", "plan.toml:5: `blocks`"),
        ("blocks = 31", "blocks = true", "plan.toml:5: `blocks`"),
        ("6 %", "600 %", "plan.toml:2: `loss_two_way`"),
        (
            "6 %",
            "6 ms",
            "plan.toml:2: `loss_two_way`: `6 ms` is not a number with one of the units %",
        ),
        ("1 Mbit/s", "0 Mbit/s", "plan.toml:2: `rate_up_bit_s`"),
        (
            'name = "iw64", ',
            "",
            "plan.toml:3: a stack that differs from its preset needs its own `name`",
        ),
        ('"iw64"', '"tcp+"', "plan.toml:3: `tcp+` is the name of a preset"),
        ('name = "lossy", base = "lte", ', 'name = "x", ', "lacks rate_down_bit_s, rtt_ms_min"),
        ("31", "31\nprimary_metric = 'speed_idx_ms'", "did you mean `speed_index_ms`?"),
        ("31", "31\nprimary_metric = 'sii'", "unknown metric `sii`; did you mean `si`?"),
        (
            "31",
            "31\nprimary_metric = 'cls'",
            "plan.toml:6: `cumulative_layout_shift_score` decides",
        ),
        ("blocks = 31", "blocks = ", "plan.toml:5: not TOML"),
    ],
)
def test_a_mistake_is_named_with_its_line_and_the_way_out(old, new, expected):
    assert GOOD.count(old) == 1
    problems = refused(GOOD.replace(old, new), site_names=SHIPPED, metric_names=["speed_index_ms"])
    assert any(expected in problem for problem in problems), problems


def test_all_mistakes_are_reported_at_once():
    text = GOOD.replace('"dsl"', '"dls"').replace('"agency"', '"agenci"')
    assert len(refused(text, site_names=SHIPPED)) == 2


def test_mistakes_come_in_the_order_of_the_lines():
    wrong = GOOD.replace("reference =", "referense =").replace("31", "0") + "runs = 3\n"
    wrong = wrong.replace("loss_two_way", "los")
    lines = [int(problem.split(":")[1]) for problem in refused(wrong)]
    assert lines == [2, 4, 5, 6]


def test_two_stacks_of_one_stack_need_two_names():
    again = GOOD.replace('"tcp", {', '"tcp", "tcp", {')
    assert "used twice" in refused(again)[0]
    named = GOOD.replace('"tcp", {', '"tcp", { name = "tcp again", base = "tcp" }, {')
    assert [stack.name for stack in parse_plan(named, "plan.toml").stacks][1] == "tcp again"


def test_every_preset_is_a_plan():
    for preset in PRESETS:
        assert parse_plan(preset_text(preset.name, ["a", "b", "c"]), preset.name).title


def test_quickstart_takes_the_first_two_shipped_sites_or_the_given_ones():
    assert parse_plan(preset_text("quickstart", ["a", "b", "c"]), "x").sites == ("a", "b")
    assert parse_plan(preset_text("quickstart", ["a"], ["z.wacz"]), "x").sites == ("z.wacz",)
    with pytest.raises(PlanError, match="did you mean `quickstart`"):
        preset_text("quikstart", ["a"])


PATTERNS = """\
sites = ["a*", "b"]
networks = [
    "das-3-*",
    { base = "dsl", weight = 2 },
]
stacks = ["tcp", "quic"]
reference = "tcp"
blocks = 31
[stop]
blocks_min = 6
"""
NAMES = ("ab", "ac", "b")


def test_patterns_stand_for_what_they_match_each_once():
    plan = parse_plan(PATTERNS, "plan.toml", site_names=NAMES)
    assert plan.sites == ("ab", "ac", "b")
    assert [n.name for n in plan.networks[:2]] == ["das-3-30", "das-3-60"]
    assert plan.weights == {"dsl": 2.0} | {n.name: 1.0 for n in plan.networks[:10]}
    assert plan.stop == StopRule(6, True)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"a*"', '"x*"', "plan.toml:1: the pattern `x*` matches nothing"),
        (
            '"dsl", weight',
            '"dls", weight',
            "plan.toml:4: unknown network `dls`; did you mean `dsl`",
        ),
        ("weight = 2", "weigth = 2", "plan.toml:4: unknown key `weigth`; did you mean `weight`?"),
        ("blocks_min", "blocks_mim", "did you mean `blocks_min`"),
    ],
)
def test_messages_name_the_line_in_the_file_whatever_patterns_stand_for(old, new, message):
    with pytest.raises(PlanError) as caught:
        parse_plan(PATTERNS.replace(old, new), "plan.toml", site_names=NAMES)
    assert message in str(caught.value)


def test_what_a_plan_does_not_say_is_stated_as_nothing():
    text = PATTERNS.split("[stop]")[0].replace(", weight = 2", "")
    plan = parse_plan(text, "plan.toml", site_names=NAMES)
    document = plan_document(plan, [Site("ab", "sha256:1")], [])
    assert (document["stop"], document["weights"], document["causes"]) == (None, {}, None)


def test_the_small_scale_keeps_what_it_does_not_change():
    small = parse_plan(preset_text("das-2014", list("abcdef"), scale="small"), "das-2014")
    assert (len(small.sites), len(small.networks), small.blocks) == (4, 9, 2)
    assert small.primary_metric == "page_load_time_ms" and small.comparisons


TRACED = GOOD.replace('rate_up_bit_s = "1 Mbit/s"', 'trace_up = "up.trace"')


def test_a_trace_gives_the_rate_its_digest_is_hashed_and_its_place_is_not():
    reads = [
        parse_plan(
            TRACED, "plan.toml", readers=traces(lambda name, at=at: TraceFile(at, "ab12", 777))
        )
        for at in ("/here/up.trace", "/there/up.trace")
    ]
    lossy = reads[0].networks[1]
    assert lossy.rate_up_bit_s == 777 and lossy.settings()["trace_up_sha256"] == "ab12"
    assert reads[0].networks == reads[1].networks
    assert [plan.trace_files["ab12"] for plan in reads] == ["/here/up.trace", "/there/up.trace"]


def test_a_trace_that_cannot_be_read_is_named_with_its_line():
    def read(name):
        raise ValueError(f"{name}:3: 7 comes after 9")

    with pytest.raises(PlanError) as caught:
        parse_plan(TRACED, "plan.toml", readers=traces(read))
    assert caught.value.problems == ["plan.toml:2: up.trace:3: 7 comes after 9"]
    assert (
        "drop `rate_up_bit_s`"
        in refused(TRACED.replace("6 %", '6 %", rate_up_bit_s = "1 Mbit/s'))[0]
    )


def test_a_made_course_follows_a_rate_of_its_own():
    text = GOOD.replace('base = "lte"', 'base = "starlink"')
    network = parse_plan(text, "plan.toml").networks[1]
    assert network.synth_up.rate_bit_s_mean == network.rate_up_bit_s == 1_000_000
    assert network.synth_down.rate_bit_s_mean == 105_000_000


def test_synthetic_sites_are_checked_and_folders_stand_for_their_recordings():
    text = GOOD.replace('"agency"', '"synthetic:objects=3,origins=2", "corpora/"')
    found = parse_plan(text, "x", site_names=[], matching=lambda each: [each + "a.wacz"])
    assert found.sites[:2] == ("synthetic:objects=3,origins=2", "corpora/a.wacz")
    for wrong, expected in (
        ("synthetic:object=3", "did you mean `objects`?"),
        ("synthetic:objects=many", "`objects` is a whole number from 1 to 2000"),
        ("synthetic:origins=2", "more origins than objects"),
    ):
        assert expected in refused(GOOD.replace("agency", wrong))[0]


def test_the_cleartext_stack_of_das_is_in_both_of_his_presets():
    for name in ("das-2014", "das-2014-cellular"):
        stacks = [each.name for each in parse_plan(preset_text(name, ["a"]), name).stacks]
        assert stacks[0] == "http1-plain"


@pytest.mark.parametrize("name", ["das-2014", "das-2014-cellular", "das-2014-object"])
def test_the_quic_of_das_is_unpaced_and_of_its_time(name):
    stacks = parse_plan(preset_text(name, ["a"]), name).stacks
    of_das = [each for each in stacks if each.http_version == "h3"]
    assert "quic+das-2014" in [each.name for each in of_das]
    for each in of_das:
        tuning = (each.pacing, each.initial_window_packets, each.quic_packet_bytes)
        assert tuning == (False, 10, 1200), each.name

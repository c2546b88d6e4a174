"""The presets against the numbers of the texts that they are called after, each with its section.

Numbers are the texts', written out by hand, and never read from the product. What a text gives
twice and differently stands here with both.
"""

import inspect
import itertools
from dataclasses import replace
from typing import get_args

import pytest

from eyelevel.cli.probe.commands import app as probe_app
from eyelevel.plan.file.parse import parse_plan
from eyelevel.plan.networks.network import lab_path
from eyelevel.plan.networks.presets import find_network, link_of
from eyelevel.plan.presets import preset_text
from eyelevel.plan.stack_presets import STACKS_BY_NAME
from eyelevel.sites.corpora.pages import PUBLISHED_LISTS
from eyelevel.sites.synthetic.published import PUBLISHED, quantile

SHIPPED = ("plain",)


def plan(name):
    return parse_plan(preset_text(name, SHIPPED), name)


def networks(name):
    return {network.name: network for network in plan(name).networks}


# Wolsing et al. 2019, table 2 ("Network Settings", section 3.2): uplink, downlink in Mbit/s, delay
# in ms, loss. 3G is of slide 7 alone. Queues: slide 7; section 3.2 says 200 ms but for DSL.
WOLSING = {
    "dsl": (5, 25, 24, 0.0, 12),
    "lte": (2.8, 10.5, 74, 0.0, 200),
    "3g": (3.54, 3.54, 94, 0.00048, 200),
    "da2gc": (0.468, 0.468, 262, 0.033, 200),
    "mss": (1.89, 1.89, 760, 0.06, 200),  # the slides say 761 ms
}


@pytest.mark.parametrize("preset", ["wolsing-2019", "wolsing-2019-single-origin"])
def test_wolsing_networks_are_table_2s(preset):
    found = networks(preset)
    assert set(found) == set(WOLSING)
    for name, (up, down, rtt_ms, loss, queue_ms) in WOLSING.items():
        network = found[name]
        assert (network.rate_up_bit_s, network.rate_down_bit_s) == (up * 1e6, down * 1e6)
        assert (network.rtt_ms_min, network.queue_ms) == (rtt_ms, queue_ms)
        # Section 3.2: the chance that both of two packets arrive is 1 - loss; alike both ways.
        assert (1 - network.loss_down) * (1 - network.loss_up) == pytest.approx(1 - loss)
        assert network.loss_down == network.loss_up


# Wolsing et al. 2019, table 3, and slide "Subtracting Design Differences" for 3G: a difference in
# ms and in round trips, so that each row tells the round trip that they divided by.
TABLE_3 = {
    "dsl": ((-8.2, -0.341), (-3.1, -0.128)),
    "lte": ((-40, -0.538), (-30, -0.412), (-13, -0.175)),
    "3g": ((-32, -0.344), (-54, -0.570)),
    "da2gc": ((-130, -0.497), (-1384, -5.283), (39, 0.150), (-1005, -3.834)),
    "mss": ((-412, -0.542), (-1100, -1.447), (-529, -0.696), (451, 0.593)),
}


@pytest.mark.parametrize("name", TABLE_3)
def test_wolsing_round_trips_are_those_that_table_3_divides_by(name):
    rtt_ms = find_network(name).rtt_ms_min
    for ms, rtts in TABLE_3[name]:
        digits = 0.05 if ms != int(ms) else 0.5
        assert (abs(ms) - digits) / (abs(rtts) + 5e-4) <= rtt_ms
        # Table 3 rounds toward zero as often as to the nearest: the upper bound has a whole digit.
        assert rtt_ms <= (abs(ms) + 2 * digits) / (abs(rtts) - 5e-4)


def test_wolsing_stacks_are_table_1s():
    stacks = {stack.name: stack for stack in plan("wolsing-2019").stacks}
    # Table 1 and slide "Protocol settings": window, pacing, controller; HTTP/2 and TLS 1.3
    # (section 3.2); no slow start after idle where tuned; neither early data nor Fast Open.
    assert {
        name: (each.http_version, each.initial_window_packets, each.pacing, each.controller)
        for name, each in stacks.items()
    } == {
        "tcp": ("h2", 10, False, "cubic"),
        "tcp+": ("h2", 32, True, "cubic"),
        "tcp+bbr": ("h2", 32, True, "bbr"),
        "quic": ("h3", 32, True, "cubic"),
        "quic+bbr": ("h3", 32, True, "bbr"),
    }
    over_tcp = [stacks[name] for name in ("tcp", "tcp+", "tcp+bbr")]
    assert [each.slow_start_after_idle for each in over_tcp] == [True, False, False]
    assert [each.receive_window_bytes is None for each in over_tcp] == [True, False, False]
    assert {each.tls_version for each in stacks.values()} == {"1.3"}
    assert not any(each.early_data or each.visit for each in stacks.values())


def test_wolsing_study_has_its_sites_runs_and_configurations():
    # Section 3.2: 31 downloads of figure 2; slides and section 3.3 lost the runs of a setting.
    assert plan("wolsing-2019").blocks == plan("wolsing-2019-servers").blocks == 31
    # Section 3.3: 38 domains x 4 networks x 5 protocols = 760; 3G is of the slides alone.
    sites, study = PUBLISHED_LISTS["wolsing-2019"].count, plan("wolsing-2019")
    assert sites == 38 and len(study.stacks) == 5
    assert sites * (len(study.networks) - 1) * len(study.stacks) == 760
    # Section 4: the pairs whose gains the text gives.
    pairs = {(each.stack, each.reference) for each in study.comparisons}
    assert pairs == {
        ("quic", "tcp+"),
        ("tcp+", "tcp"),
        ("quic+bbr", "tcp+bbr"),
        ("quic+bbr", "quic"),
        ("tcp+bbr", "tcp+"),
    }


def test_wolsing_server_test_is_figure_2s():
    # Section 3.2, "Validation": 10 ms minimum delay, no loss, no bandwidth limit; 1 MB and 10 MB.
    servers = plan("wolsing-2019-servers")
    (network,) = servers.networks
    assert network.rtt_ms_min == 10 and network.loss_down == network.loss_up == 0
    assert network.rate_down_bit_s == network.rate_up_bit_s == 10**10
    assert {"synthetic:object_bytes=1000000", "synthetic:object_bytes=10000000"} <= set(
        servers.sites
    )
    assert [stack.name for stack in servers.stacks] == ["tcp+", "quic"]


# Das 2014, caption of figure 5-2. The axes of its maps say 2.9, 8.6 and 14.6 in the place of 3, 8
# and 14: even steps of the logarithm from 0.2 to 25, of which the caption is rounded. The presets
# are the caption's; das-8.6-30 is a network, too.
DAS_RATES = ("0.2", "0.3", "0.6", "1", "1.7", "3", "5", "8", "14", "25")
DAS_AXES = (0.2, 0.3, 0.6, 1.0, 1.7, 2.9, 5.0, 8.6, 14.6, 25.0)
DAS_RTTS = (30, 60, 90, 120, 150, 180, 210, 240, 270, 300)


def test_das_grid_is_figure_5_2s():
    cells = {f"das-{rate}-{rtt}": (float(rate), rtt)
             for rate, rtt in itertools.product(DAS_RATES, DAS_RTTS)}  # fmt: skip
    # Caption of figure 5-1: {1, 14, 24} Mbit/s x {30, 120, 300} ms.
    caption = {f"das-{rate}-{rtt}": (rate, rtt) for rate in (1, 14, 24) for rtt in (30, 120, 300)}
    found = networks("das-2014")
    assert set(found) == {*cells, *caption, "unshaped"} and len(cells) == 100  # section 4.5
    for name, (rate, rtt_ms) in (cells | caption).items():
        network = found[name]
        assert network.rate_down_bit_s == network.rate_up_bit_s == rate * 1e6
        assert network.rtt_ms_min == rtt_ms and network.loss_down == network.loss_up == 0
    for step, (axis, rate) in enumerate(zip(DAS_AXES, DAS_RATES, strict=True)):
        assert 0.2 * 125 ** (step / 9) == pytest.approx(axis, abs=0.06)
        assert find_network(f"das-{axis}-30").rate_down_bit_s == round(axis * 1e6)
        assert abs(float(rate) - axis) <= 0.6


def test_das_delay_is_half_each_way_and_his_buffer_one_bandwidth_delay_product():
    # Section 4.5: 1 Mbit/s with 150 ms is a one-way delay of 75 ms (DelayShell, section 4.1).
    path = lab_path(find_network("das-1-150"))
    delays = [stage["delay_ms"] for way in ("down", "up") for stage in path[way]
              if stage["stage"] == "delay"]  # fmt: skip
    assert delays == [75, 75]
    # Section 4.5: a finite buffer of one bandwidth-delay product. 1 Mbit/s x 150 ms = 18 750 bytes.
    (queue,) = [stage["queue"] for stage in path["down"] if stage["stage"] == "rate"]
    assert queue["limit_bytes"] == 18_750


def test_das_study_has_his_sites_and_load_times():
    study = plan("das-2014")
    # Section 4.3: 500 sites; section 5.1: 150,000 data points over three protocols.
    assert len(study.sites) == PUBLISHED_LISTS["das-2014"].count == 500
    pairs = {(each.stack, each.reference) for each in study.comparisons}
    protocols = {name for pair in pairs for name in pair}
    assert len(study.sites) * 100 * len(protocols) == 150_000
    # Figure 5-2: SPDY over HTTP, QUIC over HTTP, QUIC over SPDY; section 4.4: page load time.
    assert pairs == {
        ("tcp", "http1-plain"), ("quic+das-2014", "http1-plain"), ("quic+das-2014", "tcp"),
    }  # fmt: skip
    assert study.primary_metric == "page_load_time_ms"


def test_das_stacks_are_his():
    # Section 2.2.1: the default of Ubuntu 13.10, Cubic with an initial window of 10; section 3.2:
    # no working pacing; figure 4-3: HTTP without TLS.
    stacks = STACKS_BY_NAME
    for name in ("http1-plain", "tcp", "quic+das-2014", "quic+sprout"):
        assert stacks[name].initial_window_packets == 10 and not stacks[name].pacing
    for name in ("http1-plain", "tcp", "quic+das-2014"):
        assert stacks[name].controller == "cubic"
    assert stacks["http1-plain"].tls_version == "none"
    # Section 6.2: the controller that he wrote.
    assert stacks["quic+sprout"].congestion_control == "sprout_ewma"


# Das 2014, table 4.1: least, median and largest.
TABLE_4_1 = {
    "origins": (1, 22, 66),  # server addresses
    "objects": (2, 100, 680),
    "total_bytes": (15e3, 1.2e6, 51e6),
}


@pytest.mark.parametrize("name", TABLE_4_1)
def test_das_made_sites_are_drawn_from_table_4_1(name):
    points = getattr(PUBLISHED["das2014"], name)
    least, median, largest = TABLE_4_1[name]
    assert [quantile(points, share) for share in (0.001, 0.5, 0.999)] == pytest.approx(
        [least, median, largest]
    )
    assert PUBLISHED["das2014"].object_bytes_max == 43e6


# Das 2014, sections 6.1 and 6.3: mean rates up and down in Mbit/s.
DAS_CELLULAR = {"das-verizon": (9.1, 19.1), "das-att": (1.1, 6.7)}


def test_das_cellular_study_is_over_the_operators_links_with_their_fitted_courses():
    """`--traces` and `traces` take these, and none of the older names of the two links."""
    found = networks("das-2014-cellular")
    own = {"das-verizon": "verizon-lte", "das-att": "att-lte"}
    rtts = (30, 120, 300)
    assert set(found) == {
        find_network(f"{name}-{rtt}").name for name in own.values() for rtt in rtts
    }
    assert all(link_of(name) for name in found)
    for link, name in own.items():
        for rtt in rtts:
            older, fitted = find_network(f"{link}-{rtt}"), find_network(f"{name}-{rtt}")
            assert older.rate_down_bit_s == fitted.rate_down_bit_s
            assert older.rate_up_bit_s == fitted.rate_up_bit_s


def test_das_cellular_links_are_section_6_3s():
    # Figures 6-3 and 6-4: {30, 120, 300} ms.
    names = [f"{link}-{rtt}" for link in DAS_CELLULAR for rtt in (30, 120, 300)]
    for name in names:
        network = find_network(name)
        link, _, rtt = name.rpartition("-")
        assert (network.rate_up_bit_s, network.rate_down_bit_s) == tuple(
            round(rate * 1e6) for rate in DAS_CELLULAR[link]
        )
        assert network.rtt_ms_min == int(rtt) and network.varies
        # Section 6.1: these networks almost never drop packets.
        assert network.loss_down == network.loss_up == 0 and network.queue_ms >= 1000
    # Section 6.3: AT&T's bandwidth is 3 to 8 times lower.
    ratios = [one / other for one, other in zip(*DAS_CELLULAR.values(), strict=True)]
    assert [round(ratio) for ratio in ratios] == [8, 3]


@pytest.mark.parametrize("operator", ["verizon", "att", "tmobile", "sprint"])
@pytest.mark.parametrize("technology", ["3g", "lte"])
def test_the_four_operators_of_das_have_both_technologies(operator, technology):
    # Section 4.3: 3G and 4G traces for Verizon, AT&T, T-Mobile and Sprint.
    network = find_network(f"{operator}-{technology}")
    assert network.varies and network.rtt_ms_min == 120  # figure 6-1
    if (link := f"das-{operator}") in DAS_CELLULAR and technology == "lte":
        rates = (network.rate_up_bit_s / 1e6, network.rate_down_bit_s / 1e6)
        assert rates == DAS_CELLULAR[link]


def test_das_single_object_is_figure_4_3s():
    # Section 4.2.2: 8 MB over an infinite and a 14 Mbit/s link, both without delay.
    study = plan("das-2014-object")
    assert study.sites == ("synthetic:object_bytes=8000000",)
    rates = [network.rate_down_bit_s for network in study.networks]
    assert rates == [10**10, 14 * 10**6]
    assert {network.rtt_ms_min for network in study.networks} == {0}
    assert [stack.name for stack in study.stacks] == ["http1-plain", "http1", "quic+das-2014"]


def test_pacing_is_what_its_preset_compares_and_nothing_else():
    # Das 2014, section 7.2: evaluate packet pacing; Wolsing et al. 2019, section 3.2: QUIC and the
    # tuned TCP are paced.
    study = plan("packet-pacing")
    stacks = {stack.name: stack for stack in study.stacks}
    for asked in study.comparisons:
        paced, unpaced = stacks[asked.stack], stacks[asked.reference]
        assert (paced.pacing, unpaced.pacing) == (True, False)
        assert replace(unpaced, name=paced.name, pacing=True) == paced
    assert [each.stack for each in study.comparisons] == ["quic", "tcp+"]


def test_a_probe_gives_up_when_jaegers_did():
    # Jaeger 2018, section 3.1.1: a connection time-out of 30 seconds.
    (command,) = [each.callback for each in probe_app.registered_commands
                  if "timeout" in inspect.signature(each.callback).parameters][:1]  # fmt: skip
    parameter = inspect.signature(command).parameters["timeout"]
    assert get_args(parameter.annotation) and parameter.default == "30s"

import hashlib

import numpy as np
import pytest

from eyelevel.base.errors import TraceError
from eyelevel.plan.traces.info import trace_info
from eyelevel.plan.traces.mahimahi import format_mahimahi, mean_rate_bit_s, parse_mahimahi
from eyelevel.plan.traces.models import synthesise
from eyelevel.plan.traces.spec import SYNTH_MODELS, SynthSpec

# SHA-256 of the written traces: a change is a change of every network that has them, and wants a
# new SYNTH_VERSION.
PINNED = {
    "cellular": "37d33c3a823eea02",
    "satellite": "9664ad0e86ac543c",
    "wifi": "ee239d2a45b7cb6d",
}


@pytest.mark.parametrize("model", SYNTH_MODELS)
def test_the_numbers_are_pinned(model):
    text = format_mahimahi(synthesise(SynthSpec(model, 5_000_000, 20, seed=3)))
    assert hashlib.sha256(text.encode()).hexdigest()[:16] == PINNED[model]


@pytest.mark.parametrize("model", SYNTH_MODELS)
@pytest.mark.parametrize("rate_bit_s", [200_000, 3_333_333, 150_000_000])
def test_the_mean_rate_and_the_length_are_as_asked(model, rate_bit_s):
    trace = synthesise(SynthSpec(model, rate_bit_s, 30, seed=5))
    # Half an opportunity in 30 s, and a bit for the rounding of the mean.
    assert mean_rate_bit_s(trace) == pytest.approx(rate_bit_s, abs=201)
    assert trace[-1] == 30_000 and trace[0] >= 1
    assert parse_mahimahi(format_mahimahi(trace), "made").tolist() == trace.tolist()


@pytest.mark.parametrize("model", SYNTH_MODELS)
def test_another_seed_gives_another_trace(model):
    one, other = (synthesise(SynthSpec(model, 2_000_000, 10, seed)) for seed in (1, 2))
    assert not np.array_equal(one, other)


def test_a_cellular_course_has_outages_and_leaves_them():
    shares = [
        trace_info(synthesise(SynthSpec("cellular", 5_000_000, 300, seed))).outage_share
        for seed in range(5)
    ]
    # The recordings of LTE and UMTS that it stands for: 1 % to 11 %.
    assert 0.01 < np.mean(shares) < 0.2


def test_a_satellite_course_changes_between_intervals_more_than_within():
    trace = synthesise(SynthSpec("satellite", 50_000_000, 300, seed=1))
    # Where intervals begin is random: tell them by the changes from one second to the next.
    rates = np.bincount((trace - 1) // 1000)
    jumps = np.abs(np.diff(np.log(rates)))
    assert np.sort(jumps)[-10:].mean() > 5 * np.median(jumps)


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        (SynthSpec("lte", 1_000_000, 10, 1), "no model `lte`"),
        (SynthSpec("wifi", 1_000_000, 0, 1), "0 s"),
        (SynthSpec("wifi", 10, 1, 1), "0 opportunities"),
        (SynthSpec("wifi", 1_000_000, 10, 1, version=99), "version 99"),
    ],
)
def test_senseless_settings_are_refused(spec, expected):
    with pytest.raises(TraceError, match=expected):
        synthesise(spec)

import numpy as np
import pytest

from eyelevel.analysis.stats.binomial import binomial_interval
from eyelevel.calibration.validation.path import busy_rate_bit_s, longest_wait_ms


def test_the_longest_wait_counts_whole_packets_and_the_one_in_transmission():
    # 100 ms at 10 Mbit/s are 125 000 bytes: 83 packets of 1500, and one on the link; 1.2 ms each.
    assert longest_wait_ms(10_000_000, 100, 1500) == pytest.approx(84 * 1.2)


def test_a_senders_pause_is_not_the_links():
    ms = 1_000_000
    # One packet a millisecond is 12 Mbit/s; after the fifth the sender stands still for a second.
    received = np.array([10, 11, 12, 13, 14, 1014, 1015, 1016, 1017]) * ms
    sent = received - np.array([5, 5, 5, 5, 5, 1, 5, 5, 5]) * ms
    assert busy_rate_bit_s(sent, received, 1500, 12_000_000) == pytest.approx(12e6)
    assert busy_rate_bit_s(received, received, 1500, 12_000_000) == 0.0


def test_the_binomial_interval_is_clopper_and_pearsons():
    # Their own table's corner: none of 10 at 95 % gives 0 to 1 - 0.025^(1/10).
    assert binomial_interval(0, 10, 0.95) == pytest.approx((0.0, 1 - 0.025**0.1))
    assert binomial_interval(10, 10, 0.95) == pytest.approx((0.025**0.1, 1.0))
    low, high = binomial_interval(5, 10, 0.95)
    assert (low, high) == pytest.approx((0.1871, 0.8129), abs=1e-4)

import pytest
from sample_record import sample_record

from eyelevel.analysis.trials.waits import downlink_of, measures_of

NAVIGATION_NS = 5_000_000_000


def a_record(received, inside, *, start_ms=100.0, interval_ms=10, load_ms=200.0):
    record = sample_record(page_load_time_ms=load_ms)
    record["browser"] = {"navigation_start_ns": NAVIGATION_NS}
    record["trial"]["network_settings"]["rate_down_bit_s"] = 1_000_000
    record["path"] = {
        "down": {
            "timeline": {
                "start_ns": NAVIGATION_NS + round(start_ms * 1e6),
                "interval_ms": interval_ms,
                "released_bytes": received,
                "inside_bytes_max": inside,
            }
        }
    }
    return record


def test_silences_and_bytes_on_their_way_are_those_of_the_load_alone():
    # A packet on its way from 100 ms, received at 120; two from 150, at 160 and 170; then the load
    # event at 200, and what comes after it is not the load's.
    received = [0, 0, 1500, 0, 0, 0, 1000, 500, 0, 0, 9000]
    inside = [1500, 1500, 1500, 0, 0, 1500, 1500, 500, 0, 0, 9000]
    gap_ms, empty, used, most = measures_of(a_record(received, inside))
    assert gap_ms == 30
    assert empty == pytest.approx((100 + 20 + 20) / 200)
    assert used == pytest.approx(3000 * 8 / (1e6 * 0.2))
    assert most == 1500


def test_what_is_empty_has_its_ends_in_the_loads_own_time():
    found = downlink_of(a_record([0, 100, 0, 100], [100, 100, 0, 100], load_ms=170.0))
    assert found.empty() == [(0, 100), (120, 130), (140, 170)]
    # What began before the navigation counts from it on.
    found = downlink_of(a_record([100] * 10, [100] * 10, start_ms=-25.0))
    assert found.start_ms[0] == -5 and found.empty() == [(75, 200)]


def test_no_timeline_no_load_or_shared_path_is_no_measure():
    none = (None,) * 4
    assert measures_of(sample_record()) == none
    assert measures_of(sample_record(outcome="timeout")) == none
    record = a_record([100], [100])
    assert measures_of(record | {"navigation": None}) == none
    assert measures_of(record | {"cross_traffic": {"flows": []}}) == none
    assert measures_of(a_record([100], [100], start_ms=300.0)) == none

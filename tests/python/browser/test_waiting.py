"""When a load ends, in virtual time."""

from eyelevel.browser.waiting import QuietRule


def rule() -> QuietRule:
    return QuietRule(navigated_s=100.0, timeout_s=180.0, quiet_s=1.0, cap_s=10.0)


def test_without_a_load_event_only_the_timeout_ends_it():
    waiting = rule()
    assert waiting.verdict(279.9, requests_open=False) == "loading"
    assert waiting.next_deadline(requests_open=False) == 280.0
    assert waiting.verdict(280.0, requests_open=False) == "timeout"


def test_a_quiet_second_after_the_load_event_ends_it():
    quiet = rule()
    quiet.handle_load_event(103.0)
    assert quiet.verdict(103.9, requests_open=False) == "loading"
    assert quiet.next_deadline(requests_open=False) == 104.0
    assert quiet.verdict(104.0, requests_open=False) == "complete"


def test_activity_prolongs_it():
    busy = rule()
    busy.handle_load_event(103.0)
    busy.handle_activity(103.8)
    assert busy.verdict(104.5, requests_open=False) == "loading"
    assert busy.verdict(104.8, requests_open=False) == "complete"


def test_a_request_under_way_holds_it_back_to_the_cap():
    waiting = rule()
    waiting.handle_load_event(103.0)
    assert waiting.verdict(112.9, requests_open=True) == "loading"
    assert waiting.next_deadline(requests_open=True) == 113.0
    assert waiting.verdict(113.0, requests_open=True) == "capped"


def test_endless_painting_ends_at_the_cap():
    moving = rule()
    moving.handle_load_event(103.0)
    for tenth in range(1, 200):
        moving.handle_activity(103.0 + tenth / 10)
    assert moving.next_deadline(requests_open=False) == 113.0
    assert moving.verdict(113.0, requests_open=False) == "capped"


def test_a_new_document_waits_for_its_own_load_event():
    redirected = rule()
    redirected.handle_load_event(101.0)
    redirected.handle_new_document(101.5)
    assert redirected.verdict(150.0, requests_open=False) == "loading"
    redirected.handle_load_event(150.0)
    assert redirected.verdict(151.0, requests_open=False) == "complete"


def test_activity_out_of_order_does_not_turn_time_back():
    late = rule()
    late.handle_load_event(103.0)
    late.handle_activity(103.9)
    late.handle_activity(103.2)
    assert late.verdict(104.8, requests_open=False) == "loading"

from eyelevel.run.study.loop import PEEK_TIME_SHARE_MAX, PeekBudget


def test_looking_keeps_to_its_share_of_the_time():
    clock, taken_s = [100.0], 0.25

    def look():
        clock[0] += taken_s
        return "seen"

    peeks = PeekBudget(look, lambda: clock[0])
    assert peeks.may_peek(clock[0])
    assert peeks.peek() == "seen"
    seen_s = clock[0]
    assert not peeks.may_peek(seen_s + 0.9 * taken_s / PEEK_TIME_SHARE_MAX)
    assert peeks.may_peek(seen_s + taken_s / PEEK_TIME_SHARE_MAX)

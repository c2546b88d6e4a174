from eyelevel.run.study.looks import LOOKING_SHARE_MAX, Looks


def test_looking_keeps_to_its_share_of_the_time():
    clock, taken_s = [100.0], 0.25

    def look():
        clock[0] += taken_s
        return "seen"

    looks = Looks(look, lambda: clock[0])
    assert looks.may_look(clock[0])
    assert looks.look() == "seen"
    seen_s = clock[0]
    assert not looks.may_look(seen_s + 0.9 * taken_s / LOOKING_SHARE_MAX)
    assert looks.may_look(seen_s + taken_s / LOOKING_SHARE_MAX)

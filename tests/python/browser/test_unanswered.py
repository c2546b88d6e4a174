from eyelevel.browser.unanswered import Unanswered


class Rule:
    """What a step's rule hears."""

    def __init__(self):
        self.heard = 0

    def handle_activity(self, now_s):
        self.heard += 1


def test_an_answer_is_activity_of_its_own_step_alone():
    inputs, failed, first, second = Unanswered(), [], Rule(), Rule()
    inputs.begin_step(first)
    early, late = (inputs.sent(failed.append, lambda reply: reply.get("wrong")) for _ in range(2))
    early({})
    assert (inputs.count, first.heard, failed) == (1, 1, [])
    inputs.begin_step(second)
    answered = inputs.sent(failed.append, lambda reply: reply.get("wrong"))
    late({"wrong": "of the step before"})
    assert (inputs.count, first.heard, second.heard, failed) == (1, 1, 0, [])
    answered({"wrong": "no such element"})
    assert (inputs.count, second.heard, failed) == (0, 1, ["no such element"])

"""Blocks to slots: no trial is lost, doubled or split, and what is decided depends on records."""

import heapq
import random
from collections import Counter

import pytest

from eyelevel.plan.file.parse import parse_plan
from eyelevel.plan.trials import Site, expand
from eyelevel.run.study.dispatch import LOSSES_MAX, Dispatch, StopDecision

PLAN = """sites = ["a", "b"]
networks = ["dsl", "lte"]
stacks = ["tcp", "quic", "tcp+"]
reference = "tcp"
blocks = 5
"""
TRIALS = expand(parse_plan(PLAN, "plan"), [Site("a", "sha256:a"), Site("b", "sha256:b")])
BY_HASH = {trial.hash: trial for trial in TRIALS}
BLOCKS = list(dict.fromkeys(trial.block for trial in TRIALS))
SCHEDULES = 10_000
ENDS = {"dsl": 2, "lte": 3}
"""What the made-up rule decides, each at the prefix of that length."""


def decided_at(closed):
    """Depends on the closed prefix alone, as `analysis.decisions` does."""
    return StopDecision({network: end for network, end in ENDS.items() if end <= closed})


def hashes(block):
    return [trial.hash for trial in block.trials]


class Schedule:
    """One run under seeded joins, losses, late and double answers, interrupts and client deaths."""

    def __init__(self, seed, slots_max=8):
        self.draw = random.Random(seed)
        self.slots_max = slots_max
        self.committed = []  # in the order of commits
        self.failed = set()
        self.names = iter(range(10**9))
        self.losses = Counter()

    def run(self):
        while not self.client():
            pass
        return self

    def client(self):
        """One life of the client; whether the run is done at its end."""
        dispatch = Dispatch(TRIALS, self.committed, lambda _: 5.0)
        on, late, seen, now_s = {}, [], -1, 0.0
        for _ in range(10_000):
            if seen < dispatch.closed:
                assert all(
                    trial.hash in self.committed or decided_at(seen).is_over(trial)
                    for trial in TRIALS
                    if trial.repetition <= dispatch.closed
                )
                for at in range(max(seen, 0), dispatch.closed + 1):  # each prefix, in its order
                    dispatch.end_networks(decided_at(at))
                seen = dispatch.closed
                continue
            for slot, block in dispatch.starts(now_s):
                assert slot not in on and not any(hash in self.committed for hash in hashes(block))
                others = {hash for each in on.values() for hash in hashes(each)}
                assert not others & set(hashes(block)), "a block is on two slots"
                on[slot] = block
            if dispatch.is_done:
                return not dispatch.starts(now_s)
            assert not any(s for s in dispatch.overdue(now_s) if s not in on)
            now_s += self.draw.random()
            event = self.draw.choices(
                ["join", "come", "lose", "late", "twice", "death", "interrupt", "retire", "hang"],
                [2, 8, 1, 2, 1, 0.05, 0.02, 0.05, 0.3],
            )[0]
            if event == "join" or not dispatch._machines:
                if len(on) < self.slots_max:
                    name = f"slot {next(self.names)}"
                    dispatch.join(name, f"machine {self.draw.randrange(3)}")
            elif event == "death":
                return False
            elif event == "interrupt":
                dispatch.interrupt()
                for slot in list(on):
                    self.commit(dispatch.take_results(slot, hashes(on.pop(slot))))
                assert dispatch.is_done and not dispatch.starts(now_s)
                return False  # somebody resumes it
            elif event == "retire":
                dispatch.retire(self.draw.choice(list(dispatch._machines)))
            elif event == "late" and late:
                slot, block = late.pop(self.draw.randrange(len(late)))
                self.commit(dispatch.take_results(slot, hashes(block), is_last=False))
            elif event == "twice" and self.committed:
                again = self.draw.sample(self.committed, 1)
                assert dispatch.take_results("who was here once", again, is_last=False) == []
            elif on:
                slot = self.draw.choice(list(on))
                if event == "hang":
                    now_s += 5.0
                    assert set(dispatch.overdue(now_s)) == set(on)
                    event = "lose"
                block = on.pop(slot)
                if event == "lose":
                    late.append((slot, block))
                    given_up = dispatch.lose(slot)
                    if given_up:
                        assert len(given_up.machines) == LOSSES_MAX
                        self.failed |= {trial.hash for trial in given_up.trials}
                        self.commit(given_up.trials)
                else:
                    self.commit(dispatch.take_results(slot, hashes(block)))
        raise AssertionError("it does not end")

    def commit(self, trials):
        new = [trial.hash for trial in trials]
        assert not set(new) & set(self.committed), "committed twice"
        self.committed += new


def counted(committed):
    return {hash for hash in committed if not StopDecision(ENDS).is_over(BY_HASH[hash])}


ALONE = counted(trial.hash for trial in TRIALS)


@pytest.mark.parametrize("part", range(4))
def test_no_trial_is_lost_doubled_or_split_whatever_happens(part):
    given_up, beyond = 0, 0
    for seed in range(part, SCHEDULES, 4):
        schedule = Schedule(seed).run()
        assert counted(schedule.committed) == ALONE
        # A block is committed whole: all of its stacks stand together.
        of_blocks = [BY_HASH[hash].block for hash in schedule.committed]
        runs = [block for n, block in enumerate(of_blocks) if n == 0 or of_blocks[n - 1] != block]
        assert len(runs) == len(set(runs))
        given_up += len(schedule.failed)
        beyond += len(schedule.committed) - len(ALONE)
    assert given_up and beyond, "no schedule came to what is tested"


@pytest.mark.parametrize("slots", [1, 4, 64])
def test_the_stop_is_the_same_for_any_number_of_slots(slots):
    dispatch, ended, seen = Dispatch(TRIALS), [], -1
    for number in range(slots):
        dispatch.join(f"slot {number}")
    draw, on, done = random.Random(slots), {}, []
    while True:
        while seen < dispatch.closed:
            seen += 1
            dispatch.end_networks(decided_at(seen))
            ended.append(decided_at(seen).networks)
        on |= dict(dispatch.starts(0.0))
        if dispatch.is_done:
            break
        slot = draw.choice(list(on))
        done += [trial.hash for trial in dispatch.take_results(slot, hashes(on.pop(slot)))]
    assert ended == [decided_at(closed).networks for closed in range(6)]
    assert counted(done) == ALONE and len(done) == len(set(done))


def test_blocks_begin_in_the_plans_order_as_many_as_there_are_slots():
    dispatch = Dispatch(TRIALS)
    for slot in "abc":
        dispatch.join(slot)
    started = dispatch.starts(0.0)
    assert [(slot, block.trials[0].block) for slot, block in started] == list(
        zip("abc", BLOCKS[:3], strict=True)
    )
    assert dispatch.starts(1.0) == []
    assert [trial.position for trial in started[0][1].trials] == [1, 2, 3]
    dispatch.take_results("b", hashes(started[1][1]))
    [(slot, block)] = dispatch.starts(2.0)
    assert (slot, block.trials[0].block) == ("b", BLOCKS[3])


def test_what_is_lost_is_begun_again_before_what_comes_later():
    dispatch = Dispatch(TRIALS)
    dispatch.join("a")
    dispatch.join("b")
    (_, first), _ = dispatch.starts(0.0)
    assert dispatch.lose("a") is None
    dispatch.join("c")
    [(slot, block)] = dispatch.starts(1.0)
    assert slot == "c" and block == first


def test_what_was_committed_of_a_block_is_not_run_again():
    dispatch = Dispatch(TRIALS, [TRIALS[0].hash])
    dispatch.join("a")
    [(_, block)] = dispatch.starts(0.0)
    assert hashes(block) == [trial.hash for trial in TRIALS[1:3]]
    assert dispatch.take_results("a", [TRIALS[1].hash], is_last=False) == [TRIALS[1]]
    assert dispatch.lose("a") is None
    dispatch.join("b")
    [(_, block)] = dispatch.starts(0.0)
    assert hashes(block) == [TRIALS[2].hash]


def test_a_lost_block_goes_to_another_machine_while_one_is_there_that_has_not_lost_it():
    dispatch = Dispatch(TRIALS)
    dispatch.join("odd", "a")
    dispatch.join("sound", "b")
    first, second = (block for _, block in dispatch.starts(0.0))
    dispatch.lose("odd", why="its disk is full")
    dispatch.join("odd again", "a")
    [(_, taken)] = dispatch.starts(1.0)
    assert (first.number, second.number, taken.number) == (0, 1, 2), "it waits for the sound one"
    dispatch.take_results("sound", hashes(second))
    assert [(slot, block.number) for slot, block in dispatch.starts(2.0)] == [("sound", 0)]
    dispatch.lose("sound")  # now both have lost it
    dispatch.take_results("odd again", hashes(taken))
    assert [(slot, block.number) for slot, block in dispatch.starts(3.0)] == [("odd again", 0)]


def test_a_machine_that_fails_whatever_it_gets_costs_no_block():
    """Its slots fail in a fifth of a block's time and are back after half of one."""
    dispatch = Dispatch(expand(parse_plan(PLAN.replace("5", "50"), "plan"), [Site("a", "a")]))
    events, names = [], iter(range(10**9))

    for machine in "aabbccxx":
        dispatch.join(f"{machine} {next(names)}", machine)
    now_s, done, given_up = 0.0, 0, []
    while not dispatch.is_done:
        for slot, block in dispatch.starts(now_s):
            took_s = 2.0 if slot.startswith("x") else 10.0
            heapq.heappush(events, (now_s + took_s, slot, block))
        now_s, slot, block = heapq.heappop(events)
        if block is None:
            dispatch.join(slot, "x")
        elif slot.startswith("x"):
            given_up.append(dispatch.lose(slot, why="its disk is full"))
            heapq.heappush(events, (now_s + 5.0, f"x {next(names)}", None))
        else:
            done += len(dispatch.take_results(slot, hashes(block)))
    assert not any(given_up) and done == 2 * 50 * 3


def test_a_machine_alone_takes_what_it_lost_again_and_so_it_does_beside_one_that_is_retired():
    dispatch = Dispatch(TRIALS)
    dispatch.join("retired", "b")
    dispatch.retire("retired")
    for attempt in ("first", "second"):
        dispatch.join(attempt, "a")
        assert [block.number for _, block in dispatch.starts(0.0)] == [0]
        dispatch.lose(attempt)


def test_the_third_loss_gives_a_block_up_and_names_the_machines():
    dispatch = Dispatch(TRIALS)
    for number in range(LOSSES_MAX):
        dispatch.join(str(number), f"machine {number}")
        [(_, block)] = dispatch.starts(0.0)
        given_up = dispatch.lose(str(number))
        assert (given_up is None) == (number < LOSSES_MAX - 1)
    assert given_up.trials == block.trials
    assert given_up.machines == ("machine 0", "machine 1", "machine 2")
    assert dispatch.take_results("2", hashes(block), is_last=False) == []  # too late


def test_a_slot_that_hangs_is_told_by_its_blocks_limit():
    dispatch = Dispatch(TRIALS, limits_s=lambda block: 10.0 * len(block.trials))
    dispatch.join("a")
    dispatch.starts(5.0)
    assert dispatch.overdue(35.0) == [] and dispatch.overdue(35.1) == ["a"]


def test_a_retired_slot_ends_its_block_and_takes_no_other():
    dispatch = Dispatch(TRIALS)
    dispatch.join("a")
    [(_, block)] = dispatch.starts(0.0)
    dispatch.retire("a")
    assert len(dispatch.take_results("a", hashes(block))) == 3
    assert dispatch.starts(1.0) == [] and not dispatch.is_done

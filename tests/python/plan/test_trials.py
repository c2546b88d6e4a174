from collections import Counter
from dataclasses import replace
from itertools import groupby

import pytest
from sample_record import sample_record

from eyelevel.base.errors import PlanError
from eyelevel.plan.file.parse import parse_plan
from eyelevel.plan.trials import Site, expand, plan_document
from eyelevel.store.commit import write_trial
from eyelevel.store.directory import read_trial
from eyelevel.store.schema import hash_of_key

PLAN = parse_plan(
    """\
sites = ["a", "b"]
networks = ["dsl", "lte"]
stacks = ["tcp", "tcp+", "quic"]
reference = "tcp"
blocks = 40
seed = 7
""",
    "plan.toml",
)
SITES = [Site("a", "sha256:a"), Site("b", "sha256:b")]
TRIALS = expand(PLAN, SITES)


def test_blocks_are_complete_and_contiguous():
    blocks = [
        (name, [t.stack for t in group]) for name, group in groupby(TRIALS, lambda t: t.block)
    ]
    assert len(blocks) == len({name for name, _ in blocks}) == 2 * 2 * 40
    assert all(sorted(stacks) == ["quic", "tcp", "tcp+"] for _, stacks in blocks)


def test_repetition_is_the_outermost_loop():
    repetitions = [trial.repetition for trial in TRIALS]
    assert repetitions == sorted(repetitions)


def test_every_stack_comes_equally_often_at_every_position():
    counts = Counter((trial.stack, trial.position) for trial in TRIALS)
    # Binomial(160, 1/3): mean 53, standard deviation 6; the seed is fixed, so this cannot flicker.
    assert len(counts) == 9 and all(35 <= count <= 71 for count in counts.values())


def test_identities_and_seeds_are_unique():
    assert len({trial.hash for trial in TRIALS}) == len(TRIALS)
    assert len({trial.seed for trial in TRIALS}) == len(TRIALS)


def test_expanding_twice_gives_the_same():
    assert expand(PLAN, SITES) == TRIALS


def test_the_order_is_pinned():
    first = TRIALS[0]
    assert (first.block, first.stack, first.seed) == ("a/dsl/1", "tcp+", 7798280850546104620)
    changed = "settings changed the identity: if that is meant, take its new hash here"
    assert first.hash == "f431008147944cd3ce32", changed


def test_another_seed_gives_another_order():
    other = expand(replace(PLAN, seed=8), SITES)
    assert [t.stack for t in other] != [t.stack for t in TRIALS]
    assert not {t.hash for t in other} & {t.hash for t in TRIALS}


def test_a_grown_study_keeps_its_trials():
    smaller = expand(replace(PLAN, blocks=3, stacks=PLAN.stacks[:2]), SITES[:1])
    assert {trial.hash for trial in smaller} <= {trial.hash for trial in TRIALS}


def test_the_same_stack_under_two_names_makes_two_trials():
    again = replace(PLAN.stacks[0], name="tcp again")
    trials = expand(replace(PLAN, stacks=(PLAN.stacks[0], again), blocks=1), SITES)
    assert len({trial.hash for trial in trials}) == 8


def test_one_recording_under_two_names_is_refused():
    with pytest.raises(PlanError, match="same recording"):
        expand(PLAN, [Site("a", "sha256:a"), Site("b", "sha256:a")])


def test_a_trial_carries_the_labs_configuration():
    trial = next(t for t in TRIALS if t.stack == "tcp+" and t.network == "lte")
    assert trial.lab_path()["down"][0] == {"stage": "delay", "delay_ms": 37}
    assert trial.lab_stack()["name"] == "tcp+"
    assert trial.lab_stack()["receive_window_bytes"] == 15 * 2**20


def test_a_trials_record_is_accepted_by_the_store(tmp_path):
    trial = TRIALS[0]
    assert all(hash_of_key(each.record_key()) == each.hash for each in TRIALS)
    assert write_trial(tmp_path, sample_record() | {"trial": trial.record_key()})
    assert read_trial(tmp_path, trial.hash).record["trial"] == trial.record_key()


def test_the_plan_document_lists_all_trials_and_has_its_own_hash():
    document = plan_document(PLAN, SITES, TRIALS)
    assert [each["hash"] for each in document["trials"]] == [trial.hash for trial in TRIALS]
    assert document["hash"] != plan_document(replace(PLAN, seed=8), SITES, [])["hash"]
    assert document["source"] == PLAN.source


def test_what_is_as_usual_has_one_identity_whether_said_or_not():
    stacks = tuple(replace(stack, visit="first") for stack in PLAN.stacks)
    assert [t.hash for t in expand(replace(PLAN, stacks=stacks), SITES)] == [t.hash for t in TRIALS]
    assert all(t.browser.visit == t.stack_settings.visit == "first" for t in TRIALS)

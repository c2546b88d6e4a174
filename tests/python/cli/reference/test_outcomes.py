from eyelevel.store.outcomes import OUTCOMES, OUTCOMES_BY_NAME


def test_names_are_unique():
    assert len(OUTCOMES_BY_NAME) == len(OUTCOMES)


def test_only_the_instruments_failures_exclude_a_load():
    """Late packets do not: a stack that loads slowly has more of them, and would lose its worst."""
    for outcome in OUTCOMES:
        counts = outcome.fault != "instrument" or outcome.name == "late-packets"
        assert outcome.excludes_load != counts, outcome.name


def test_a_timeout_is_a_result():
    assert OUTCOMES_BY_NAME["timeout"].fault == "result"

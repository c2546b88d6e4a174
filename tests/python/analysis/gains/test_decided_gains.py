"""What stands beside a gain that may have been decided early."""

from synthetic_study import SyntheticStudy


def test_beside_a_sequence_nothing_has_an_interval_that_does_not_allow_for_looks(tmp_path):
    study = SyntheticStudy()
    assert study.run(tmp_path).stopped
    results = study.results(tmp_path)
    primary = [gain for gain in results.gains if gain.metric == results.primary_metric]
    assert len(primary) == 2 and all(gain.gain.low is not None for gain in primary)
    for gain in primary:
        for beside in (gain.median, gain.difference, gain.ratio_of_means):
            assert beside.value is not None and (beside.low, beside.high, beside.p) == (None,) * 3
            assert "could stop at any block" in beside.reason

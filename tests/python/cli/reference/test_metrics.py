from eyelevel.analysis.metrics.catalogue import METRICS, METRICS_BY_NAME


def test_names_are_unique_and_end_with_their_unit():
    assert len(METRICS_BY_NAME) == len(METRICS)
    for metric in METRICS:
        assert metric.name.endswith(f"_{metric.unit}"), metric.name

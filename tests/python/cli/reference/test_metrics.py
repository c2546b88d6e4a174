from repository import ROOT

from eyelevel.analysis.metrics.catalogue import METRICS, METRICS_BY_NAME
from eyelevel.cli.reference.metrics import reference_page


def test_the_reference_page_is_the_table():
    written = (ROOT / "docs/reference/metrics.md").read_text(encoding="utf-8")
    assert written == reference_page(), "run: python -m eyelevel.cli.reference.metrics"


def test_names_are_unique_and_end_with_their_unit():
    assert len(METRICS_BY_NAME) == len(METRICS)
    for metric in METRICS:
        assert metric.name.endswith(f"_{metric.unit}"), metric.name

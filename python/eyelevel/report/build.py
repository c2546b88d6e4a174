"""Build the report of a run from its directory."""

import os
from pathlib import Path

from eyelevel.analysis.study import Contents, read_contents
from eyelevel.analysis.trials.table import MetricsOf
from eyelevel.metrics.compute import metrics_of
from eyelevel.report.page import page

REPORT_FILE = "report.html"


def build_report(directory: Path, metrics: MetricsOf = metrics_of, processes: int = 1) -> Path:
    """Write `DIR/report.html` from the plan, environment and records in `directory`; its path.

    Metrics are computed from the raw records by `eyelevel.metrics`, or by `metrics`. The same
    directory gives the same page, byte for byte. Raises StoreError, naming the file, for a missing
    or damaged one; an older report is then left as it was.
    """
    return write_report(directory, read_contents(directory, metrics, processes))


def write_report(directory: Path, contents: Contents) -> Path:
    """Write the page of a run that has been read; its path."""
    text = page(contents)
    target = directory / REPORT_FILE
    temporary = directory / f".{REPORT_FILE}.{os.getpid()}"
    try:
        temporary.write_text(text, encoding="utf-8")
        temporary.rename(target)
    finally:
        temporary.unlink(missing_ok=True)
    return target

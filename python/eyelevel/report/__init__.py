"""The report page, built from a directory of records alone."""

from eyelevel.report.build import REPORT_FILE, build_report

__all__ = ["REPORT_FILE", "build_report"]

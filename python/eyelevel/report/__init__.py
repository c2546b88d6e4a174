"""The report page, built from a directory of records alone."""

from eyelevel.report.build import REPORT_FILE, build_report, write_report
from eyelevel.report.contents import Contents, read_contents
from eyelevel.report.summary import summary_of

__all__ = [
    "REPORT_FILE",
    "Contents",
    "build_report",
    "read_contents",
    "summary_of",
    "write_report",
]

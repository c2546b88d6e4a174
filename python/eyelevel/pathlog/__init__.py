"""Logs of emulated paths, ours and Mahimahi's, as one shape; pure, bytes and arrays only."""

from eyelevel.pathlog.direction import DirectionLog
from eyelevel.pathlog.errors import PathLogError
from eyelevel.pathlog.read import read_log
from eyelevel.pathlog.series import Series, series_of
from eyelevel.pathlog.summary import DirectionSummary, summarise

__all__ = [
    "DirectionLog",
    "DirectionSummary",
    "PathLogError",
    "Series",
    "read_log",
    "series_of",
    "summarise",
]

"""A recorded load in the formats of other tools: computed from its record, never kept."""

from eyelevel.export.filmstrip import write_filmstrip
from eyelevel.export.har import har_of
from eyelevel.export.video import ExportError, write_video

__all__ = ["ExportError", "har_of", "write_filmstrip", "write_video"]

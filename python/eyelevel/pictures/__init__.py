"""Bring pictures from files into memory."""

from eyelevel.pictures.video import VideoError, read_video

__all__ = ["VideoError", "read_video"]

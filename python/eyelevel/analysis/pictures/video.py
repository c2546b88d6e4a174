"""Read a video's page as thumbnails, by ffmpeg.

Images, their sizes and their times come from decoded frames: the file's own metadata may be changed
by an edit list or a rotation, or absent.
"""

from __future__ import annotations

import math
import os
import re
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Self

import numpy as np

from eyelevel.analysis.metrics.video import (
    THUMBNAIL_PX,
    VIEWPORT_PX_MIN,
    Recorded,
    Viewport,
    find_viewport,
    is_orange,
)
from eyelevel.analysis.metrics.visual import Picture
from eyelevel.base.errors import VideoError

READ_TIMEOUT_S = 600.0
"""The time limit of one run of ffmpeg, which decodes far faster than the video plays."""

VIEWPORT_FRAMES_MAX = 60
"""The number of first frames that are searched for the page: some videos begin with another one."""

_NEAR_DUPLICATES = "mpdecimate=0:64:640:0.001"
"""The filter of near-duplicates, as in Browsertime: a frame counts if a block of 8 x 8 pixels
differs by 64 in all."""
_EXACT_DUPLICATES = "mpdecimate=0:0:0:0"
_SHOWN = re.compile(
    r"^\[Parsed_showinfo_(\d+) @ [^]]*\] n: *\d+ pts: *-?\d+ pts_time: *(-?[\d.]+)", re.MULTILINE
)
_ANDROID = "com.android.version"
"""A tag that phones write into their recordings."""
_HEADER = re.compile(rb"P6\n(\d+) (\d+)\n255\n")
_LINE_BYTES_MAX = 32


def read_video(path: Path, cropped: bool = True) -> Recorded:
    """Return thumbnails of the page in a video, in one pass with their times.

    Without `cropped` the whole image counts as the page, and only frames that equal the preceding
    one are left out. Raises `VideoError` if ffmpeg is missing or cannot read the file, or if no
    part of the image may be a page.
    """
    if not path.is_file():
        raise VideoError(f"reading {path}: there is no such file; check its name")
    path = path.absolute()  # so that a name that begins with a dash is no option
    page, whole, is_mobile = _page_in(path, cropped)
    factor = f"min({THUMBNAIL_PX}/iw\\,{THUMBNAIL_PX}/ih)"
    filters = [
        "showinfo",
        f"crop={page.width}:{page.height}:{page.x}:{page.y}",
        f"scale=max(1\\,iw*{factor}):max(1\\,ih*{factor})",
        _NEAR_DUPLICATES if cropped else _EXACT_DUPLICATES,
        "showinfo",
    ]
    with _Decoder(path, ["-vf", ",".join(filters)]) as decoder:
        pictures = list(decoder.pictures())
        output = decoder.wait()
    all_ms, kept_ms = (_times_ms(output, place) for place in (0, len(filters) - 1))
    if len(pictures) != len(kept_ms) or not pictures:
        raise VideoError(
            f"reading {path}: {len(kept_ms)} frames have a time, {len(pictures)} a picture; the "
            "file is damaged, record it again"
        )
    frames = list(zip(kept_ms, pictures, strict=True))
    return Recorded(frames, max(all_ms), page != whole, is_mobile)


def _page_in(path: Path, cropped: bool) -> tuple[Viewport, Viewport, bool]:
    """Return the page's rectangle, that of the whole image, and whether a phone recorded it."""
    with _Decoder(path, ["-frames:v", str(VIEWPORT_FRAMES_MAX if cropped else 1)]) as decoder:
        whole, is_orange_whole, is_mobile = None, False, False
        for picture in decoder.pictures():
            height, width, _ = picture.shape
            if whole is None:
                whole, is_mobile = Viewport(0, 0, width, height), _ANDROID in decoder.read_output()
            if not cropped or not whole.is_plausible:
                return whole, whole, is_mobile
            page = find_viewport(picture, is_mobile)
            if page.is_plausible:
                return page, whole, is_mobile
            is_orange_whole |= is_orange(picture)
        if whole is None:
            raise decoder.refusal()
    if is_orange_whole:  # something covers the middle of every frame
        return whole, whole, is_mobile
    raise VideoError(
        f"finding the page in {path}: around the middle of the first {VIEWPORT_FRAMES_MAX} frames "
        f"nothing over {VIEWPORT_PX_MIN} x {VIEWPORT_PX_MIN} pixels has one colour, nor is any "
        "orange; record it as Browsertime does, or give --convention eyelevel, which takes the "
        "whole picture for the page"
    )


def _times_ms(output: str, place: int) -> list[int]:
    """Return the display times that the filter at this place printed, in whole milliseconds."""
    matches = (found for found in _SHOWN.finditer(output) if int(found[1]) == place)
    return [math.floor(float(found[2]) * 1000) for found in matches]


class _Decoder:
    """One run of ffmpeg that writes images; it is killed if they are not read to the end."""

    def __init__(self, path: Path, arguments: list[str]) -> None:
        self._path = path
        self._arguments = ["-i", str(path), *arguments, "-fps_mode", "passthrough"]

    def __enter__(self) -> Self:
        # ffmpeg prints more than a pipe can hold, and its output is read only at the end.
        self._stderr = tempfile.TemporaryFile()
        command = ["ffmpeg", "-v", "info", "-nostats", "-nostdin", *self._arguments]
        command += ["-f", "image2pipe", "-c:v", "ppm", "-pix_fmt", "rgb24", "-"]
        try:
            self._process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=self._stderr)
        except FileNotFoundError as error:
            self._stderr.close()
            raise VideoError(
                f"reading {self._path}: ffmpeg is missing; install it (Debian: apt-get install "
                "ffmpeg)"
            ) from error
        self._watch = threading.Timer(READ_TIMEOUT_S, self._process.kill)
        self._watch.daemon = True
        self._watch.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._watch.cancel()
        self._process.kill()
        self._process.wait()
        assert self._process.stdout is not None
        self._process.stdout.close()
        self._stderr.close()

    def pictures(self) -> Iterator[Picture]:
        """Yield the image of each frame, height x width x 3, in the size that was decoded."""
        stream = self._process.stdout
        assert stream is not None
        while head := b"".join(stream.readline(_LINE_BYTES_MAX) for _ in range(3)):
            size = _HEADER.fullmatch(head)
            width, height = (int(size[1]), int(size[2])) if size else (0, 0)
            content = stream.read(width * height * 3)
            if not content or len(content) < width * height * 3:
                raise self.refusal()
            yield np.frombuffer(content, np.uint8).reshape(height, width, 3)

    def read_output(self) -> str:
        """Return the output of ffmpeg so far."""
        size = os.fstat(self._stderr.fileno()).st_size
        return os.pread(self._stderr.fileno(), size, 0).decode(errors="replace")

    def wait(self) -> str:
        """Wait for ffmpeg and return its output. Raises VideoError if it failed."""
        if self._process.wait() != 0:
            raise self.refusal()
        return self.read_output()

    def refusal(self) -> VideoError:
        """Return the error with ffmpeg's own reason, from another run that prints errors only."""
        if not self._watch.is_alive():
            return VideoError(
                f"reading {self._path}: ffmpeg did not end; the file is damaged, record it again"
            )
        command = ["ffmpeg", "-v", "error", "-nostdin", *self._arguments, "-f", "null", "-"]
        done = subprocess.run(command, capture_output=True, timeout=READ_TIMEOUT_S, check=False)
        lines = done.stderr.decode(errors="replace").strip().split("\n")
        reason = lines[-1].removeprefix(f"{self._path}: ")
        if not reason or "does not contain any stream" in reason:
            return VideoError(f"reading {self._path}: no video in it; give a recorded video")
        return VideoError(f"reading {self._path}: {reason}; give a whole video file")

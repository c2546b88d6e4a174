"""Read a video's page as thumbnails, by ffmpeg."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from eyelevel.errors import VideoError
from eyelevel.metrics.video import THUMBNAIL_WIDTH_PX, Viewport, find_viewport
from eyelevel.metrics.visual.history import Picture

READ_TIMEOUT_S = 600.0
"""For one run of ffmpeg; it decodes far faster than the video plays."""


def read_video(path: Path, cropped: bool = True) -> tuple[Iterator[tuple[float, Picture]], bool]:
    """Frames `(at_ms, thumbnail)` of the page in a video and whether the page fills the picture.

    Without `cropped` the whole picture is taken for the page. Raises `VideoError` if ffmpeg is
    missing or cannot read the file.
    """
    if not path.is_file():
        raise VideoError(f"reading {path}: there is no such file; check its name")
    path = path.absolute()  # so that a name that begins with a dash is no option
    width, height, times_ms = _describe(path)
    whole = viewport = Viewport(0, 0, width, height)
    if cropped:
        viewport = find_viewport(_decode(path, ["-frames:v", "1"], width, height)[0])
    thumbnail_height = max(1, round(viewport.height * THUMBNAIL_WIDTH_PX / viewport.width))
    scale = f"scale={THUMBNAIL_WIDTH_PX}:{thumbnail_height}"
    crop = f"crop={viewport.width}:{viewport.height}:{viewport.x}:{viewport.y}"
    arguments = ["-vf", f"{crop},{scale}", "-fps_mode", "passthrough"]
    thumbnails = _decode(path, arguments, THUMBNAIL_WIDTH_PX, thumbnail_height)
    if len(thumbnails) != len(times_ms):
        raise VideoError(
            f"reading {path}: {len(times_ms)} frames announced, {len(thumbnails)} decoded; "
            "the file is damaged, record it again"
        )
    return zip(times_ms, thumbnails, strict=True), viewport == whole


def _describe(path: Path) -> tuple[int, int, list[float]]:
    """Width, height and display times of the frames from the first one's."""
    entries = "stream=width,height:packet=pts_time"
    command = ["ffprobe", "-v", "error", "-select_streams", "v:0", "-of", "json"]
    described = json.loads(_run([*command, "-show_entries", entries, str(path)], path))
    if not described.get("streams") or not described.get("packets"):
        raise VideoError(f"reading {path}: no video in it; give a recorded video")
    stream = described["streams"][0]
    times_s = sorted(float(packet["pts_time"]) for packet in described["packets"])
    return stream["width"], stream["height"], [(at_s - times_s[0]) * 1e3 for at_s in times_s]


def _decode(path: Path, arguments: list[str], width: int, height: int) -> Picture:
    """frames x height x width x 3."""
    command = ["ffmpeg", "-v", "error", "-nostdin", "-i", str(path), *arguments]
    raw = _run([*command, "-f", "rawvideo", "-pix_fmt", "rgb24", "-"], path)
    frame_bytes = width * height * 3
    if not raw or len(raw) % frame_bytes:
        raise VideoError(f"reading {path}: ffmpeg gave no whole frames; give a whole file")
    return np.frombuffer(raw, np.uint8).reshape(-1, height, width, 3)


def _run(command: list[str], path: Path) -> bytes:
    try:
        process = subprocess.run(command, capture_output=True, timeout=READ_TIMEOUT_S, check=False)
    except FileNotFoundError as error:
        raise VideoError(
            f"reading {path}: {command[0]} is missing; install it (Debian: apt-get install ffmpeg)"
        ) from error
    except subprocess.TimeoutExpired as error:
        raise VideoError(
            f"reading {path}: {command[0]} did not end; it is damaged, record it again"
        ) from error
    if process.returncode != 0:
        last_line = process.stderr.decode(errors="replace").strip().split("\n")[-1]
        reason = last_line.removeprefix(f"{path}: ")
        raise VideoError(f"reading {path}: {reason}; give a whole video file")
    return process.stdout

"""A load's frames as an mp4 with the time drawn in, for people to watch.

Analysis never reads it: it is compressed with loss, the frames in the store are not.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

from eyelevel.errors import ExpectedError
from eyelevel.export.caption import captioned, seconds
from eyelevel.store.frames import Frame, Frames

FRAMES_PER_S = 60
"""As many as the compositor makes at most; a frame is shown within 17 ms of its moment."""

STILL_MS = 500.0
"""How long the last frame stays."""

VIDEO_S_MAX = 300.0
"""A load ends after 180 s at the latest; more is a damaged record."""


class ExportError(ExpectedError):
    """A load could not be written in another tool's format."""


def write_video(frames: Frames, label: str, path: Path) -> None:
    """Write the mp4, whole or not at all.

    Raises `ExportError` if ffmpeg is missing or fails, or there are no frames.
    """
    if not frames.at_ms:
        raise ExportError(f"writing {path}: the load has no frames; was it captured?")
    end_ms = frames.at_ms[-1] + STILL_MS
    if end_ms > VIDEO_S_MAX * 1e3:
        raise ExportError(f"writing {path}: the last frame is at {seconds(frames.at_ms[-1])}")
    count = int(end_ms * FRAMES_PER_S / 1e3) + 1
    times_ms = [number * 1e3 / FRAMES_PER_S for number in range(count)]
    shown = frames.at(times_ms)
    first = captioned(shown[0], shown[0].picture.shape[1], label, seconds(0))
    temporary = path.with_name(f".{path.name}")
    command = ["ffmpeg", "-v", "error", "-nostdin", "-y", "-f", "rawvideo", "-pix_fmt", "rgb24"]
    command += ["-s", f"{first.width}x{first.height}", "-r", str(FRAMES_PER_S), "-i", "-"]
    command += ["-c:v", "libx264", "-preset", "fast", "-crf", "18", "-pix_fmt", "yuv420p"]
    command += ["-movflags", "+faststart", "-f", "mp4", str(temporary)]
    try:
        with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as encoder:
            said = _feed(encoder, shown, times_ms, label)
        if encoder.returncode != 0:
            raise ExportError(f"writing {path}: ffmpeg says {said or encoder.returncode}")
        temporary.rename(path)
    except FileNotFoundError as error:
        raise ExportError(
            f"writing {path}: ffmpeg is missing; install it (Debian: apt-get install ffmpeg)"
        ) from error
    finally:
        temporary.unlink(missing_ok=True)


def _feed(
    encoder: subprocess.Popen[bytes], shown: list[Frame], times_ms: list[float], label: str
) -> str:
    """Give it the pictures one by one; what it said last."""
    assert encoder.stdin is not None and encoder.stderr is not None
    try:
        for frame, at_ms in zip(shown, times_ms, strict=True):
            picture = captioned(frame, frame.picture.shape[1], label, seconds(at_ms))
            encoder.stdin.write(picture.tobytes())
        encoder.stdin.close()
    except BrokenPipeError:
        pass  # it says why
    return encoder.stderr.read().decode(errors="replace").strip().split("\n")[-1]

"""A load's frames for viewers: an mp4, an image per change, and a filmstrip of even times.

Each image has a caption with its load and time. Analysis never reads these: the video's compression
is lossy, the frames in the store are lossless.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

from eyelevel.base.errors import ExportError
from eyelevel.store.disk import whole_file
from eyelevel.store.frames import Frame, Frames

FRAMES_PER_S = 60
"""The compositor's highest rate; a frame is shown within 17 ms of its time."""

STILL_MS = 500.0
"""The time for which the last frame is shown."""

VIDEO_S_MAX = 300.0
"""The longest video: a load ends after 180 s at the latest, so that more is a damaged record."""

PICTURES_MAX = 12
PICTURE_WIDTH_PX = 240
GAP_PX = 6
GAP_COLOUR = (128, 132, 140)  # separates white pages
STEPS_MS = (50.0, 100.0, 200.0, 250.0, 500.0, 1000.0, 2000.0, 2500.0, 5000.0, 10_000.0, 20_000.0)
STRIP = "strip.png"

LINE_PX = 28
TEXT_PX = 16
BACKGROUND, FOREGROUND = (24, 28, 36), (240, 242, 246)


def write_video(frames: Frames, label: str, path: Path) -> None:
    """Write the mp4 atomically.

    Raises `ExportError` if ffmpeg is missing or fails, or there are no frames.
    """
    if not frames.at_ms:
        raise ExportError(
            f"writing {path}: the load has no frames; load it with its pictures captured"
        )
    end_ms = frames.at_ms[-1] + STILL_MS
    if end_ms > VIDEO_S_MAX * 1e3:
        raise ExportError(
            f"writing {path}: the last frame is at {format_seconds(frames.at_ms[-1])}, after "
            f"{VIDEO_S_MAX:g} s; use --filmstrip"
        )
    count = int(end_ms * FRAMES_PER_S / 1e3) + 1
    times_ms = [number * 1e3 / FRAMES_PER_S for number in range(count)]
    drawn = frames.at(times_ms)
    first = add_caption(drawn[0], drawn[0].picture.shape[1], label, format_seconds(0))
    command = ["ffmpeg", "-v", "error", "-nostdin", "-y", "-f", "rawvideo", "-pix_fmt", "rgb24"]
    command += ["-s", f"{first.width}x{first.height}", "-r", str(FRAMES_PER_S), "-i", "-"]
    command += ["-c:v", "libx264", "-preset", "fast", "-crf", "18", "-pix_fmt", "yuv420p"]
    command += ["-movflags", "+faststart", "-f", "mp4"]
    try:
        with (
            whole_file(path) as stream,
            subprocess.Popen(
                [*command, stream.name], stdin=subprocess.PIPE, stderr=subprocess.PIPE
            ) as encoder,
        ):
            last_line = _feed(encoder, drawn, times_ms, label)
            if encoder.wait() != 0:
                raise ExportError(
                    f"writing {path}: ffmpeg says {last_line or encoder.returncode}; check that "
                    "there is room"
                )
    except FileNotFoundError as error:
        if error.filename != command[0]:
            raise
        raise ExportError(
            f"writing {path}: ffmpeg is missing; install it (Debian: apt-get install ffmpeg)"
        ) from error


def write_filmstrip(frames: Frames, label: str, directory: Path) -> None:
    """Write `MILLISECONDS.png` for each frame and `strip.png`; create the folder.

    Raises `ExportError` for a load without frames.
    """
    if not frames.at_ms:
        raise ExportError(
            f"writing {directory}: the load has no frames; load it with its pictures captured"
        )
    directory.mkdir(parents=True, exist_ok=True)
    for frame in frames:
        name = f"{round(frame.at_ms):06d}.png"
        Image.fromarray(frame.picture).save(directory / name, optimize=True)
    times_ms = strip_times_ms(frames.at_ms[-1])
    pictures = [
        add_caption(frame, PICTURE_WIDTH_PX, label if number == 0 else "", format_seconds(at_ms))
        for number, (frame, at_ms) in enumerate(zip(frames.at(times_ms), times_ms, strict=True))
    ]
    width = len(pictures) * (PICTURE_WIDTH_PX + GAP_PX) - GAP_PX
    strip = Image.new("RGB", (width, pictures[0].height), GAP_COLOUR)
    for number, picture in enumerate(pictures):
        strip.paste(picture, (number * (PICTURE_WIDTH_PX + GAP_PX), 0))
    strip.save(directory / STRIP, optimize=True)


def strip_times_ms(end_ms: float) -> list[float]:
    """Return even times of a round step from 0, at most 12, the last at or after the end."""
    step_ms = next((step for step in STEPS_MS if step * (PICTURES_MAX - 1) >= end_ms), STEPS_MS[-1])
    count = min(PICTURES_MAX, -int(-end_ms // step_ms) + 1)
    return [step_ms * number for number in range(count)]


def add_caption(frame: Frame, width_px: int, left: str, right: str) -> Image.Image:
    """Return the frame scaled to a width with a caption below; both sides are even, for codecs."""
    picture = Image.fromarray(frame.picture)
    width_px -= width_px % 2
    height_px = round(picture.height * width_px / picture.width)
    height_px += height_px % 2
    sheet = Image.new("RGB", (width_px, height_px + LINE_PX), BACKGROUND)
    sheet.paste(picture.resize((width_px, height_px), Image.Resampling.LANCZOS))
    draw = ImageDraw.Draw(sheet)
    font = ImageFont.load_default(TEXT_PX)
    middle = height_px + LINE_PX // 2
    draw.text((8, middle), left, FOREGROUND, font, anchor="lm")
    draw.text((width_px - 8, middle), right, FOREGROUND, font, anchor="rm")
    return sheet


def format_seconds(at_ms: float) -> str:
    """Format a time in seconds: `1.52 s`."""
    return f"{at_ms / 1e3:.2f} s"


def _feed(
    encoder: subprocess.Popen[bytes], drawn: list[Frame], times_ms: list[float], label: str
) -> str:
    """Write the images to the encoder, and return the last line of its messages."""
    assert encoder.stdin is not None and encoder.stderr is not None
    try:
        for frame, at_ms in zip(drawn, times_ms, strict=True):
            picture = add_caption(frame, frame.picture.shape[1], label, format_seconds(at_ms))
            encoder.stdin.write(picture.tobytes())
        encoder.stdin.close()
    except BrokenPipeError:
        pass  # its messages have the reason
    return encoder.stderr.read().decode(errors="replace").strip().split("\n")[-1]

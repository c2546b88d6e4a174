"""Capture frames of a browser that provides none: an Xvfb, recorded by ffmpeg.

The recording has 30 frames per second: 60 took a third of a core on the reference machine and
slowed pages down (docs/decisions/0007-frame-capture.md). A change is therefore seen up to 33 ms
after it was displayed; docs/decisions/0012-firefox.md has the effect on the metrics.
"""

from __future__ import annotations

import io
import os
import secrets
import select
import shutil
import struct
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from eyelevel.base.errors import BrowserStartError
from eyelevel.browser.observations import Frame
from eyelevel.browser.processes import ProcessSession, move_high

PICTURES_PER_S = 30
COOKIE_BYTES = 16
FAMILY_WILD = 0xFFFF
SCREEN_AUTHORITY = "screen.authority"
START_TIMEOUT_S = 10.0
STOP_TIMEOUT_S = 15.0
END_TIMEOUT_S = 2.0
ENDS_WITH_US = ("setpriv", "--pdeathsig", "TERM", "--")
"""Command prefix (util-linux) that ends a program with this process: the screen runs outside
the lab.
"""

Picture = NDArray[np.uint8]


class Screen:
    """An X server and its recording; both exist for the duration of a `with` block.

    It runs outside the lab, so that X servers see which display numbers are taken. Its socket is a
    file, reachable from any network namespace. X also listens on an abstract socket, which every
    user of the machine can reach, so access needs the cookie in `authority`.
    """

    def __init__(
        self, folder: Path, size_px: tuple[int, int], cores: Sequence[int] | None = None
    ) -> None:
        """Prepare the screen.

        `cores` limits the X server and ffmpeg to some CPU cores, None to none.
        """
        self._folder = folder
        self._held_to = (
            () if cores is None else ("taskset", "--cpu-list", ",".join(map(str, cores)))
        )
        self._size_px = size_px
        self.display = ""
        self.authority = _authority(secrets.token_bytes(COOKIE_BYTES))
        """Xauthority entry (Xau(7)) with the cookie that clients need in order to draw or
        capture.
        """
        self.ended_ms = 0.0
        """Time of the recording's last frame, milliseconds of wall time."""
        self._server: ProcessSession | None = None
        self._camera: ProcessSession | None = None
        self._stdin_fd = -1
        self._was_camera_suspended = False

    def __enter__(self) -> Screen:
        if shutil.which("Xvfb") is None:
            raise _missing("Xvfb", "xvfb")
        read_end, write_end = map(move_high, os.pipe())
        write_private(self._authority_file, self.authority)
        width, height = self._size_px
        command = [*ENDS_WITH_US, "Xvfb", "-displayfd", "3", "-screen", "0", f"{width}x{height}x24"]
        command += ["-nolisten", "tcp", "-noreset", "-nocursor"]
        command += ["-auth", str(self._authority_file)]
        try:
            self._server = self._run(command, {3: write_end})
        except OSError as error:
            os.close(read_end)
            raise _missing("setpriv", "util-linux") from error
        finally:
            os.close(write_end)
        output = b""
        # X writes the number and the newline separately, and both must be read.
        while not output.endswith(b"\n") and select.select([read_end], [], [], START_TIMEOUT_S)[0]:
            if not (more := os.read(read_end, 16)):
                break
            output += more
        os.close(read_end)
        if not output.endswith(b"\n"):
            self.close()
            raise BrowserStartError(
                f"Xvfb did not start, see `eyelevel doctor`: {self._log_tail()}"
            )
        self.display = f":{output.decode().strip()}"
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def film(
        self, at_px: tuple[int, int], size_px: tuple[int, int], to_px: tuple[int, int]
    ) -> None:
        """Start recording a part of the screen, scaled; returns when ffmpeg has written output.

        Timestamps are wall time, as ffmpeg takes it when it grabs a frame.
        """
        (x, y), (width, height), (to_width, to_height) = at_px, size_px, to_px
        read_end, self._stdin_fd = map(move_high, os.pipe())
        grab = ["-f", "x11grab", "-draw_mouse", "0", "-framerate", f"{PICTURES_PER_S}"]
        grab += ["-video_size", f"{width}x{height}", "-i", f"{self.display}+{x},{y}"]
        keep = ["-copyts", "-fps_mode", "passthrough", "-enc_time_base", "1:1000"]
        keep += ["-vf", f"scale={to_width}:{to_height}:flags=area", "-c:v", "libx264rgb"]
        keep += ["-preset", "ultrafast", "-qp", "0", "-g", "1000", "-flush_packets", "1"]
        command = ["ffmpeg", "-v", "error", *grab, *keep, "-f", "matroska", "-y", str(self._file)]
        try:
            self._camera = self._run(command, {0: read_end})
        except OSError as error:
            raise _missing("ffmpeg", "ffmpeg") from error
        finally:
            os.close(read_end)
        deadline = time.monotonic() + START_TIMEOUT_S
        while not (self._file.exists() and self._file.stat().st_size > 0):
            if time.monotonic() > deadline or self._camera.exited:
                raise BrowserStartError(
                    f"ffmpeg filmed nothing, see `eyelevel doctor`: {self._log_tail()}"
                )
            time.sleep(0.01)

    def stop(self) -> None:
        """Stop recording; the file is complete afterwards."""
        if self._camera is None or self._stdin_fd < 0:
            return
        self._was_camera_suspended = self._camera.was_suspended()
        os.write(self._stdin_fd, b"q")
        os.close(self._stdin_fd)
        self._stdin_fd = -1
        deadline = time.monotonic() + STOP_TIMEOUT_S
        while not self._camera.exited and time.monotonic() < deadline:
            time.sleep(0.005)

    def suspended_programs(self) -> tuple[str, ...]:
        """Return the programs that were suspended during the recording; call it after `stop`."""
        server = self._server is not None and self._server.was_suspended()
        found = (("Xvfb", server), ("ffmpeg", self._was_camera_suspended))
        return tuple(name for name, stood in found if stood)

    def frames(self, start_ms: float) -> tuple[Frame, ...]:
        """Return the frames that differ from the one before.

        `start_ms` is navigation start, wall time.

        Of the frames before navigation the last is kept, at 0 ms. Raises `BrowserStartError` if
        there is no recording.
        """
        times_ms, pictures = self._pictures()
        self.ended_ms = times_ms[-1]
        kept: list[tuple[float, Picture]] = []
        for at_ms, picture in zip(times_ms, pictures, strict=True):
            since_ms = max(round(at_ms - start_ms, 3), 0.0)
            if since_ms == 0.0:
                kept.clear()
            if not kept or not np.array_equal(kept[-1][1], picture):
                kept.append((since_ms, picture))
        if kept and kept[0][0] > 0:
            kept.insert(0, (0.0, kept[0][1]))
        return tuple(Frame(at_ms, _png(picture)) for at_ms, picture in kept)

    def close(self) -> None:
        """End both processes; safe to call twice."""
        if self._stdin_fd >= 0:
            os.close(self._stdin_fd)
            self._stdin_fd = -1
        for session in (self._camera, self._server):
            if session is not None:
                session.ask_to_end(END_TIMEOUT_S)  # the server removes its socket and lock
                session.end(named=str(self._folder))
        self._camera = self._server = None

    @property
    def _file(self) -> Path:
        return self._folder / "film.mkv"

    @property
    def _authority_file(self) -> Path:
        return self._folder / SCREEN_AUTHORITY

    def _run(self, command: Sequence[str], descriptors: dict[int, int]) -> ProcessSession:
        log = os.open(self._folder / "screen.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        log = move_high(log)
        try:
            return ProcessSession.start(
                [*self._held_to, *command],
                descriptors={**descriptors, 1: log, 2: log},
                environment={
                    "PATH": os.environ.get("PATH", "/usr/bin:/bin"),
                    "XAUTHORITY": str(self._authority_file),
                },
            )
        finally:
            os.close(log)

    def _log_tail(self) -> str:
        try:
            return (self._folder / "screen.log").read_text(errors="replace")[-300:].strip()
        except OSError:
            return "nothing"

    def _pictures(self) -> tuple[list[float], Picture]:
        ask = ["ffprobe", "-v", "error", "-select_streams", "v:0", "-of", "csv=p=0"]
        ask += ["-show_entries", "stream=width,height:packet=pts_time"]
        try:
            lines = _output([*ask, str(self._file)]).decode().split()
            *times, size = lines
            if times and "," in times[0]:
                size, times = times[0], lines[1:]
            width, height = map(int, size.split(",")[:2])
            read = ["ffmpeg", "-v", "error", "-i", str(self._file), "-fps_mode", "passthrough"]
            raw = _output([*read, "-f", "rawvideo", "-pix_fmt", "rgb24", "-"])
        except (subprocess.SubprocessError, OSError, ValueError) as error:
            raise BrowserStartError(
                f"reading the film of a load: {error}; see `eyelevel doctor`"
            ) from error
        pictures = np.frombuffer(raw, np.uint8).reshape(-1, height, width, 3)
        return [float(time_s.strip(",")) * 1e3 for time_s in times], pictures


def write_private(file: Path, content: bytes) -> None:
    """Write a file that other users cannot read."""
    with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as stream:
        stream.write(content)


def _authority(cookie: bytes) -> bytes:
    """Return an Xauthority entry for any address and any display number."""
    parts = (b"", b"", b"MIT-MAGIC-COOKIE-1", cookie)
    lengths_and_parts = b"".join(struct.pack(">H", len(part)) + part for part in parts)
    return struct.pack(">H", FAMILY_WILD) + lengths_and_parts


def _output(command: list[str]) -> bytes:
    return subprocess.run(command, capture_output=True, check=True, timeout=120).stdout


def _png(picture: Picture) -> bytes:
    stream = io.BytesIO()
    Image.fromarray(picture).save(stream, "PNG", compress_level=1)
    return stream.getvalue()


def _missing(program: str, package: str) -> BrowserStartError:
    return BrowserStartError(
        f"starting a screen for Firefox: {program} is missing; install it (Debian: apt-get "
        f"install {package}), or measure without pictures (`capture = false`)"
    )

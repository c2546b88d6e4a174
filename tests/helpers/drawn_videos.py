"""Videos of a page that appears in parts, with what recorders do to them; drawn from a seed."""

import random
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from timeouts import TEST_TIMEOUT_S

FPS = 15
ORANGE = (222, 100, 13)
WHITE = (255, 255, 255)
DARK = (18, 18, 18)
ORANGE_FRAMES = 8
PAGE_FRAMES = 38

Frames = NDArray[np.uint8]
"""frames x height x width x 3."""


@dataclass
class Drawn:
    """A video to be: its frames, and how ffmpeg is to write them."""

    frames: Frames
    codec: tuple[str, ...] = ("-c:v", "ffv1", "-pix_fmt", "bgr0")
    suffix: str = ".mkv"
    more: tuple[str, ...] = field(default=())

    def write(self, folder: Path) -> Path:
        """The file."""
        file = folder / f"video{self.suffix}"
        _, height, width, _ = self.frames.shape
        raw = ["-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{width}x{height}", "-r", str(FPS)]
        command = ["ffmpeg", "-v", "error", "-y", *raw, "-i", "-", *self.codec, *self.more]
        content = self.frames.tobytes()
        subprocess.run([*command, str(file)], input=content, check=True, timeout=TEST_TIMEOUT_S)
        return file


def page(
    drawn: random.Random,
    ground: tuple[int, int, int] = WHITE,
    size: tuple[int, int] = (400, 300),
    contrast: tuple[int, int] = (90, 230),
) -> Frames:
    """Orange, then a ground on which three to five parts appear, and quiet at the end."""
    width, height = size
    frames = np.empty((ORANGE_FRAMES + PAGE_FRAMES, height, width, 3), np.uint8)
    frames[:ORANGE_FRAMES] = ORANGE
    frames[ORANGE_FRAMES:] = ground
    for _ in range(drawn.randint(3, 5)):
        at = ORANGE_FRAMES + drawn.randint(2, PAGE_FRAMES - 10)
        left, top = drawn.randint(0, width * 2 // 3), drawn.randint(0, height * 2 // 3)
        wide, tall = drawn.randint(width // 8, width // 2), drawn.randint(height // 8, height // 2)
        away = drawn.randint(*contrast)
        # Dark grounds have bright parts, bright ones dark parts; each channel a little apart.
        colour = [c + away if c < 128 else c - away + drawn.randint(0, 9) for c in ground]
        frames[at:, top : top + tall, left : left + wide] = np.clip(colour, 0, 255)
    return frames


def before(colours: tuple[tuple[int, int, int], ...]) -> Callable[[random.Random], Drawn]:
    """Return frames of one of these colours before the orange ones."""

    def draw(drawn: random.Random) -> Drawn:
        frames = page(drawn)
        stray = np.empty((drawn.randint(1, 9), *frames.shape[1:]), np.uint8)
        stray[:] = drawn.choice(colours)
        return Drawn(np.concatenate([stray, frames]))

    return draw


def in_steps(drawn: random.Random) -> Drawn:
    """The orange goes away from the head down, as slow screens refresh."""
    frames = page(drawn)
    steps, height = drawn.randint(1, 3), frames.shape[1]
    for step in range(steps):
        rest = height - height * (step + 1) // (steps + 1)
        frames[ORANGE_FRAMES + step, height - rest :] = ORANGE
    return Drawn(frames)


def at_the_end(drawn: random.Random) -> Drawn:
    """The recorder shows orange once more."""
    frames = page(drawn)
    frames[-drawn.randint(1, 5) :] = ORANGE
    return Drawn(frames)


def several_colours(drawn: random.Random) -> Drawn:
    """The first frames show something else, with colours in its middle."""
    frames = page(drawn)
    _, height, width, _ = frames.shape
    count = drawn.randint(1, 4)
    for _ in range(60):
        left, top = drawn.randint(0, width - 1), drawn.randint(0, height - 1)
        colour = [drawn.randint(0, 255) for _ in range(3)]
        frames[:count, top : top + 40, left : left + 40] = colour
    frames[:count, height // 2 - 20 : height // 2 + 20, width // 2 - 20 : width // 2 + 20] = 7
    return Drawn(frames)


def pointer(drawn: random.Random) -> Drawn:
    """A mouse pointer rests in the middle all the time."""
    frames = page(drawn)
    _, height, width, _ = frames.shape
    top, left = height // 2 - drawn.randint(0, 4), width // 2 - drawn.randint(0, 4)
    frames[:, top : top + 8, left : left + 6] = drawn.choice(((0, 0, 0), (250, 250, 250)))
    return Drawn(frames)


def flat(drawn: random.Random) -> Drawn:
    """A page that is hardly higher than is plausible."""
    return Drawn(page(drawn, size=(640, drawn.randint(102, 130))))


def tiny(drawn: random.Random) -> Drawn:
    """A picture smaller than a page is believed to be."""
    return Drawn(page(drawn, size=(drawn.randint(60, 100), drawn.randint(60, 100))))


def tall(drawn: random.Random) -> Drawn:
    """A telephone's picture, which says that it is one."""
    more = ("-metadata", "com.android.version=14", "-movflags", "use_metadata_tags")
    codec = ("-c:v", "libx264", "-crf", "18", "-pix_fmt", "yuv420p")
    return Drawn(page(drawn, size=(360, 640)), codec, ".mp4", more)


def grain(drawn: random.Random) -> Drawn:
    """Return each pixel of each frame is a little off."""
    frames = page(drawn)
    noise = np.random.default_rng(drawn.getrandbits(32))
    most = drawn.randint(2, 8)
    away = noise.integers(-most, most + 1, frames.shape, np.int16)
    return Drawn(np.clip(frames + away, 0, 255).astype(np.uint8))


def dark(drawn: random.Random) -> Drawn:
    """A page on a dark ground."""
    return Drawn(page(drawn, DARK))


def faint(drawn: random.Random) -> Drawn:
    """Parts that are hardly there, some below what counts as a change."""
    return Drawn(page(drawn, drawn.choice((WHITE, DARK)), contrast=(12, 60)))


def under_a_bar(drawn: random.Random) -> Drawn:
    """A browser's bar above the page."""
    frames = page(drawn)
    bar = np.empty((len(frames), drawn.randint(40, 90), *frames.shape[2:]), np.uint8)
    bar[:] = drawn.choice(((200, 200, 205), (40, 40, 44)))
    return Drawn(np.concatenate([bar, frames], axis=1))


def lossy(drawn: random.Random) -> Drawn:
    """Return a video compressed like recorders do."""
    crf = str(drawn.choice((18, 23, 28)))
    return Drawn(page(drawn), ("-c:v", "libx264", "-crf", crf, "-pix_fmt", "yuv420p"), ".mp4")


def odd(drawn: random.Random) -> Drawn:
    """Odd sides, which crops and scales round."""
    return Drawn(
        page(drawn, size=(drawn.randint(150, 340) * 2 + 1, drawn.randint(120, 200) * 2 + 1))
    )


REMEDIES: dict[str, Callable[[random.Random], Drawn]] = {
    "clean": lambda drawn: Drawn(page(drawn)),
    "white or black before the orange": before((WHITE, (0, 0, 0))),
    "another colour before the orange": before(((90, 120, 200), (230, 230, 230))),
    "orange in steps": in_steps,
    "orange at the end": at_the_end,
    "several colours first": several_colours,
    "pointer": pointer,
    "flat": flat,
    "tiny": tiny,
    "telephone": tall,
    "grain": grain,
    "dark": dark,
    "faint": faint,
    "under a bar": under_a_bar,
    "lossy": lossy,
    "odd sides": odd,
}
"""The remedies, by what makes a video hard to read."""

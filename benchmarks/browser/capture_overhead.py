"""Measure what taking pictures, and not waiting for the browser to settle, cost a page load.

    python -m benchmarks.browser.capture_overhead --blocks 25 --seed 1

Every block loads the same page once a variant, in random order; a page of 24 pictures comes from a
server on the loopback (a process of its own) that delays each answer by a fixed time. Printed: for
each variant the medians, and the median of the differences from the variant `none` within the
blocks with a 95 % bootstrap interval. Nothing is asserted. A result is in
`docs/decisions/0007-frame-capture.md`.
"""

from __future__ import annotations

import asyncio
import io
import json
import multiprocessing
import random
import sys
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFilter

from benchmarks.shared.command import parser_of
from eyelevel.analysis.metrics.catalogue import compute_metrics
from eyelevel.browser import waiting as settle_module
from eyelevel.browser.browsers import load_page
from eyelevel.browser.observations import CaptureMethod, LoadSettings, RawLoad
from eyelevel.plan.browser import Browser
from eyelevel.plan.stack_presets import STACKS_BY_NAME

HTTP1 = STACKS_BY_NAME["http1"]

PICTURES = 24
PICTURE_SIZE_PX = (206, 150)
FIRST_DELAY_S = 0.05
STEP_DELAY_S = 0.025
BOOTSTRAPS = 2000


@dataclass(frozen=True, slots=True)
class Variant:
    """One way to load the page."""

    name: str
    capture: bool
    method: CaptureMethod = "screencast"
    picture_px: tuple[int, int] = (640, 360)
    settle_timeout_s: float = settle_module.SETTLE_TIMEOUT_S


VARIANTS = (
    Variant("none", False),
    Variant("trace", True, "trace"),
    Variant("screencast", True),
    Variant("screencast, full", True, picture_px=(1280, 720)),
    Variant("none, not settled", False, settle_timeout_s=0.0),
)


def measured(raw: RawLoad) -> dict[str, float]:
    """The numbers compared, of one load."""
    navigation = raw.navigation
    numbers = {
        "page_load_time_ms": navigation.page_load_time_ms,
        "time_to_first_byte_ms": navigation.time_to_first_byte_ms,
        "first_contentful_paint_ms": navigation.first_contentful_paint_ms,
        "wall_beyond_load_ms": raw.wall_ms["total"] - (navigation.page_load_time_ms or 0.0),
        "cpu_s": raw.cpu_s,
        "frames": float(len(raw.frames)),
    }
    if raw.frames:
        frames = (
            (frame.at_ms, np.asarray(Image.open(io.BytesIO(frame.image)).convert("RGB")))
            for frame in raw.frames
        )
        visual = compute_metrics(frames, raw.as_record())
        for name in ("first_visual_change_ms", "last_visual_change_ms", "speed_index_ms"):
            numbers[name] = visual[name]
    return {name: value for name, value in numbers.items() if value is not None}


def main() -> None:
    """Run the blocks, print progress to standard error and the result to standard output."""
    parser = parser_of(__doc__)
    parser.add_argument("--blocks", type=int, default=25)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path, help="write every load's numbers to this file")
    arguments = parser.parse_args()
    order = random.Random(arguments.seed)
    blocks: list[dict[str, dict[str, float]]] = []
    receiving, sending = multiprocessing.Pipe(duplex=False)
    server = multiprocessing.Process(target=serve, args=(sending, arguments.seed), daemon=True)
    server.start()
    url = f"http://127.0.0.1:{receiving.recv()}/"
    try:
        for number in range(arguments.blocks):
            block: dict[str, dict[str, float]] = {}
            for variant in order.sample(VARIANTS, len(VARIANTS)):
                settle_module.SETTLE_TIMEOUT_S = variant.settle_timeout_s
                raw = load_page(
                    LoadSettings(
                        url,
                        HTTP1,
                        Browser(capture=variant.capture),
                        method=variant.method,
                        picture_px=variant.picture_px,
                    )
                )
                if raw.ended == "complete":
                    block[variant.name] = measured(raw)
            blocks.append(block)
            print(f"block {number + 1} of {arguments.blocks}", file=sys.stderr)
    finally:
        server.terminate()
    if arguments.json:
        arguments.json.write_text(json.dumps(blocks))
    report([block for block in blocks if len(block) == len(VARIANTS)], arguments.seed)


def report(blocks: list[dict[str, dict[str, float]]], seed: int) -> None:
    """Print the table of complete blocks."""
    generator = np.random.default_rng(seed)
    print(f"{len(blocks)} complete blocks")
    names = list(dict.fromkeys(n for variant in VARIANTS for n in blocks[0][variant.name]))
    for name in names:
        print(f"\n{name}")
        for variant in VARIANTS:
            if name not in blocks[0][variant.name]:
                continue
            values = np.array([block[variant.name][name] for block in blocks])
            line = f"  {variant.name:18s} median {np.median(values):9.2f}"
            line += f"  sd {values.std(ddof=1):8.2f}"
            if variant is not VARIANTS[0] and name in blocks[0][VARIANTS[0].name]:
                differences = values - np.array([block[VARIANTS[0].name][name] for block in blocks])
                low, high = interval(differences, np.median, generator)
                line += f"  difference {np.median(differences):8.2f} [{low:.2f}, {high:.2f}]"
            print(line)


def interval(
    values: np.ndarray, statistic: Callable[..., float], generator: np.random.Generator
) -> tuple[float, float]:
    """95 % percentile bootstrap interval."""
    drawn = generator.choice(values, (BOOTSTRAPS, len(values)))
    low, high = np.percentile(statistic(drawn, axis=1), [2.5, 97.5])
    return float(low), float(high)


def serve(sending: Connection, seed: int) -> None:
    """Answer every request after its own fixed delay; tells its port first."""
    pictures = [picture(seed + number) for number in range(PICTURES)]
    page = (
        "<!doctype html><link rel=icon href=data:,><link rel=stylesheet href=/style.css>"
        "<h1>Capture overhead</h1>" + "".join(f"<img src=/{n}.jpg>" for n in range(PICTURES))
    ).encode()
    style = b"body { margin: 8px; font: 16px sans-serif } img { width: 206px; height: 150px }"

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                name = head.split(b" ", 2)[1].decode().strip("/")
                kind, body, delay_s = "text/html", page, 0.02
                if name == "style.css":
                    kind, body, delay_s = "text/css", style, FIRST_DELAY_S
                elif name.endswith(".jpg"):
                    number = int(name.removesuffix(".jpg"))
                    kind, body = "image/jpeg", pictures[number]
                    delay_s = FIRST_DELAY_S + STEP_DELAY_S * (number % 6)
                await asyncio.sleep(delay_s)
                writer.write(
                    f"HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\n"
                    f"content-length: {len(body)}\r\n\r\n".encode()
                    + body
                )
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def run() -> None:
        server = await asyncio.start_server(answer, "127.0.0.1", 0)
        sending.send(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(run())


def picture(seed: int) -> bytes:
    """Something like a photograph: blurred shapes with a little grain, as JPEG."""
    chance = random.Random(seed)
    width, height = PICTURE_SIZE_PX
    drawn = Image.new("RGB", PICTURE_SIZE_PX, tuple(chance.randrange(256) for _ in range(3)))
    pen = ImageDraw.Draw(drawn)
    for _ in range(12):
        x, y, radius = chance.randrange(width), chance.randrange(height), chance.randrange(8, 60)
        colour = tuple(chance.randrange(256) for _ in range(3))
        pen.ellipse((x - radius, y - radius, x + radius, y + radius), fill=colour)
    grain = np.random.default_rng(seed).normal(0, 4, (height, width, 3))
    photo = np.asarray(drawn.filter(ImageFilter.GaussianBlur(3)), dtype=float) + grain
    stream = io.BytesIO()
    Image.fromarray(np.clip(photo, 0, 255).astype(np.uint8)).save(stream, "JPEG", quality=80)
    return stream.getvalue()


if __name__ == "__main__":
    main()

"""Calibrate films of the screen: Chromium is filmed under Xvfb while it delivers its own frames.

    python -m benchmarks.browser.film_calibration --loads 10 agency dashboard

Both ways see the same load. Prints, for each metric, the film's value less the screencast's:
median, and the 10th and 90th percentile. docs/decisions/0012-firefox.md quotes it.
"""

import io
import os
import statistics
import tempfile
import time
from pathlib import Path
from unittest import mock

import numpy as np
from PIL import Image

from benchmarks.shared.command import parser_of
from eyelevel.analysis.metrics.catalogue import compute_metrics
from eyelevel.browser.browsers import load_page
from eyelevel.browser.chromium.process import FLAGS, Flag
from eyelevel.browser.firefox.screen import SCREEN_AUTHORITY, Screen
from eyelevel.browser.observations import LoadSettings, RawLoad
from eyelevel.lab.client import Lab, LabConfig
from eyelevel.lab.confinement import UNSAFE_VARIABLE
from eyelevel.plan.in_force import lab_stack
from eyelevel.plan.networks.network import lab_path
from eyelevel.plan.networks.presets import find_network
from eyelevel.plan.stack_presets import STACKS_BY_NAME
from eyelevel.sites.recorded import open_site

METRICS = (
    "first_visual_change_ms",
    "visual_complete_85_ms",
    "last_visual_change_ms",
    "speed_index_ms",
)
VIEWPORT_PX = (1280, 720)
PICTURE_PX = (640, 360)
SCREEN_PX = (1280, 900)
WITH_WINDOW = (
    *(flag for flag in FLAGS if flag.argument != "--headless"),
    Flag("--ozone-platform=x11", "a window on the screen that is filmed"),
    Flag("--window-position=0,0", "all of it"),
)


def main() -> None:
    """Load, compare, print."""
    parser = parser_of(__doc__)
    parser.add_argument("sites", nargs="+")
    parser.add_argument("--loads", type=int, default=10)
    parser.add_argument("--network", default="lte")
    asked = parser.parse_args()
    for site in asked.sites:
        pairs = [_load(site, asked.network, seed) for seed in range(1, asked.loads + 1)]
        print(f"{site}, {asked.network}: film less screencast, ms; {len(pairs)} loads")
        for name in METRICS:
            off = sorted(film[name] - own[name] for own, film in pairs)
            low, high = off[len(off) // 10], off[-1 - len(off) // 10]
            middle = statistics.median(own[name] for own, _ in pairs)
            print(
                f"  {name:24} {statistics.median(off):+6.0f}  ({low:+.0f} to {high:+.0f})"
                f"  of {middle:.0f}"
            )


def _load(site: str, network: str, seed: int) -> tuple[dict, dict]:
    stack, emulated = STACKS_BY_NAME["tcp+"], find_network(network)
    file = str(open_site(site).path.resolve())
    config = LabConfig(lab_path(emulated), seed, file, lab_stack(stack, emulated))
    with (
        tempfile.TemporaryDirectory(prefix="eyelevel-film-") as folder,
        Screen(Path(folder), SCREEN_PX) as screen,
        Lab(config) as lab,
    ):
        screen.film((0, 0), SCREEN_PX, SCREEN_PX)
        settings = LoadSettings(
            url=lab.ready.main_url or "",
            viewport_px=VIEWPORT_PX,
            picture_px=PICTURE_PX,
            spki_sha256=lab.ready.spki_sha256,
            command_prefix=(*lab.command_prefix, "env", *_display(screen, Path(folder))),
        )
        # Confined, Chromium would not see the screen: it has none elsewhere.
        with (
            mock.patch.dict(os.environ, {UNSAFE_VARIABLE: "1"}),
            mock.patch("eyelevel.browser.chromium.process.FLAGS", WITH_WINDOW),
        ):
            raw = load_page(settings)
        screen.stop()
        start_s = (raw.navigation_start_ns or 0) / 1e9
        film = screen.frames((start_s + time.time() - time.monotonic()) * 1e3)
    assert raw.ended == "complete", raw.detail
    return _metrics_of(raw), _film_metrics(raw, film)


def _display(screen: Screen, folder: Path) -> tuple[str, str]:
    return f"DISPLAY={screen.display}", f"XAUTHORITY={folder / SCREEN_AUTHORITY}"


def _metrics_of(raw: RawLoad) -> dict:
    return compute_metrics([(f.at_ms, _picture(f.image)) for f in raw.frames], raw.as_record())


def _film_metrics(raw: RawLoad, film: tuple) -> dict:
    """Return the metrics of the page's part of the film, found where it matches the last frame
    best."""
    end_ms = raw.frames[-1].at_ms + 500  # later the window is gone
    frames = [(f.at_ms, _picture(f.image)) for f in film if f.at_ms <= end_ms]
    last = _picture(raw.frames[-1].image).astype(int)
    errors = {
        top: np.abs(_page(frames[-1][1], top).astype(int) - last).mean() for top in range(180)
    }
    top = min(errors, key=errors.__getitem__)
    assert errors[top] < 3, f"the page is not in the film: {errors[top]}"
    return compute_metrics([(at, _page(picture, top)) for at, picture in frames], raw.as_record())


def _page(picture: np.ndarray, top: int) -> np.ndarray:
    cut = Image.fromarray(picture[top : top + VIEWPORT_PX[1], : VIEWPORT_PX[0]])
    return np.asarray(cut.resize(PICTURE_PX, Image.Resampling.BOX))


def _picture(image: bytes) -> np.ndarray:
    return np.asarray(Image.open(io.BytesIO(image)).convert("RGB"))


if __name__ == "__main__":
    main()

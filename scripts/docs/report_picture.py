"""Makes the picture of a report's first screen for the README.

    python -m scripts.docs.report_picture DIR

Of the run in DIR, 1366 pixels wide, in light colours, down to the typical pair of loads.
"""

import io
import sys
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

from eyelevel.browser.chromium.process import find_executable
from scripts.arguments import ROOT

PICTURE = ROOT / "docs" / "first-screen.png"
WIDTH_PX = 1366
COLOURS = 256  # keeps it below 150 kB


def main(directory: Path) -> None:
    """Write PICTURE."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=find_executable(), args=["--no-sandbox"]
        )
        page = browser.new_page(viewport={"width": WIDTH_PX, "height": 900}, color_scheme="light")
        page.goto((directory / "report.html").resolve().as_uri())
        page.wait_for_selector("html[data-drawn]")
        height_px = page.evaluate("document.querySelector('header').getBoundingClientRect().bottom")
        clip = {"x": 0, "y": 0, "width": WIDTH_PX, "height": height_px}
        picture = Image.open(io.BytesIO(page.screenshot(full_page=True, clip=clip)))
        browser.close()
    picture.convert("RGB").quantize(COLOURS, Image.Quantize.FASTOCTREE).save(PICTURE, optimize=True)
    print(f"{PICTURE}: {PICTURE.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main(Path(sys.argv[1]))

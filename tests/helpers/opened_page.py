"""A page in Chromium as its readers open it, and what any of them would stumble over."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import pytest
from timeouts import TEST_TIMEOUT_S

from eyelevel.base.errors import BrowserStartError
from eyelevel.browser.chromium.process import find_executable

READERS = ((1366, "light"), (390, "dark"))
"""Width of the window and colours: one at a desk, one with a telephone at night."""
LOUD = ("serious", "critical")
OWN = ("file:", "data:")


class Opened(NamedTuple):
    """A page that is open, with what its scripts threw and what it asked for."""

    page: Any
    thrown: list[str]
    asked: list[str]

    def faults(self) -> list[Any]:
        """Return the page's faults for users without sight, mouse, space or network.

        Of axe's findings those that are serious, each with the places on the page.
        """
        axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
        found = axe.run(self.page).response["violations"]
        barriers = [(each["id"], each["nodes"]) for each in found if each["impact"] in LOUD]
        is_wide = self.page.evaluate("document.documentElement.scrollWidth > innerWidth")
        sideways = ["scrolls sideways"] if is_wide else []
        elsewhere = [url for url in self.asked if not url.startswith(OWN)]
        return [*self.thrown, *barriers, *sideways, *elsewhere]


@contextmanager
def chromium_of_playwright() -> Iterator[Any]:
    """This machine's Chromium; skips the test if it or Playwright is not there."""
    sync_playwright = pytest.importorskip("playwright.sync_api").sync_playwright
    try:
        executable = find_executable()
    except BrowserStartError as error:
        pytest.skip(str(error))
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=["--no-sandbox"])
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def opened(browser: Any, url: str, width_px: int = 1366, scheme: str = "light") -> Iterator[Opened]:
    """The page for a reader who wants no motion; each wait for it is bounded."""
    page = browser.new_page(
        viewport={"width": width_px, "height": 844}, color_scheme=scheme, reduced_motion="reduce"
    )
    page.set_default_timeout(TEST_TIMEOUT_S * 1e3)
    it = Opened(page, [], [])
    page.on("pageerror", lambda error: it.thrown.append(str(error)))
    page.on("request", lambda request: it.asked.append(request.url))
    page.goto(url)
    try:
        yield it
    finally:
        page.close()

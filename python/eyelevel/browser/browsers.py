"""The browsers behind one interface: settings in, raw observations out."""

from __future__ import annotations

from collections.abc import Callable

from eyelevel.browser.chromium.load import load_in_chromium
from eyelevel.browser.firefox.load import load_in_firefox
from eyelevel.browser.observations import BrowserName, LoadSettings, RawLoad

BROWSERS: dict[BrowserName, Callable[[LoadSettings], RawLoad]] = {
    "chromium": load_in_chromium,
    "firefox": load_in_firefox,
}


def load_page(settings: LoadSettings) -> RawLoad:
    """Load `settings.url` in a new browser and give back everything that was observed.

    A failing load is a result (`RawLoad.ended`), not an exception.
    Raises `BrowserStartError` if no load could even be attempted.
    """
    return BROWSERS[settings.browser](settings)

"""The browsers behind one interface: settings in, raw observations out."""

from __future__ import annotations

import logging

from eyelevel.browser.chromium.load import load_in_chromium
from eyelevel.browser.chromium.process import find_executable
from eyelevel.browser.firefox.load import load_in_firefox
from eyelevel.browser.firefox.process import find_firefox
from eyelevel.browser.observations import LoadSettings, RawLoad
from eyelevel.plan.browser import Browser

logger = logging.getLogger(__name__)


def find_browser(browser: Browser) -> str:
    """Return the path of the browser's executable; raises `BrowserStartError` if there is none."""
    return find_executable(browser.chromium) if browser.is_chromium else find_firefox()


def load_page(settings: LoadSettings) -> RawLoad:
    """Load `settings.url` in a new browser and return its raw observations.

    A failed load is a result (`RawLoad.ended`), not an exception. Raises `BrowserStartError` if the
    load could not be attempted.
    """
    load = load_in_chromium if settings.browser.is_chromium else load_in_firefox
    logger.info("loading %s in %s", settings.url, settings.browser.browser)
    raw = load(settings)
    detail = f" ({raw.detail})" if raw.detail else ""
    requests, version = len(raw.objects), raw.browser_version
    logger.info("the load in %s ended: %s%s, %d requests", version, raw.ended, detail, requests)
    return raw

"""Skips where a browser is not installed."""

import shutil
from typing import Any

import pytest

from eyelevel.base.errors import BrowserStartError
from eyelevel.browser.browsers import find_browser
from eyelevel.plan.browser import Browser


def needs(name: str, **more: Any) -> Browser:
    """The browser's settings, where it is installed."""
    settings = Browser(browser=name, capture=False, **more)
    try:
        find_browser(settings)
    except BrowserStartError as error:
        pytest.skip(str(error))
    if name == "firefox" and shutil.which("certutil") is None:
        pytest.skip("not installed: certutil")
    return settings

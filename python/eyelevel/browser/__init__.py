"""Drive a browser through one load of one page; raw observations out."""

from eyelevel.browser.browsers import load_page
from eyelevel.browser.errors import BrowserError, BrowserStartError
from eyelevel.browser.firefox import find_firefox
from eyelevel.browser.observations import (
    Frame,
    LoadSettings,
    Navigation,
    ObjectLoad,
    RawLoad,
    StepLoad,
)
from eyelevel.browser.same_requests import SameRequests

__all__ = [
    "BrowserError",
    "BrowserStartError",
    "Frame",
    "LoadSettings",
    "Navigation",
    "ObjectLoad",
    "RawLoad",
    "SameRequests",
    "StepLoad",
    "find_firefox",
    "load_page",
]

"""Drive a browser through one load of one page; raw observations out."""

from eyelevel.browser.errors import BrowserError, BrowserStartError
from eyelevel.browser.load import load_page
from eyelevel.browser.observations import Frame, LoadSettings, Navigation, ObjectLoad, RawLoad

__all__ = [
    "BrowserError",
    "BrowserStartError",
    "Frame",
    "LoadSettings",
    "Navigation",
    "ObjectLoad",
    "RawLoad",
    "load_page",
]

"""Console errors of the page and the browser, one line each (pure)."""

from __future__ import annotations

from eyelevel.base.json_types import JsonObject

ERRORS_MAX = 100
"""Maximum number of console errors kept, so that an endless loop cannot fill the record."""

LENGTH_MAX = 1000
"""Maximum characters kept of each error."""


class ConsoleErrors:
    """Collects console errors; `texts` has them in order."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def handle_event(self, method: str, parameters: JsonObject) -> None:
        """Store the event's text if it reports an error."""
        reader = _READERS.get(method)
        text = reader(parameters)[:LENGTH_MAX] if reader is not None else ""
        if text and len(self.texts) < ERRORS_MAX:
            self.texts.append(text)


def _log_text(parameters: JsonObject) -> str:
    entry = parameters["entry"]
    return f"{entry['text']} {entry.get('url', '')}".strip() if entry["level"] == "error" else ""


def _console_text(parameters: JsonObject) -> str:
    if parameters["type"] not in ("error", "assert"):
        return ""
    arguments = parameters["args"]
    return " ".join(str(item.get("value", item.get("description", ""))) for item in arguments)


def _exception_text(parameters: JsonObject) -> str:
    details = parameters["exceptionDetails"]
    return str(details.get("exception", {}).get("description") or details["text"])


_READERS = {
    "Log.entryAdded": _log_text,
    "Runtime.consoleAPICalled": _console_text,
    "Runtime.exceptionThrown": _exception_text,
}

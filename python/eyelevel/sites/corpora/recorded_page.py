"""Check the status of a recording's page, so that an error page is not taken for the page."""

import json
from pathlib import Path
from urllib.parse import urljoin

from eyelevel.lab.binary import run_tool
from eyelevel.sites.recorded import site_info
from eyelevel.store.disk import temporary_folder

REDIRECTS_MAX = 10
ERROR_STATUS = 400


def find_error_answer(archive: Path) -> str:
    """Return a sentence if the page's response is an error; "" if it is a page.

    Raises `LabError`.
    """
    status = page_status(archive)
    if status is None or status >= ERROR_STATUS:
        return f"the page answered {status or 'nothing'}"
    return ""


def page_status(archive: Path) -> int | None:
    """Return the status of the page's response after redirects; None if it was not recorded.

    Raises `LabError`.
    """
    with temporary_folder("status") as folder:
        har = folder / "site.har"
        run_tool(["archive", "export", str(archive), "--har", str(har)])
        entries = json.loads(har.read_text(encoding="utf-8"))["log"]["entries"]
    answers = {entry["request"]["url"]: entry["response"] for entry in reversed(entries)}
    url = str(site_info(archive)["main_url"])
    status = None
    for _ in range(REDIRECTS_MAX + 1):
        answer = answers.get(url.partition("#")[0])
        if answer is None:
            return status
        status = int(answer["status"])
        location = [h["value"] for h in answer["headers"] if h["name"].lower() == "location"]
        if not (300 <= status < 400 and location):
            return status
        url = urljoin(url, location[0])
    return status

"""Browsertime beside ours, on this machine and now, where it is installed."""

import functools
import http.server
import json
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from browser_figure import Figure

from eyelevel.browser import LoadSettings, load_page

RUNS = 3
TIMEOUT_S = 300
PAGE = "<!doctype html><link rel=icon href=data:,><h1>A page</h1>" + "<p>Some words.</p>" * 40


def peer() -> Iterator[Figure]:
    """One small page from the loopback, loaded with video by both."""
    command = shutil.which("browsertime")
    if command is None:
        print("Browsertime is not installed: its column is what was published", file=sys.stderr)
        return
    with tempfile.TemporaryDirectory(prefix="eyelevel-bench-") as folder:
        (Path(folder) / "index.html").write_text(PAGE, encoding="utf-8")
        handler = functools.partial(_Quiet, directory=folder)
        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            url = f"http://127.0.0.1:{server.server_port}/"
            theirs = sorted(_browsertime_s(command, url, folder) for _ in range(RUNS))
            ours = sorted(_ours_s(url) for _ in range(RUNS))
            server.shutdown()
    what = "wall beyond the load of a small page, with video, s"
    yield Figure(f"Browsertime: {what}", "", theirs[RUNS // 2], theirs[0], theirs[-1])
    yield Figure(f"eyelevel: {what}", "", ours[RUNS // 2], ours[0], ours[-1])


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Nothing."""


def _ours_s(url: str) -> float:
    raw = load_page(LoadSettings(url, "h1"))
    return (raw.wall_ms["total"] - (raw.navigation.page_load_time_ms or 0.0)) / 1e3


def _browsertime_s(command: str, url: str, folder: str) -> float:
    """One iteration with video and visual metrics, headless where it can be."""
    result = Path(folder) / "browsertime"
    asked = [command, "-b", "chrome", "-n", "1", "--video", "--visualMetrics"]
    asked += ["--xvfb", "--resultDir", str(result), "--chrome.args=no-sandbox", url]
    began_s = time.monotonic()
    subprocess.run(asked, check=True, capture_output=True, timeout=TIMEOUT_S, cwd=folder)
    wall_s = time.monotonic() - began_s
    (found,) = json.loads((result / "browsertime.json").read_text(encoding="utf-8"))
    timings = found["browserScripts"][0]["timings"]["pageTimings"]
    return wall_s - timings["pageLoadTime"] / 1e3

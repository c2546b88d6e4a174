"""Browsertime beside ours, on this machine and now, where it is installed.

Both load one page from the loopback in turn, with video and visual metrics, each as a command of
its own. The server holds each picture back for a known time, so that the true moments are known.
Processor time is that of all processes of the command, the browser's and its own servers' included.

`BROWSERTIME` names its command where it is not in PATH (`node .../bin/browsertime.js`),
`CHROMEDRIVER` the driver; `RUNS=3` is for a look.
"""

import ctypes
import http.server
import json
import os
import resource
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.browser.figure import Figure, of_values

RUNS = int(os.environ.get("RUNS", 7))
TIMEOUT_S = 300
VIEWPORT = "1280x720"
HOLD_MS = {"/a.svg": 300, "/b.svg": 600, "/c.svg": 1200}
"""The time for which the server holds back each picture; the page's text is sent at once."""

PAGE = (
    "<!doctype html><link rel=icon href=data:,><body style='margin:0;background:white'>"
    "<h1 style='height:60px;margin:0;background:black;color:white'>A page</h1>"
    + "".join(f"<img src={path} width=420 height=500>" for path in HOLD_MS)
)
PICTURE = (
    "<svg xmlns='http://www.w3.org/2000/svg' width='420' height='500'>"
    "<rect width='420' height='500' fill='{}'/></svg>"
)
COLORS = dict(zip(HOLD_MS, ("#204080", "#208040", "#802040"), strict=True))

METRICS = {
    "first_contentful_paint_ms": "First Contentful Paint",
    "page_load_time_ms": "page load time",
    "first_visual_change_ms": "First Visual Change",
    "visual_complete_85_ms": "Visually Complete 85 %",
    "last_visual_change_ms": "Last Visual Change",
    "speed_index_ms": "Speed Index",
}

OURS = """
import json, sys
from eyelevel.browser.observations import LoadSettings
from eyelevel.browser.browsers import load_page
from eyelevel.analysis.metrics.catalogue import metrics_of
from eyelevel.plan.stack_presets import STACKS_BY_NAME
from eyelevel.store.frames import Frame, Frames
raw = load_page(LoadSettings(sys.argv[1], STACKS_BY_NAME["http1"]))
frames = Frames.of([Frame.of_image(each.at_ms, each.image) for each in raw.frames])
print(json.dumps(metrics_of({**raw.as_record(), "connections": []}, frames)))
"""

TUNED = (
    "--pageCompleteCheckStartWait=500",
    "--pageCompleteCheckPollTimeout=200",
    "--pageCompleteWaitTime=1000",
    "--timeToSettle=0",
    "--videoParams.createFilmstrip=false",
    "--videoParams.addTimer=false",
    "--skipHar",
)
"""As little waiting and as few extras as its options allow; its own end rule stays."""

PR_SET_CHILD_SUBREAPER = 36


def peer() -> Iterator[Figure]:
    """Wall and processor time of each, then what each says of the page."""
    named = os.environ.get("BROWSERTIME") or shutil.which("browsertime")
    if not named:
        print("Browsertime is not installed: its column is what was published", file=sys.stderr)
        return
    # A child of ours whose parent ends comes to us, so that its processor time is counted.
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    theirs = shlex.split(named)
    variants = {"Browsertime": (), "Browsertime, tuned": TUNED, "eyelevel": None}
    found: dict[str, list[dict[str, float]]] = {variant: [] for variant in variants}
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Held) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}/"
        for _ in range(RUNS):
            for variant, options in variants.items():
                one = _ours(url) if options is None else _browsertime([*theirs, *options], url)
                found[variant].append(one)
        server.shutdown()
    for key, what in (("wall_s", "wall beyond the load"), ("cpu_s", "CPU with the browser's")):
        for variant, each in found.items():
            values = [one[key] for one in each]
            yield of_values(f"{variant}: {what}, s", "", values, statistics.median(values))
    for key, title in METRICS.items():
        for variant, each in found.items():
            values = [one[key] for one in each]
            yield of_values(f"{variant}: {title}, ms", "", values, statistics.median(values))


class _Held(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Nothing."""

    def do_GET(self) -> None:
        """The page at once, a picture when it was held back."""
        time.sleep(HOLD_MS.get(self.path, 0) / 1e3)
        picture = PICTURE.format(COLORS[self.path]) if self.path in COLORS else None
        body = (picture or PAGE).encode()
        self.send_response(200)
        self.send_header("content-type", "image/svg+xml" if picture else "text/html")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def _timed(command: list[str], folder: str) -> tuple[str, float, float]:
    """Standard output, wall and processor seconds of a command and all that it started."""
    before, began_s = _children_cpu_s(), time.monotonic()
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=TIMEOUT_S, cwd=folder, check=False
    )
    wall_s = time.monotonic() - began_s
    _reap(time.monotonic() + 5.0)
    if done.returncode:
        raise RuntimeError(f"{command[:3]} failed: {(done.stderr or done.stdout)[-500:]}")
    return done.stdout, wall_s, _children_cpu_s() - before


def _children_cpu_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _reap(until_s: float) -> None:
    """Wait for what the command left behind: it ends within moments."""
    while time.monotonic() < until_s:
        try:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                time.sleep(0.05)
        except ChildProcessError:
            return


def _ours(url: str) -> dict[str, float]:
    with tempfile.TemporaryDirectory(prefix="eyelevel-bench-") as folder:
        said, wall_s, cpu_s = _timed([sys.executable, "-c", OURS, url], folder)
    found = json.loads(said)
    load_s = found["page_load_time_ms"] / 1e3
    return {"wall_s": wall_s - load_s, "cpu_s": cpu_s, **{key: found[key] for key in METRICS}}


def _browsertime(command: list[str], url: str) -> dict[str, float]:
    """One iteration with video and visual metrics on a screen of its own."""
    driver = os.environ.get("CHROMEDRIVER") or shutil.which("chromedriver")
    asked = [*command, "-b", "chrome", "-n", "1", "--video", "--visualMetrics", "--xvfb"]
    asked += ["--viewPort", VIEWPORT, "--chrome.args=no-sandbox", "--resultDir", "result"]
    asked += ["--chrome.binaryPath=/usr/lib/chromium/chromium"]
    asked += [f"--chrome.chromedriverPath={driver}"] if driver else []
    with tempfile.TemporaryDirectory(prefix="eyelevel-bench-") as folder:
        _, wall_s, cpu_s = _timed([*asked, url], folder)
        text = (Path(folder) / "result" / "browsertime.json").read_text(encoding="utf-8")
    (found,) = json.loads(text)
    timings = found["browserScripts"][0]["timings"]
    visual = found["visualMetrics"][0]
    load_ms = timings["loadEventEnd"]
    return {
        "wall_s": wall_s - load_ms / 1e3,
        "cpu_s": cpu_s,
        "page_load_time_ms": load_ms,
        "first_contentful_paint_ms": timings["paintTiming"]["first-contentful-paint"],
        "first_visual_change_ms": visual["FirstVisualChange"],
        "visual_complete_85_ms": visual["VisualComplete85"],
        "last_visual_change_ms": visual["LastVisualChange"],
        "speed_index_ms": visual["SpeedIndex"],
    }

"""Small pages of known content on the loopback, and what is left of our browsers."""

import contextlib
import http.server
import io
import os
import signal
import tempfile
import threading
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

import numpy as np
from PIL import Image

from eyelevel.browser.observations import RawLoad

IMAGES = 6
STOPPED_S = 0.6


def image(shade: int) -> bytes:
    stream = io.BytesIO()
    Image.new("RGB", (200, 100), (shade, 40, 255 - shade)).save(stream, "PNG")
    return stream.getvalue()


PAGE = (
    "<!doctype html><title>page</title><link rel=stylesheet href=/style.css>"
    "<link rel=icon href=data:,><h1>A heading</h1>"
    + "".join(f"<img src=/{number}.png width=200 height=100>" for number in range(IMAGES))
    + "<script src=/missing.js></script>"
)
CLOCK_PAGE = """<!doctype html><link rel=icon href=data:,><body style='margin:0'><script>
performance.mark('page-script');
addEventListener('load', () => setTimeout(() => {
  document.body.style.background = 'rgb(0, 128, 0)';
  document.body.innerHTML = '<p elementtiming=words>Painted with the colour';
  const changed = performance.now();
  new PerformanceObserver((list) => {
    console.error(JSON.stringify([changed, list.getEntries()[0].renderTime]));
  }).observe({ type: 'element', buffered: true });
}, 400));
</script>"""
CONDITIONS_PAGE = """<!doctype html><link rel=icon href=data:,><noscript>off</noscript>
<style>body { background: white } @media (prefers-color-scheme: dark) { body { background: black } }
</style><img src=http://blocked.example/pixel.png><script>
console.error(JSON.stringify({ scale: devicePixelRatio, agent: navigator.userAgent,
  driven: navigator.webdriver, touch: 'ontouchstart' in window,
  dark: matchMedia('(prefers-color-scheme: dark)').matches }));
</script>"""
# Its link looks the same while it is pressed: a slow machine may paint that.
STEPS_PAGE = """<!doctype html><link rel=icon href=data:,><body style='margin:0'>
<a href=/next style='display:block;width:200px;height:60px;color:blue'>next</a>
<div style='height:4000px'></div><div id=end style='height:300px'></div><script>
new IntersectionObserver((seen, observer) => {
  if (!seen.some((each) => each.isIntersecting)) return;
  observer.disconnect();
  document.getElementById('end').innerHTML = '<img src=/1.png width=200 height=100>';
}).observe(document.getElementById('end'));
</script>"""
NEXT_PAGE = (
    "<!doctype html><link rel=icon href=data:,><body style='background:rgb(0,0,160)'>"
    "<img src=/2.png width=200 height=100>"
)
# A button and a field whose handlers keep the main thread for a time; and a link.
INTERACTIVE_PAGE = """<!doctype html><link rel=icon href=data:,><body style='margin:0'>
<h1>Interact</h1><button id=menu>Menu</button><input id=search><a href=/next>next</a><p id=out></p>
<script>
const work = () => { for (const end = performance.now() + {}; performance.now() < end;); };
document.getElementById('menu').onclick = () => {
  work();
  document.getElementById('out').textContent = 'open';
};
document.getElementById('search').onkeydown = work;
</script>"""
HERO_PAGE = (
    "<!doctype html><link rel=icon href=data:,><body style='margin:0'><img src={} width=1280 "
    "height=420 style='display:block'><h1>A heading</h1>" + "<p>Some words.</p>" * 5
)
# It tells what web-vitals computes the parts of Largest Contentful Paint from.
LARGEST_SCRIPT = """<script>
new PerformanceObserver((list) => {
  const largest = list.getEntries().at(-1);
  if (!largest.url) return;
  const [picture] = performance.getEntriesByName(largest.url);
  const [page] = performance.getEntriesByType('navigation');
  console.error(JSON.stringify([
    page.responseStart, picture.requestStart, picture.responseEnd, largest.startTime]));
}).observe({ type: 'largest-contentful-paint', buffered: true });
</script>"""
BODIES: dict[str, tuple[str, bytes]] = {
    "/": ("text/html", PAGE.encode()),
    "/style.css": ("text/css", b"body { margin: 0; background: rgb(230, 230, 255) }"),
    "/clock": ("text/html", CLOCK_PAGE.encode()),
    "/crashing": (
        "text/html",
        b"<!doctype html><link rel=icon href=data:,><h1>Soon gone</h1><img src=/kill-renderer>",
    ),
    "/focused": (
        "text/html",
        b"<!doctype html><link rel=icon href=data:,><input autofocus value='text'>",
    ),
    "/redirect-by-script": (
        "text/html",
        b"<!doctype html><link rel=icon href=data:,><script>location.replace('/clock')</script>",
    ),
    "/stopped": (
        "text/html",
        b"<!doctype html><link rel=icon href=data:,><h1>Here</h1>"
        b"<script>let times = 6; const stop = () => setTimeout(() => fetch('/stop-renderer/')"
        b".then(() => --times && stop()), 100); stop()</script><img src=/0.png>",
    ),
    "/busy": (
        "text/html",
        b"<!doctype html><link rel=icon href=data:,><h1>Busy</h1><script>"
        b"setTimeout(() => { const end = performance.now() + 400;"
        b" while (performance.now() < end); }, 50)</script>",
    ),
    "/steps": ("text/html", STEPS_PAGE.encode()),
    "/blocks": ("text/html", INTERACTIVE_PAGE.replace("{}", "100", 1).encode()),
    "/answers": ("text/html", INTERACTIVE_PAGE.replace("{}", "0", 1).encode()),
    "/hero": ("text/html", HERO_PAGE.format("/5.png").encode()),
    "/largest": ("text/html", (HERO_PAGE.format("/5.png") + LARGEST_SCRIPT).encode()),
    "/largest-moved": (
        "text/html",
        (HERO_PAGE.format("/moved/5.png") + LARGEST_SCRIPT).encode(),
    ),
    "/error-page": ("text/html", b"<!doctype html><link rel=icon href=data:,><h1>502 Bad Gateway"),
    "/hero-missing": ("text/html", HERO_PAGE.format("/missing.png").encode()),
    "/next": ("text/html", NEXT_PAGE.encode()),
    "/conditions": ("text/html", CONDITIONS_PAGE.encode()),
    **{f"/{number}.png": ("image/png", image(number * 40)) for number in range(IMAGES)},
}


_ZIPPED = zlib.compressobj(wbits=zlib.MAX_WBITS | 16)
NOT_GZIP = {
    "/plain-as-gzip": b"<!doctype html><h1>A heading",
    # Behind a block that is sound stands one of a type that there is not.
    "/broken-gzip": _ZIPPED.compress(PAGE.encode())
    + _ZIPPED.flush(zlib.Z_FULL_FLUSH)
    + b"\x07" * 50,
}
"""Bodies that are not of their `Content-Encoding`: from the first byte, or from a later one."""
NO_FIELDS: Mapping[str, str] = MappingProxyType({})

OWN_PROFILE = f"eyelevel-browser-{os.getpid()}-"


def own_commands() -> dict[int, bytes]:
    """Commands by process id of all processes that share a session with a browser of ours."""
    commands, sessions = {}, {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                commands[int(folder.name)] = (folder / "cmdline").read_bytes()
                sessions[int(folder.name)] = os.getsid(int(folder.name))
            except OSError:
                continue
    own = {sessions[pid] for pid in sessions if OWN_PROFILE.encode() in commands[pid]}
    return {pid: commands[pid] for pid in sessions if sessions[pid] in own}


def kill_own(kind: str) -> None:
    """Kill our browser's renderers, or its first process."""
    for pid, command in own_commands().items():
        renderer = b"--type=renderer" in command
        leader = b"--type=" not in command
        if (kind == "renderer" and renderer) or (kind == "browser" and leader):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


@contextlib.contextmanager
def stopped_renderers() -> Iterator[None]:
    """Our browsers' renderers get no processor within."""
    renderers = [pid for pid, command in own_commands().items() if b"--type=renderer" in command]
    for end in (signal.SIGSTOP, signal.SIGCONT):
        for pid in renderers:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, end)
        if end == signal.SIGSTOP:
            yield


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        if self.path == "/redirect":
            self.answer(302, "text/plain", b"", {"location": "/"})
        elif self.path.startswith("/moved/"):
            self.answer(302, "text/plain", b"", {"location": self.path.removeprefix("/moved")})
        elif self.path == "/endless":
            # Longer than any test waits; the browser is gone by then.
            self.server.closing.wait(30)  # type: ignore[attr-defined]
        elif self.path.startswith("/stop-renderer/"):
            # As long as the browser waits for this answer its renderers do not run.
            with stopped_renderers():
                self.server.closing.wait(STOPPED_S)  # type: ignore[attr-defined]
            self.answer(200, "text/css", b"h1 { color: green }")
        elif self.path in NOT_GZIP:
            self.answer(200, "text/html", NOT_GZIP[self.path], {"content-encoding": "gzip"})
        elif self.path.startswith("/kill-"):
            kill_own(self.path.removeprefix("/kill-"))
        elif self.path in BODIES:
            self.answer(200, *BODIES[self.path])
        else:
            self.answer(404, "text/plain", b"")

    def answer(
        self, status: int, content_type: str, body: bytes, more: Mapping[str, str] = NO_FIELDS
    ) -> None:
        self.send_response(status)
        self.send_header("content-type", content_type)
        self.send_header("content-length", str(len(body)))
        for name, value in more.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """A browser that is ended leaves its connections broken."""


@contextlib.contextmanager
def page_server() -> Iterator[str]:
    """The pages' origin."""
    with Server(("127.0.0.1", 0), Handler) as server:
        server.closing = threading.Event()  # type: ignore[attr-defined]
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.closing.set()  # type: ignore[attr-defined]
        server.shutdown()


def decoded(raw: RawLoad) -> list[tuple[float, np.ndarray]]:
    return [
        (frame.at_ms, np.asarray(Image.open(io.BytesIO(frame.image)).convert("RGB")))
        for frame in raw.frames
    ]


def browser_traces() -> tuple[set[str], set[int]]:
    """Profiles and processes of browsers that this process started."""
    profiles = {folder.name for folder in Path(tempfile.gettempdir()).glob(OWN_PROFILE + "*")}
    return profiles, set(own_commands())

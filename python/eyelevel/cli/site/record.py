"""Record a live page as a site (`eyelevel record`).

Run `eyelevel record` over an emulated path, by restarting it inside `eyelevel path`.
"""

import os
import signal
import sys
from collections.abc import Callable, Container, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from socket import socketpair
from typing import Annotated, NoReturn
from urllib.parse import urlsplit

import typer

from eyelevel.base.errors import ExpectedError
from eyelevel.base.from_outside.files import read_text
from eyelevel.base.from_outside.host_names import spell_in_dns
from eyelevel.base.from_outside.limits import SCRIPT
from eyelevel.base.from_outside.pictures import open_picture
from eyelevel.base.from_outside.source import Source
from eyelevel.base.json_types import JsonMapping
from eyelevel.base.settings import Units
from eyelevel.browser.browsers import load_page
from eyelevel.browser.observations import LoadSettings, RawLoad
from eyelevel.browser.same_requests import SameRequests
from eyelevel.cli.finish import end_at
from eyelevel.cli.network_options import with_network_options
from eyelevel.cli.options import AllowOption, UnsafeBrowserOption
from eyelevel.cli.output import hints, print_json, results, say
from eyelevel.cli.values import EXAMPLE, is_page_url, viewport_px
from eyelevel.lab.binary import find_binary
from eyelevel.lab.recorder import Recorder
from eyelevel.load.traces import read_stages
from eyelevel.plan.browser import Browser
from eyelevel.plan.networks.compose import NetworkWords, compose
from eyelevel.plan.steps import STEPS_MAX, Step, parse_step
from eyelevel.sites.contents import make_secure
from eyelevel.sites.recorded import site_info
from eyelevel.sites.served_command import serve_command
from eyelevel.sites.served_folder import serve_folder
from eyelevel.store.disk import check_file, folder_beside, temporary_folder

LOAD_TIMEOUT_S = 120.0
BUSY_S_MAX = 60.0
"""Seconds after its load event for which a page that never becomes idle is recorded."""

WAIT_IDLE = "3s"
WAITS = Units((("ms", 0.001), ("s", 1)))
VIEWPORT = "1366x768"
WEBP_QUALITY = 80


REFUSED = "refused: "
"""Prefix of the recorder's message about a server that a page may not reach."""


class RecordError(ExpectedError):
    """A page could not be recorded."""


@with_network_options("this machine's own")
def record(
    urls: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="URL|FOLDER",
            help="The page, and any others to visit after it; or a folder of static files, which "
            "is served meanwhile.",
        ),
    ] = None,
    out: Annotated[Path, typer.Option(help="The WACZ to write.")] = Path("site.wacz"),
    serve: Annotated[
        str | None,
        typer.Option(
            metavar="COMMAND",
            help="Run this server until the page is recorded, such as `npm start`; it gets the "
            "URL's port as PORT.",
        ),
    ] = None,
    wait_idle: Annotated[
        str, typer.Option(help="End a visit once nothing has been requested for this long.")
    ] = WAIT_IDLE,
    script: Annotated[
        Path | None,
        typer.Option(
            help="A file of steps after each load, one per line: `scroll end`, `click "
            "SELECTOR`, `script JAVASCRIPT`."
        ),
    ] = None,
    viewport: Annotated[str, typer.Option(help="The width and height in CSS pixels.")] = VIEWPORT,
    mobile: Annotated[bool, typer.Option("--mobile", help="Emulate a mobile browser.")] = False,
    visits: Annotated[
        int,
        typer.Option(min=1, max=50, help="How many times to visit, for pages with random content."),
    ] = 1,
    keep_cookies: Annotated[
        bool, typer.Option("--keep-cookies", help="Also store cookies and credentials.")
    ] = False,
    proxy: Annotated[
        int | None,
        typer.Option(min=0, max=65535, help="Only run the proxy, on this port, for any client."),
    ] = None,
    upstream_ca: Annotated[
        Path | None, typer.Option(help="Certificates (PEM) to trust besides the platform's.")
    ] = None,
    words: NetworkWords = NetworkWords(),  # noqa: B008 (frozen)
    _unsafe_browser: UnsafeBrowserOption = False,
    allow: AllowOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Record a page, or what any client requests through a proxy, as a site to replay.

    Cookies and credentials are not stored unless you ask for it, but what a page's forms send
    is. Each visit after the first adds what the page had not requested before. Only public
    servers are reached, apart from an address in a page's URL and those that --allow names.
    With a network (needs root), the page comes over that path and this machine's network, and
    the recorded round trips include both.
    """
    if bool(urls) == (proxy is not None):
        raise RecordError("give the URL of a page, a folder, or `--proxy PORT`")
    folder = _folder_of(urls or ())
    for url in urls or ():
        if folder is None and not is_page_url(url):
            raise RecordError(
                f"`{url}` is neither a folder that exists nor a page's URL; build the page first, "
                f"or write its URL as `{EXAMPLE}`"
            )
    if serve is not None and (folder is not None or len(urls or ()) != 1):
        raise RecordError("--serve: give the one URL at which the command serves the page")
    if words.given():
        if serve is not None:
            raise RecordError(
                "--serve: the path's network does not reach this machine's loopback; record "
                "without a network, and give `load`, `ask` or a plan the network"
            )
        if proxy is not None:
            raise RecordError(
                "--proxy: no client outside the path could reach it; start both inside "
                "`eyelevel path --internet`"
            )
        _record_behind(words, sys.argv[1:])
    try:
        steps = read_script(script) if script else ()
    except ValueError as error:
        raise RecordError(str(error)) from error
    check_file(out)
    url_of_server = urls[0] if serve is not None and urls else ""
    # Stacks with TLS can be compared on https pages alone.
    is_ours_over_http = folder is not None or url_of_server.startswith("http:")
    with ExitStack() as stack:
        made, resolve = out, []
        if folder is not None:
            its = stack.enter_context(serve_folder(folder))
            urls, resolve = [its.url], [its.resolve]
        elif serve is not None:
            stack.enter_context(serve_command(serve, url_of_server))
        if is_ours_over_http:
            made = stack.enter_context(folder_beside(out)) / out.name
        recorder = Recorder(
            made,
            port=proxy,
            upstream_ca=upstream_ca,
            resolve=resolve,
            pages=urls or (),
            allow=allow or (),
            keep_cookies=keep_cookies,
        )
        stack.enter_context(recorder)
        if urls:
            settings = _settings(recorder, wait_idle, viewport, mobile)
            after = tuple(step.text for step in steps)
            settings = replace(settings, browser=replace(settings.browser, after_load=after))
            written = _record_visits(recorder, settings, urls, visits)
        else:
            written = _record_clients(recorder)
        info = written["info"]
        if is_ours_over_http:
            twin = made.with_name(f"secure-{out.name}")
            make_secure(made, twin)
            twin.rename(out)
            info = site_info(out)
    if as_json:
        print_json(info)
    else:
        _print(info)
        if is_ours_over_http:
            served = folder if folder is not None else url_of_server
            hints.print(f"served {served} as {info['main_url']}, over https", markup=False)
    end_at("site", out, as_json=as_json)


def _folder_of(given: Sequence[str]) -> Path | None:
    """Return the folder of static files that is given instead of a page, or None."""
    folders = [Path(word) for word in given if not is_page_url(word) and Path(word).is_dir()]
    if folders and len(given) > 1:
        raise RecordError(f"{folders[0]} is a folder: give it alone, it is recorded as one page")
    return folders[0] if folders else None


def record_page(
    url: str, out: Path, upstream_ca: Path | None = None, allow: Sequence[str] = ()
) -> JsonMapping:
    """Record one page with the command's defaults; returns its `site info`."""
    with Recorder(out, upstream_ca=upstream_ca, pages=[url], allow=allow) as recorder:
        settings = _settings(recorder, WAIT_IDLE, VIEWPORT, mobile=False)
        info: JsonMapping = _record_visits(recorder, settings, [url], 1)["info"]
    return info


def _settings(recorder: Recorder, wait_idle: str, viewport: str, mobile: bool) -> LoadSettings:
    try:
        size_px = viewport_px(viewport)
    except ValueError as error:
        raise RecordError(str(error)) from error
    try:
        quiet_s = WAITS.quantity(wait_idle)
    except ValueError as error:
        raise RecordError(f"`--wait-idle {wait_idle}`: {error}") from error
    return LoadSettings(
        url="about:blank",
        spki_sha256=recorder.spki_sha256,
        viewport_px=size_px,
        browser=Browser(capture=False, timeout_s=LOAD_TIMEOUT_S),
        screenshot=True,
        # Random numbers are seeded as in a replay; the date is the real one.
        same_page=SameRequests(recorded_at_unix_ms=None),
        proxy=recorder.address,
        command_prefix=recorder.command_prefix,
        mobile=mobile,
        quiet_s=quiet_s,
        cap_s=BUSY_S_MAX,
    )


def _record_visits(
    recorder: Recorder, settings: LoadSettings, urls: list[str], visits: int
) -> JsonMapping:
    initiators: dict[str, str] = {}
    picture = b""
    hosts: set[str] = set()
    for visit in range(visits):
        if visit > 0:
            recorder.begin_visit()
        for url in urls:
            raw = load_page(replace(settings, url=url))
            for requested, by in raw.initiators.items():
                initiators.setdefault(requested, by)
            picture = picture or raw.screenshot
            stepped = (item for step in raw.after_load for item in step.objects)
            hosts |= {host_of(item.url) for item in (*raw.objects, *stepped)}
            _tell(url, raw, recorder)
            if raw.ended == "navigation-failed":
                # The browser only sees that the proxy refuses; the recorder has the reason.
                why = recorder.why_left_out(host_of(url)) or raw.detail
                raise RecordError(
                    f"recording {url} failed: {why}; check that this machine can reach it"
                )
            if failed := next((step.failed for step in raw.after_load if step.failed), None):
                raise RecordError(
                    f"recording {url}: a step of the script failed, correct it: {failed}"
                )
    with temporary_folder("record") as folder:
        return recorder.write(
            main_url=urls[0],
            visits=visits,
            viewport_px=settings.viewport_px,
            mobile=settings.mobile,
            initiators=initiators,
            screenshot=_as_webp(picture, folder / "page.webp"),
            hosts=sorted(hosts),
        )


def _as_webp(png: bytes, file: Path) -> str | None:
    """Write a screenshot as WebP, a tenth of the PNG's size, to compare a replay with."""
    if not png:
        return None
    open_picture(png).save(file, quality=WEBP_QUALITY)
    return str(file)


def host_of(url: str) -> str:
    """Return a host as the recorder writes it: lower case, an IPv6 address in brackets."""
    host = spell_in_dns(urlsplit(url).hostname or "")
    return f"[{host}]" if ":" in host else host


def _tell(url: str, raw: RawLoad, recorder: Recorder) -> None:
    counts = recorder.counts()
    state = raw.ended if raw.ended != "complete" or not raw.capped else "still busy, cut off"
    hints.print(f"{url}: {state}, {counts['exchanges']} exchanges so far", markup=False)


def _record_clients(recorder: Recorder) -> JsonMapping:
    authority = Path.cwd() / "eyelevel-recorder-ca.pem"
    authority.write_text(recorder.ca_certificate, encoding="ascii")
    try:
        with _waiting_for_end() as wait:
            proxy = f"http://{recorder.credentials}@{recorder.address}"
            hint = f"recording at {proxy}; clients must trust {authority}"
            hints.print(hint, markup=False, soft_wrap=True)
            hints.print("press Ctrl-C to write the site")
            wait()
        return recorder.write()
    finally:
        authority.unlink(missing_ok=True)


@contextmanager
def _waiting_for_end() -> Iterator[Callable[[], object]]:
    """Make the first Ctrl-C or SIGTERM within the block end the wait, even one that came before it.

    A second one interrupts what follows the wait.
    """
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def as_before(*_: object) -> None:
        for number, handler in before.items():
            signal.signal(number, handler)

    with ExitStack() as stack:
        receiving, telling = (stack.enter_context(end) for end in socketpair())
        telling.setblocking(False)
        # The interpreter writes to it when a signal arrives; `signal.pause` would miss one that
        # arrives just before it.
        stack.callback(signal.set_wakeup_fd, signal.set_wakeup_fd(telling.fileno()))
        stack.callback(as_before)
        for number, handler in before.items():
            if handler is not signal.SIG_IGN:
                signal.signal(number, as_before)
        yield lambda: receiving.recv(1)


def _print(info: JsonMapping) -> None:
    origins, left_out = len(info["origins"]), info["provenance"].get("left_out", [])
    results.print(
        f"{info['objects']} exchanges of {origins} origins, {info['body_bytes'] / 1e6:.2f} MB",
        markup=False,
    )
    for sentence in left_out[:20]:
        say(hints, f"  not stored: {sentence}{_way_out(sentence)}")


def _way_out(sentence: str) -> str:
    """Return the option that allows a server which a page was refused; "" for other failures."""
    _, is_refusal, rest = sentence.partition(REFUSED)
    return f"; `--allow {rest.split(' ')[0]}` if it is meant" if is_refusal else ""


def read_script(file: Path) -> tuple[Step, ...]:
    """Parse one step per line, with `#` for comment lines.

    Raises `ValueError` with file and line.
    """
    steps = []
    text = read_text(file, Source(str(file), SCRIPT))
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        try:
            steps.append(parse_step(line))
        except ValueError as error:
            raise ValueError(f"{file}, line {number}: {error}") from error
        if len(steps) > STEPS_MAX:
            raise ValueError(f"{file}, line {number}: more than {STEPS_MAX} steps")
    return tuple(steps)


def _record_behind(words: NetworkWords, arguments: Sequence[str]) -> NoReturn:
    """Replace this process by `eyelevel path --internet WORDS -- eyelevel ARGUMENTS`.

    The network options are removed from the arguments. The recorder needs no changes: its traffic
    to the Internet goes over the path, including the handshakes that it times. Raises
    `NetworkError` for invalid options.
    """
    compose(words, read_stages)
    given = words.given()
    option_words = [word for pair in given.items() for word in pair]
    inner = [sys.executable, "-m", "eyelevel.cli.main", *without(given, arguments)]
    hints.print(
        f"recording behind `eyelevel path {' '.join(option_words)}`", markup=False, soft_wrap=True
    )
    sys.stdout.flush()
    binary = find_binary()
    os.execv(binary, [binary, "shell", "--internet", *option_words, "--", *inner])


def without(given: Container[str], arguments: Sequence[str]) -> list[str]:
    """Return a command line's arguments without these options and their values."""
    left: list[str] = []
    rest = iter(arguments)
    for word in rest:
        if word == "--":
            return [*left, word, *rest]
        if word in given:
            next(rest, None)
        elif word.partition("=")[0] not in given:
            left.append(word)
    return left

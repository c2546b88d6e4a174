"""Start a plan's live builds once for a run, and warm them before its first load."""

import http.client
import shlex
import socket
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from urllib.parse import urlsplit

from eyelevel.base.errors import ExpectedError
from eyelevel.load.live_build import HTTP_PORT, LiveBuild
from eyelevel.plan.plan import Plan
from eyelevel.plan.variants import Variant
from eyelevel.sites.recorded import RecordedSite, site_info
from eyelevel.sites.served_command import ServedCommandError, accepts, run_server

WARM_UP_REQUESTS = 3
"""Requests of each page before the first load: compiled, cached and connected to its database."""
WARM_UP_TIMEOUT_S = 60.0
_HTTP_ERROR = 400


class LiveBuildError(ExpectedError):
    """A live build cannot be loaded."""


@contextmanager
def start_live_builds(plan: Plan, sites: Sequence[RecordedSite]) -> Iterator[dict[str, LiveBuild]]:
    """Provide the plan's live builds by variant, warmed, until the block ends.

    Raises `ServedCommandError` and `LiveBuildError`.
    """
    with ExitStack() as started:
        builds = {}
        for variant in plan.variants:
            if variant.live is not None:
                builds[variant.name] = build = _start(variant, started)
                for site in sites:
                    page = str(site_info(site.variants.get(variant.name, site).path)["main_url"])
                    _warm(variant.name, build, page)
        yield builds


def check_execution(plan: Plan, jobs: int, cluster: str) -> None:
    """Raise `LiveBuildError` if loads of live builds would run beside each other or elsewhere."""
    if not any(variant.live for variant in plan.variants):
        return
    if jobs > 1 or cluster:
        option = f"--cluster {cluster}" if cluster else f"--jobs {jobs}"
        raise LiveBuildError(
            f"{option}: a live build answers one load at a time, on this machine; leave it out"
        )


def describe_builds(
    builds: Mapping[str, LiveBuild], sites: Sequence[RecordedSite]
) -> Iterator[str]:
    """Yield a line on each live build: where it is, and what answers for other origins."""
    for name, build in builds.items():
        for site in sites:
            info = site_info(site.variants.get(name, site).path)
            parts = urlsplit(str(info["main_url"]))
            others = "blocked" if len(info["origins"]) == 1 else f"those recorded in {site.name}"
            yield (
                f"{name}: {build.url} answers for {parts.scheme}://{parts.netloc}, third parties "
                f"are {others}; warmed by {WARM_UP_REQUESTS} requests"
            )


def _start(variant: Variant, started: ExitStack) -> LiveBuild:
    assert variant.live is not None
    subject = f"the live build `{variant.name}`"
    parts = urlsplit(variant.live.url or f"http://localhost:{_find_free_port()}")
    host, port = (parts.hostname or "").rstrip("."), parts.port or HTTP_PORT
    url = f"http://{parts.netloc}"
    session, find_end = None, lambda: ""
    if variant.live.command:
        command = shlex.join(variant.live.command)
        if accepts((host, port)):
            raise ServedCommandError(
                f"{subject}: {host}:{port} already accepts connections, so `{command}` could not "
                "be what is loaded; stop what runs there, or leave out `command`"
            )
        words = variant.live.command
        served = started.enter_context(run_server(subject, lambda: words, command, (host, port)))
        session, find_end = served.session, served.find_end
    address = _find_address(host, port)
    if address is None:
        raise LiveBuildError(
            f"{subject}: nothing accepts connections at {url}; start the server, or give the "
            "`command` that does"
        )
    return LiveBuild(url, host, address, port, session, find_end)


def _find_free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        return int(free.getsockname()[1])


def _find_address(host: str, port: int) -> str | None:
    """Return the loopback address at which a server accepts connections; None if none does."""
    for address in (host,) if host in ("127.0.0.1", "::1") else ("127.0.0.1", "::1"):
        if accepts((address, port)):
            return address
    return None


def _warm(variant: str, build: LiveBuild, page: str) -> None:
    """Request a page as labs do. Raises `LiveBuildError` if it is not there."""
    parts = urlsplit(page)
    target = page.partition(parts.netloc)[2] or "/"
    subject = f"the live build `{variant}`: warming up {build.url}{target}"
    fields = {
        "Host": parts.netloc,
        "X-Forwarded-Host": parts.netloc,
        "X-Forwarded-Proto": parts.scheme,
        "X-Forwarded-For": build.address,
        "Accept": "text/html,*/*;q=0.8",
    }
    for _ in range(WARM_UP_REQUESTS):
        connection = http.client.HTTPConnection(build.address, build.port, WARM_UP_TIMEOUT_S)
        try:
            connection.request("GET", target, headers=fields)
            answer = connection.getresponse()
            answer.read()
        except (OSError, http.client.HTTPException) as error:
            why = str(error) or type(error).__name__
            raise LiveBuildError(
                build.find_end() or f"{subject}: {why}; open its page in a browser"
            ) from error
        finally:
            connection.close()
        if answer.status >= _HTTP_ERROR:
            raise LiveBuildError(
                f"{subject}: the server answered {answer.status} to a request for {page}; make it "
                f"serve that page to the host {parts.netloc}"
            )

"""Make one live load: the page from its real servers, with the record of any other trial."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

from eyelevel.base.errors import BrowserStartError, LabError
from eyelevel.base.from_outside.files import read_text
from eyelevel.base.from_outside.host_names import spell_in_dns
from eyelevel.base.from_outside.limits import CERTIFICATES
from eyelevel.base.from_outside.source import Source
from eyelevel.browser.browsers import load_page
from eyelevel.browser.observations import LoadSettings, RawLoad
from eyelevel.browser.same_requests import SameRequests
from eyelevel.lab.client import LabSummary, LiveNetwork
from eyelevel.load.coding import Coding, coding
from eyelevel.load.host import HostSample
from eyelevel.load.judge import judge_live
from eyelevel.load.load_settings import on_screen
from eyelevel.load.quiet_host import HostWait, remember
from eyelevel.load.trial import TrialResult, list_suspended, observe, trial_result
from eyelevel.plan.trials import Trial
from eyelevel.sites.recorded import Screen

SCREEN = Screen((1366, 768))
"""The screen for a page without a recording, the same as in `eyelevel record`."""


def _ignore_message(_: str) -> None:
    pass


@dataclass(frozen=True)
class LivePage:
    """The page to load and how to reach it.

    `allow` has addresses and ranges that are not public, `upstream_ca` a file of certificates (PEM)
    to trust.
    """

    url: str
    allow: Sequence[str] = ()
    upstream_ca: Path | None = None
    screen: Screen = SCREEN
    """The screen if no device is emulated."""
    on_remark: Callable[[str], None] = _ignore_message
    """The callback for remarks, at each load, on how its network differs from the machine's usual
    one."""

    @property
    def origin(self) -> tuple[str, ...]:
        """The page's own origin as `host:port`; empty over cleartext.

        A browser over QUIC uses QUIC for it at once, and learns about other origins during a first
        visit.
        """
        parts = urlsplit(self.url)
        if parts.scheme != "https":
            return ()
        return (f"{spell_in_dns(parts.hostname or '')}:{parts.port or 443}",)


def run_live_trial(trial: Trial, page: LivePage, host_wait: HostWait | None = None) -> TrialResult:
    """Load the page once; every failure of the load is an outcome.

    Raises LabError if this machine has no live network to load from.
    """
    with LiveNetwork(page.allow, page.upstream_ca) as network, coding() as pictures:
        if network.remark:
            page.on_remark(network.remark)
        # Waits last, so that a machine that cannot load at all fails at once.
        waited_ms = host_wait.wait() * 1e3 if host_wait else 0.0
        result = _load(trial, page, network, pictures)
    host = result.record["host"]
    host["waited_for_host_ms"] = round(waited_ms, 3)
    host["wall_ms"] += host["waited_for_host_ms"]
    return result


def _load(trial: Trial, page: LivePage, network: LiveNetwork, pictures: Coding) -> TrialResult:
    started_at = datetime.now(UTC).isoformat(timespec="seconds")
    started_s = time.monotonic()
    before = HostSample.take(started_s)
    over: HostSample | None = None
    settings = live_settings(trial, page, network)
    raw: RawLoad | None = None
    failure: tuple[str, str] | None = None
    summary = LabSummary()

    def end(seen: RawLoad) -> None:
        nonlocal over
        over = HostSample.take(time.monotonic())
        remember(over)
        pictures.begin(seen)

    try:
        raw = load_page(replace(settings, when_over=end))
        summary = network.stop()
    except LabError as error:
        failure = ("lab-failed", str(error))
    except BrowserStartError as error:
        failure = ("browser-crashed", str(error))
    ended = over or HostSample.take(time.monotonic())
    wall_ms = (time.monotonic() - started_s) * 1e3
    host = {
        **before.until(ended),
        "wall_ms": round(wall_ms, 3),
        "lab_startup_ms": network.startup_ms,
        "suspended": list_suspended(raw, summary),
    }
    if raw is not None:
        failure = failure or judge_live(observe(trial, raw, summary, host))
    assert failure is not None
    found, outcome, detail = pictures.judged(*failure)
    return trial_result(trial, started_at, outcome, detail, raw, found, summary, host)


def live_settings(trial: Trial, page: LivePage, network: LiveNetwork) -> LoadSettings:
    """Return the browser's settings: those of a replay, but with the real date.

    A server may refuse to serve its pages for another date.
    """
    same = SameRequests(recorded_at_unix_ms=None) if trial.browser.same_requests else None
    authority = None
    if page.upstream_ca is not None:
        authority = read_text(page.upstream_ca, Source(str(page.upstream_ca), CERTIFICATES))
    settings = LoadSettings(
        url=page.url,
        stack=trial.stack_settings,
        browser=trial.browser,
        quic_origins=page.origin,
        spki_sha256=network.spki_sha256,
        ca_certificate=authority,
        command_prefix=network.command_prefix,
        same_page=same,
    )
    return on_screen(settings, trial, page.screen)

"""Load a recorded page without shaping over every protocol, and find what is missing.

Explain the requests of a page that its recording cannot answer.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from urllib.parse import urlsplit

from eyelevel.analysis.pictures.beside import is_blank
from eyelevel.base.json_types import JsonMapping
from eyelevel.browser.browsers import load_page
from eyelevel.browser.observations import LoadSettings, ObjectLoad, RawLoad
from eyelevel.browser.same_requests import SameRequests
from eyelevel.lab.client import Lab, LabConfig, LabSummary
from eyelevel.plan.browser import Browser
from eyelevel.plan.in_force import lab_stack
from eyelevel.plan.networks.presets import find_network
from eyelevel.plan.stack_presets import STACKS_BY_NAME
from eyelevel.plan.stacks import HttpVersion
from eyelevel.sites.contents import (
    USED_SHARE_MIN,
    Contents,
    RecordedObject,
    Texts,
    Use,
    contents_of,
    use_of,
)
from eyelevel.sites.recorded import read_blocked, read_screen, site_info
from eyelevel.sites.rendering import IN_BODY, blocks_rendering, only_scripts_below
from eyelevel.store.outcomes import NOT_RECORDED

_NAME_MIN = 4
"""Minimum length of a path to search for: a shorter one, such as a root, occurs by chance."""

_SHOWN_MAX = 80
"""Maximum characters of a URL inside a phrase."""


@dataclass(frozen=True)
class Miss:
    """A URL that the page requested and the recording does not have."""

    url: str
    resource_type: str
    render_blocking: bool
    nearest_url: str | None
    explanation: str
    """A phrase: why it is missing, and why the nearest URL does not answer."""
    is_icon: bool = False
    """Whether the browser requested it as the tab's icon, which the page does not show."""
    named_in: str | None = None
    """URL of the recorded text that names this URL: the recording itself lacks the response.
    None if a script generated the URL, which may be an effect of the replay.
    """


def _miss_of(
    item: ObjectLoad | None,
    url: str,
    answer: JsonMapping | None,
    initiators: Mapping[str, str],
    texts: Texts,
) -> Miss:
    """Return one miss, as recorded by browser (`item`) and server (`answer`).

    One of them may be None.
    """
    kind = item.resource_type if item else "Other"
    by = initiators.get(url)
    initiator_type = item.initiator_type if item else None
    # No part of the page requests a tab's icon: the browser does so itself. The page's own log
    # lacks requests of workers.
    is_icon = (
        item is not None and kind == "Other" and by is None and initiator_type in (None, "other")
    )
    source, reason = _reason(url, by, initiator_type == "parser", answer, texts)
    if is_icon:
        reason = "the icon of a browser's tab, which its recorder did not ask for"
    elif answer is not None:
        reason += f"; the nearest has another {answer.get('difference')}"
    if item is not None and item.render_blocking == IN_BODY:
        markup = texts.get(by or "", "")
        only = only_scripts_below(markup, by or "", url)
        held = "only scripts stand" if only else "it holds what stands"
        reason += f"; a synchronous script of the body: {held} below it"
    return Miss(
        url=url,
        resource_type=kind,
        render_blocking=item is not None and blocks_rendering(asdict(item)),
        nearest_url=answer.get("nearest_url") if answer else None,
        explanation=reason,
        is_icon=is_icon,
        named_in=source,
    )


def _reason(
    url: str, by: str | None, by_markup: bool, answer: JsonMapping | None, texts: Texts
) -> tuple[str | None, str]:
    """Return the recorded text that names the missing URL, or None, and an explanation."""
    # If the markup cannot be read here, rely on the browser's initiator.
    if source := find_naming_texts(url, texts) or (by if by_markup and by not in texts else None):
        return source, f"named in {_brief(source)}, but the recording does not hold its answer"
    made_up = f"made up by {_brief(by or 'a script or worker')}"
    if answer is not None:
        return None, made_up
    if source := find_naming_texts(f"//{urlsplit(url).netloc}", texts):
        clause = f"its host is named in {_brief(source)}"
        return source, f"{made_up}; {clause}, but nothing of it was recorded"
    return None, f"{made_up}; nothing was recorded from its host"


def _brief(url: str) -> str:
    return url if len(url) <= _SHOWN_MAX else f"{url[:_SHOWN_MAX]}…"


def find_naming_texts(url: str, texts: Texts) -> str | None:
    """Return the URL of the first recorded text that contains the URL, with host or as a path."""
    parts = urlsplit(url)
    target = parts.path + (f"?{parts.query}" if parts.query else "")
    for source, text in texts.items():
        on_its_own = len(target) >= _NAME_MIN and urlsplit(source).netloc == parts.netloc
        if f"//{parts.netloc}{target}" in text or (on_its_own and target in text):
            return source
    return None


def _in_order(misses: Iterable[Miss]) -> tuple[Miss, ...]:
    """Return misses by importance: render-blocking ones first, icons last."""
    return tuple(
        sorted(misses, key=lambda miss: (not miss.render_blocking, miss.is_icon, miss.url))
    )


STACKS: dict[HttpVersion, str] = {"h1": "http1", "h2": "tcp", "h3": "quic"}
"""Stacks over which a page is loaded in turn; without an emulated path their tuning has no
effect.
"""

LOADS_MAX = 10
"""Maximum number of loads in a check: by then each protocol had at least three."""

UNSHAPED: dict[str, list[object]] = {"down": [], "up": []}
TIMEOUT_S = 60.0
MISSING_SHARE_MAX = 0.05
"""Maximum share of a page's requests that may be missing. Above it the replayed page differs
from the recorded one: scripts generate URLs, or the recording is incomplete.
"""

RULES = (
    f"1: at most {MISSING_SHARE_MAX:g} of the requests missing, "
    f"at least {USED_SHARE_MIN:g} of the recording used"
)
"""Version of the rules for a fit page. It is stored with each verdict, and verdicts by other
rules are ignored: increment it with any change to what `failure` returns. Changed limits change
it automatically.
"""


@dataclass(frozen=True)
class PageLoad:
    """Observations of one load over one protocol."""

    http_version: HttpVersion
    ended: str
    detail: str
    requested: frozenset[str]
    """URLs requested over the network, misses included, without fragments."""
    answered: frozenset[int]
    """Indexes of the recorded exchanges that were served."""
    painted: bool
    """Whether the browser reported a first text or image."""
    misses: tuple[Miss, ...]
    """Missing requests, render-blocking ones first."""
    console_errors: tuple[str, ...]
    screenshot: bytes
    """PNG of the viewport."""

    def failure(self) -> str:
        """Return why the load did not show the page; "" if it did."""
        over = f"over {self.http_version}"
        if self.ended != "complete":
            return f"{over} the page did not load: {self.detail}"
        if not self.painted:
            return f"{over} the page painted neither text nor picture"
        if self.screenshot and is_blank(self.screenshot):
            return f"{over} the page's picture is blank: of one colour"
        return ""


@dataclass(frozen=True)
class PageFindings:
    """Observations of all loads of a page together."""

    loads: tuple[PageLoad, ...]
    varying_requests: dict[str, dict[HttpVersion, int]]
    """Requests (`request_key`) that only some loads made, with the number of loads per HTTP
    version that did, to separate chance from the effect of a protocol.
    """
    values_differ: tuple[str, ...]
    """Requests of all loads whose query values differed: the page's clock advances."""
    hosts_missing: tuple[str, ...]
    """Third-party hosts that the page requests and of which nothing was recorded."""
    missing_share: float
    """Share of missing requests in the load with most misses, without icons."""
    made_up_share: float
    """Share of missing requests whose URLs were generated by scripts."""
    lacking_share: float
    """Share of missing requests whose URLs are named in a recorded text: gaps of the recording,
    the same in every replay.
    """
    use: Use
    """The part of the recording that all loads together requested."""

    @property
    def misses(self) -> tuple[Miss, ...]:
        """All missing requests, each once, render-blocking ones first."""
        by_key = {
            request_key(miss.url): miss for load in reversed(self.loads) for miss in load.misses
        }
        return _in_order(by_key.values())

    @property
    def misses_agree(self) -> bool:
        """Whether every load missed the same requests, whatever its protocol."""
        missed = {frozenset(request_key(miss.url) for miss in load.misses) for load in self.loads}
        return len(missed) == 1

    def failure(self, used_share_min: float = USED_SHARE_MIN) -> str:
        """Return why this page cannot be measured; "" if it can.

        `used_share_min`: minimum share of the recording's objects and bytes that the loads must
        use.
        """
        if failed := next(filter(None, (load.failure() for load in self.loads)), ""):
            return failed
        if blocking := [miss for miss in self.misses if miss.render_blocking]:
            return f"render-blocking {blocking[0].url} is not in the recording"
        if not self.misses_agree:
            return "not every load missed the same URLs"
        if self.missing_share > MISSING_SHARE_MAX:
            return f"{self.missing_share:.0%} of the requests are not in the recording"
        return self.use.failure(used_share_min)


def check_page(
    archive: Path,
    loads: int,
    on_load: Callable[[PageLoad], None] = lambda load: None,
    quiet_s: float = 1.0,
) -> PageFindings:
    """Load the page `loads` times over h1, h2 and h3 in turn; raises as `Lab` and `load_page`.

    A load ends when nothing was requested for `quiet_s` after its load event.
    """
    versions = tuple(STACKS)
    contents = contents_of(archive)
    done = []
    for number in range(loads):
        done.append(_load(archive, versions[number % len(versions)], contents, quiet_s))
        on_load(done[-1])
    hosts = {origin["host"] for origin in site_info(archive)["origins"]}
    return findings(done, hosts, contents.objects)


def findings(
    loads: Sequence[PageLoad], recorded_hosts: set[str], recorded: Sequence[RecordedObject]
) -> PageFindings:
    """Combine the loads of one page (pure)."""
    requested = [
        (load.http_version, {request_key(url) for url in load.requested}) for load in loads
    ]
    always = set.intersection(*(keys for _, keys in requested)) if requested else set()
    sometimes = set().union(*(keys for _, keys in requested)) - always
    urls = Counter(url for load in loads for url in load.requested)
    changing = {request_key(url) for url, count in urls.items() if count != len(loads)}
    not_always = {
        key: {
            version: sum(key in keys for of, keys in requested if of == version)
            for version in dict.fromkeys(version for version, _ in requested)
        }
        for key in sorted(sometimes)
    }
    missed_hosts = {urlsplit(miss.url).hostname or "" for load in loads for miss in load.misses}

    def share(*of_recording: bool) -> float:
        counts = [
            sum(not m.is_icon and (m.named_in is not None) in of_recording for m in load.misses)
            / max(1, len(load.requested))
            for load in loads
        ]
        return max(counts, default=math.nan)

    return PageFindings(
        loads=tuple(loads),
        varying_requests=not_always,
        values_differ=tuple(sorted(changing - not_always.keys())),
        hosts_missing=tuple(sorted(missed_hosts - recorded_hosts)),
        missing_share=share(False, True),
        made_up_share=share(False),
        lacking_share=share(True),
        use=use_of(recorded, frozenset().union(*(load.answered for load in loads))),
    )


def request_key(url: str) -> str:
    """Return a key that identifies a request across loads: its URL without parameter values."""
    parts = urlsplit(url)
    path, _, path_parameters = parts.path.partition(";")
    given = path_parameters.split(";") + parts.query.split("&")
    names = [pair.partition("=")[0] for pair in given if pair]
    return f"{parts.scheme}://{parts.netloc}{path}" + ("?" + "&".join(names) if names else "")


def _load(archive: Path, http_version: HttpVersion, contents: Contents, quiet_s: float) -> PageLoad:
    screen = read_screen(archive)
    # The network only affects buffer sizes, which these stacks do not set.
    stack = STACKS_BY_NAME[STACKS[http_version]]
    message = lab_stack(stack, find_network("dsl"))
    with Lab(LabConfig(UNSHAPED, 1, str(archive.resolve()), message)) as lab:
        settings = LoadSettings(
            url=lab.ready.main_url or "",
            stack=stack,
            browser=Browser(capture=False, timeout_s=TIMEOUT_S),
            quic_origins=lab.ready.quic_origins(),
            own_hosts=lab.ready.own_hosts(),
            spki_sha256=lab.ready.spki_sha256,
            command_prefix=lab.command_prefix,
            viewport_px=screen.viewport_px,
            mobile=screen.mobile,
            screenshot=True,
            same_page=SameRequests(site_info(archive)["recorded_at_unix_ms"]),
            blocked_urls=read_blocked(archive),
            quiet_s=quiet_s,
            as_recorded=True,
        )
        raw = load_page(settings)
        summary = lab.stop()
    return observe_load(http_version, raw, summary, contents.texts)


def observe_load(
    http_version: HttpVersion, raw: RawLoad, summary: LabSummary, texts: Texts
) -> PageLoad:
    """Summarise one load from the records of browser and servers (pure)."""
    answers = {
        request["url"]: request for request in summary.requests if request["match"] == "miss"
    }
    web = [item for item in raw.objects if item.url.startswith(("http://", "https://"))]
    initiators = {_without_fragment(url): by for url, by in raw.initiators.items()}
    missed: dict[str, ObjectLoad | None] = {}
    for item in web:
        url = _without_fragment(item.url)
        if url in answers or (item.failed or "") in NOT_RECORDED:
            missed.setdefault(url, item)
    # Requests of workers are not in the page's own log.
    missed |= {url: None for url in answers if url not in missed}
    misses = (
        _miss_of(item, url, answers.get(url), initiators, texts) for url, item in missed.items()
    )
    return PageLoad(
        http_version=http_version,
        ended=raw.ended,
        detail=raw.detail,
        requested=frozenset(
            _without_fragment(item.url) for item in web if item.source == "network"
        ),
        answered=frozenset(
            request["exchange"] for request in summary.requests if "exchange" in request
        ),
        painted=raw.navigation.first_contentful_paint_ms is not None,
        misses=_in_order(misses),
        console_errors=raw.console_errors,
        screenshot=raw.screenshot,
    )


def _without_fragment(url: str) -> str:
    return url.partition("#")[0]

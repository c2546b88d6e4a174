"""Load a recorded page without shaping over every protocol, and say what of it is not there."""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from eyelevel.browser.browsers import load_page
from eyelevel.browser.observations import LoadSettings, ObjectLoad, RawLoad
from eyelevel.browser.same_requests import SameRequests
from eyelevel.lab.client import Lab, LabConfig, LabSummary
from eyelevel.networks.presets import find_network
from eyelevel.pictures.beside import is_blank
from eyelevel.plan.browser import Browser
from eyelevel.plan.in_force import lab_stack
from eyelevel.plan.stack_presets import STACKS_BY_NAME
from eyelevel.plan.stack_terms import (
    HttpVersion,
)
from eyelevel.sites.contents import Contents, RecordedObject, Texts, contents_of
from eyelevel.sites.misses import Miss, in_order, miss_of
from eyelevel.sites.recorded import read_screen, site_info
from eyelevel.sites.use import USED_SHARE_MIN, Use, use_of
from eyelevel.store.outcomes import NOT_RECORDED

STACKS: dict[HttpVersion, str] = {"h1": "http1", "h2": "tcp", "h3": "quic"}
"""The stacks over which a page is loaded in turn; without a path their tuning does not matter."""

LOADS_MAX = 10
"""The most loads of a check; by then three or more over each protocol have shown what there is."""

UNSHAPED: dict[str, list[object]] = {"down": [], "up": []}
TIMEOUT_S = 60.0
MISSING_SHARE_MAX = 0.05
"""The largest share of a page's requests that may be missing; with more missing, it is another page
than the recorded one, whether scripts invent URLs or the recording is incomplete."""

RULES = (
    f"1: at most {MISSING_SHARE_MAX:g} of the requests missing, "
    f"at least {USED_SHARE_MIN:g} of the recording used"
)
"""The version of the rules for a fit page. Verdicts are kept with it, and one by other rules is
ignored: increment it with any change to what `failure` returns. Limits change it by themselves."""


@dataclass(frozen=True)
class PageLoad:
    """The observations of one load over one protocol."""

    http_version: HttpVersion
    ended: str
    detail: str
    asked: frozenset[str]
    """URLs over the network, misses included, without their fragments."""
    answered: frozenset[int]
    """Positions of the recorded exchanges that answered."""
    painted: bool
    """Whether the page's first text or picture was seen by the browser."""
    misses: tuple[Miss, ...]
    """Those that hold the page's rendering come first."""
    console_errors: tuple[str, ...]
    screenshot: bytes
    """PNG of the viewport."""

    def failure(self) -> str:
        """Return why it did not show the page; empty if it did."""
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
    """The observations of all loads of a page together."""

    loads: tuple[PageLoad, ...]
    not_always_asked: dict[str, dict[HttpVersion, int]]
    """The requests (`request_key`) that some loads made and others did not: how many of each HTTP
    version's did, to separate chance from the effect of a protocol."""
    values_differ: tuple[str, ...]
    """Requests of all loads whose queries had other values in some: the page's clock runs on."""
    hosts_missing: tuple[str, ...]
    """Third parties of which nothing was recorded, though the page asks them."""
    missing_share: float
    """The share of missing requests in the load with most misses, without icons."""
    made_up_share: float
    """The share of missing requests whose URLs scripts invented."""
    lacking_share: float
    """The share of missing requests whose URLs a recorded text names: gaps of the recording, alike
    in every replay."""
    use: Use
    """The part of the recording that all loads together requested."""

    @property
    def misses(self) -> tuple[Miss, ...]:
        """Each request once, those that hold the first paint first."""
        by_key = {
            request_key(miss.url): miss for load in reversed(self.loads) for miss in load.misses
        }
        return in_order(by_key.values())

    @property
    def misses_agree(self) -> bool:
        """Whether every load missed the same requests, whatever its protocol."""
        missed = {frozenset(request_key(miss.url) for miss in load.misses) for load in self.loads}
        return len(missed) == 1

    def failure(self, used_share_min: float = USED_SHARE_MIN) -> str:
        """Return why this page cannot be measured; empty if it can.

        `used_share_min`: of the recording's objects and bytes, what the loads use at least.
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

    A load ends when the page asked for nothing for `quiet_s` after its load event.
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
    """Combine the loads of one page: pure."""
    requested = [(load.http_version, {request_key(url) for url in load.asked}) for load in loads]
    always = set.intersection(*(keys for _, keys in requested)) if requested else set()
    sometimes = set().union(*(keys for _, keys in requested)) - always
    urls = Counter(url for load in loads for url in load.asked)
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
            / max(1, len(load.asked))
            for load in loads
        ]
        return max(counts, default=math.nan)

    return PageFindings(
        loads=tuple(loads),
        not_always_asked=not_always,
        values_differ=tuple(sorted(changing - not_always.keys())),
        hosts_missing=tuple(sorted(missed_hosts - recorded_hosts)),
        missing_share=share(False, True),
        made_up_share=share(False),
        lacking_share=share(True),
        use=use_of(recorded, frozenset().union(*(load.answered for load in loads))),
    )


def request_key(url: str) -> str:
    """Return what identifies a request in two loads: the URL with the names of its parameters
    only."""
    parts = urlsplit(url)
    path, _, path_parameters = parts.path.partition(";")
    given = path_parameters.split(";") + parts.query.split("&")
    names = [pair.partition("=")[0] for pair in given if pair]
    return f"{parts.scheme}://{parts.netloc}{path}" + ("?" + "&".join(names) if names else "")


def _load(archive: Path, http_version: HttpVersion, contents: Contents, quiet_s: float) -> PageLoad:
    screen = read_screen(archive)
    # The network only sizes buffers, of which these stacks have none of their own.
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
            quiet_s=quiet_s,
            as_recorded=True,
        )
        raw = load_page(settings)
        summary = lab.stop()
    return observe_load(http_version, raw, summary, contents.texts)


def observe_load(
    http_version: HttpVersion, raw: RawLoad, summary: LabSummary, texts: Texts
) -> PageLoad:
    """Summarise one load from what browser and servers saw: pure."""
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
    # Of workers the page's own log says nothing.
    missed |= {url: None for url in answers if url not in missed}
    misses = (
        miss_of(item, url, answers.get(url), initiators, texts) for url, item in missed.items()
    )
    return PageLoad(
        http_version=http_version,
        ended=raw.ended,
        detail=raw.detail,
        asked=frozenset(_without_fragment(item.url) for item in web if item.source == "network"),
        answered=frozenset(
            request["exchange"] for request in summary.requests if "exchange" in request
        ),
        painted=raw.navigation.first_contentful_paint_ms is not None,
        misses=in_order(misses),
        console_errors=raw.console_errors,
        screenshot=raw.screenshot,
    )


def _without_fragment(url: str) -> str:
    return url.partition("#")[0]

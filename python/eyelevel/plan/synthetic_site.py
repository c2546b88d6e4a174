"""Synthetic sites by name.

Either `synthetic:objects=20,object_bytes=10000,origins=2`, or one of many sites that follow a
published distribution: `synthetic:like=das2014,site=17`. `live:https://shop.test/` is the page of
live builds alone: an origin and a path, without a recording of anything else.
"""

import hashlib
import re
from dataclasses import asdict, dataclass
from urllib.parse import urlsplit

from eyelevel.base.errors import unknown
from eyelevel.base.from_outside.words import escape_control_characters, excerpt

PREFIX = "synthetic:"
BOUNDS = {
    "objects": (1, 2000),
    "object_bytes": (2, 50_000_000),
    "origins": (1, 200),
    "late_style": (0, 1),
}
MARKUP_BYTES = 300
"""Bytes of a page's own markup; a smaller page has none, and so no further objects."""


LIKE = ("das2014", "httparchive2025")
"""Published distributions that sites can follow (`eyelevel.sites.synthetic.published`)."""
LIKE_BOUNDS = {"site": (1, 10_000), "count": (1, 10_000), "seed": (0, 2**31)}
LIKE_COUNT = 500
"""Default number of sites, as in Das's corpus."""


@dataclass(frozen=True)
class LikeSite:
    """One of `count` sites drawn with a seed, which together follow a published distribution."""

    like: str
    site: int
    count: int = LIKE_COUNT
    seed: int = 1

    @property
    def name(self) -> str:
        """Return the name for tables and files, as `eyelevel site synth` uses it."""
        number = f"{self.site:0{len(str(self.count))}}"
        of = "" if self.count == LIKE_COUNT else f"of{self.count}"
        return f"{self.like}-{self.seed}-{number}{of}"

    @property
    def in_plan(self) -> str:
        """Return the name for a plan's `sites`."""
        usual = self.count == LIKE_COUNT and self.seed == 1
        drawn = "" if usual else f",count={self.count},seed={self.seed}"
        return f"{PREFIX}like={self.like},site={self.site}{drawn}"


@dataclass(frozen=True)
class SyntheticSite:
    """A page and `objects` - 1 images of `object_bytes` each, spread over the origins in turn.

    Nothing is compressed, so that the sizes on the wire are as given. With `late_style` the last
    object is a style sheet that blocks rendering, which is requested after all images: the worst
    page for servers that send responses in turn.
    """

    objects: int = 1
    object_bytes: int = 10_000
    origins: int = 1
    late_style: int = 0

    @property
    def name(self) -> str:
        """Return the name for tables and files, with all parameters."""
        late = "-late" if self.late_style else ""
        return f"synthetic-{self.objects}x{self.object_bytes}-{self.origins}{late}"


LIVE_PREFIX = "live:"
LIVE_ORIGIN = "https://live.test"
"""The origin of a live page for which nobody names another."""
_OF_NAMES = re.compile(r"[^A-Za-z0-9.]+")


@dataclass(frozen=True)
class LiveSite:
    """The page of live builds, at the URL that browsers open."""

    url: str

    @property
    def name(self) -> str:
        """Return the name for tables and files: the host, and the path if there is one."""
        parts = urlsplit(self.url)
        path = self.url.partition(parts.netloc)[2]
        words = _OF_NAMES.sub("-", path[:60]).strip("-.")
        suffix = f"-{words}-{hashlib.sha256(path.encode()).hexdigest()[:6]}" if words else ""
        return f"live-{_OF_NAMES.sub('-', parts.netloc).lower()}{suffix}"


def is_synthetic(site: str) -> bool:
    """Return whether a plan's site is a synthetic one, or that of live builds."""
    return site.startswith((PREFIX, LIVE_PREFIX))


def parse_synthetic(site: str) -> SyntheticSite | LikeSite | LiveSite:
    """Parse a synthetic site's name; raises `ValueError` if it is invalid."""
    if site.startswith(LIVE_PREFIX):
        return _live(site)
    given = {}
    for part in filter(None, site.removeprefix(PREFIX).split(",")):
        key, _, value = (word.strip() for word in part.partition("="))
        given[key] = value
    if "like" in given:
        return _parse_like(site, given)
    values = asdict(SyntheticSite()) | _whole_numbers(site, given, BOUNDS)
    if values["objects"] > 1 and values["object_bytes"] < MARKUP_BYTES:
        raise _refusal(site, f"a page with objects has at least {MARKUP_BYTES} bytes; give it more")
    if values["origins"] > values["objects"]:
        raise _refusal(site, "more origins than objects; lower `origins`")
    if values["late_style"] and values["objects"] < 2:
        raise _refusal(site, "a style sheet is an object of its own; give it more `objects`")
    return SyntheticSite(**values)


def _live(site: str) -> LiveSite:
    url = site.removeprefix(LIVE_PREFIX)
    try:
        parts = urlsplit(url)
        is_page = parts.scheme == "https" and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_page = False
    if not is_page or not url.isascii() or "@" in parts.netloc or parts.fragment:
        raise _refusal(site, "no page's https URL; write it as `live:https://shop.test/`")
    return LiveSite(url if parts.path else f"{url}/")


def list_like_sites(like: str, count: int = LIKE_COUNT, seed: int = 1) -> tuple[str, ...]:
    """Return all `count` sites of one draw, as a plan names them."""
    return tuple(LikeSite(like, site, count, seed).in_plan for site in range(1, count + 1))


def _parse_like(site: str, given: dict[str, str]) -> LikeSite:
    like = given.pop("like")
    if like not in LIKE:
        raise _refusal(site, unknown("source", like, LIKE))
    if "site" not in given:
        raise _refusal(site, "say which one, such as `site=17`")
    made = LikeSite(like, **_whole_numbers(site, given, LIKE_BOUNDS))
    if made.site > made.count:
        raise _refusal(
            site, f"there are {made.count} sites, so there is no {made.site}; name a lower one"
        )
    return made


def _whole_numbers(
    site: str, given: dict[str, str], bounds: dict[str, tuple[int, int]]
) -> dict[str, int]:
    values = {}
    for key, value in given.items():
        if key not in bounds:
            raise _refusal(site, unknown("key", key, [*bounds, "like"]))
        low, high = bounds[key]
        if not value.isdecimal() or len(value) > 18 or not low <= int(value) <= high:
            raise _refusal(site, f"`{key}` is a whole number from {low} to {high}; write one")
        values[key] = int(value)
    return values


def _refusal(site: str, why: str) -> ValueError:
    return ValueError(f"site `{excerpt(site)}`: {escape_control_characters(why, keep='')}")

"""Read lists of pages to record: one URL or host per line, or a published list by name.

Sites of the studies that this project builds on, as far as the studies name them.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from eyelevel.base.errors import CorpusError, nearest
from eyelevel.base.from_outside.files import lines_of
from eyelevel.base.from_outside.limits import PAGES, WORD_LINE_BYTES_MAX
from eyelevel.base.from_outside.source import Source
from eyelevel.base.from_outside.words import excerpt
from eyelevel.sites.corpora.sources import plain_name

PAGES_MAX = 10_000
_HOST = re.compile(
    r"[a-zA-Z0-9_\u0080-\U0010ffff-]+(\.[a-zA-Z0-9_\u0080-\U0010ffff-]+)*(:\d{1,5})?/?"
)


def read_pages(given: str) -> list[str]:
    """Return the URLs of a list's file, or of a published list, each once and in order.

    A line is a URL, or a host, which stands for its start page over https; ranks before a comma, as
    in Tranco's lists, are ignored. Raises `CorpusError` with the first invalid line.
    """
    path = Path(given)
    if not path.is_file():
        if given in PUBLISHED_LISTS:
            return PUBLISHED_LISTS[given].urls
        close = nearest(given, PUBLISHED_LISTS)
        meant = f"did you mean `{close}`?" if close else f"published: {', '.join(PUBLISHED_LISTS)}"
        raise CorpusError(
            f"there is no list `{excerpt(given)}`; give a file with one URL per line; {meant}"
        )
    source = Source(given, PAGES, CorpusError)
    lines = lines_of(path, source, WORD_LINE_BYTES_MAX)
    urls = list(dict.fromkeys(_urls(lines, given)))
    if not urls:
        raise CorpusError(f"{given} names no page; give one URL per line")
    if len(urls) > PAGES_MAX:
        raise CorpusError(f"{given} has over {PAGES_MAX:,} pages; split it")
    return urls


def name_of_page(url: str, taken: set[str]) -> str:
    """Return a name for tables and files made of host and path, different from those `taken`."""
    parts = urlsplit(url)
    name = plain_name(f"{parts.netloc.rpartition('@')[2]}{parts.path}-{parts.query}")
    if name not in taken:
        return name
    return next(each for n in range(2, PAGES_MAX + 2) if (each := f"{name}-{n}") not in taken)


def _urls(lines: Iterable[tuple[int, str]], file: str) -> Iterable[str]:
    for number, line in lines:
        word = line.strip()
        if not word or word.startswith("#"):
            continue
        rank, comma, rest = word.partition(",")
        word = rest.strip() if comma and rank.strip().isdecimal() else word
        url = f"https://{word.removesuffix('/')}/" if _HOST.fullmatch(word) else word
        if not _is_page(url):
            raise CorpusError(
                f"{file}:{number}: `{excerpt(word)}` is neither a URL nor a host; write it as "
                "`https://www.example.org/`"
            )
        yield url


def _is_page(url: str) -> bool:
    try:
        parts = urlsplit(url)
        port_is_one = parts.port is None or parts.port > 0
    except ValueError:  # an incomplete IPv6 address, or an invalid port
        return False
    is_web = parts.scheme in ("http", "https") and bool(parts.hostname)
    return is_web and port_is_one and url.isprintable() and " " not in url


@dataclass(frozen=True)
class NamedSite:
    """A site that a study names."""

    name: str
    place: str
    """Place in the study's text."""
    url: str = ""
    """Start page, if the text gives a host or a URL; "" if it gives only a name."""


@dataclass(frozen=True)
class PublishedList:
    """The named sites of a study; its other sites are unknown."""

    name: str
    source: str
    chosen: str
    """The rule by which the study chose its sites."""
    count: int
    named: tuple[NamedSite, ...]

    @property
    def unknown(self) -> int:
        """Number of sites that the text does not name."""
        return self.count - len(self.named)

    @property
    def urls(self) -> list[str]:
        """Start pages that can be recorded."""
        return [site.url for site in self.named if site.url]


def _table_5_1(rows: str, place: str) -> tuple[NamedSite, ...]:
    return tuple(NamedSite(name.strip(), place) for name in rows.split(","))


WOLSING_2019 = PublishedList(
    "wolsing-2019",
    "Wolsing et al. 2019, sections 3.1 and 4; figure 1 names all of them, but is a picture",
    "All but two of the sites of Wijnants et al. 2018, from the lists of Alexa and Moz, with "
    "various sizes and numbers of resources",
    38,
    (
        NamedSite("github.com", "section 3.1", "https://github.com/"),
        NamedSite("nytimes.com", "section 4, figure 4", "https://nytimes.com/"),
        NamedSite("wikipedia.org", "section 4, table 3", "https://wikipedia.org/"),
        NamedSite("gnu.org", "section 4, table 3", "https://gnu.org/"),
    ),
)
DAS_2014 = PublishedList(
    "das-2014",
    "Das 2014, chapter 4, section 4.4, table 5.1; the recordings are Mahimahi's, "
    "https://github.com/ravinet/sites",
    "The most popular sites in the United States according to Alexa, 2014",
    500,
    (
        NamedSite("Google", "chapter 4", "https://www.google.com/"),
        NamedSite("YouTube", "chapter 4, figure 4-2", "https://www.youtube.com/"),
        NamedSite("pandora.com", "section 4.4", "http://www.pandora.com/"),
        *_table_5_1(
            "Answers, BuzzFeed, CVS, People, Credit 6, Twitch, Pogo, TMZ, Fast Daily Find, Zeobit",
            "table 5.1, hurt most",
        ),
        *_table_5_1(
            "HootSuite, USPS, ADP, SiteScout, LinkedIn, Sears, SunTrust, Wikimedia, U.S. Bank, "
            "Washington Post",
            "table 5.1, helped most",
        ),
    ),
)
PUBLISHED_LISTS = {each.name: each for each in (WOLSING_2019, DAS_2014)}

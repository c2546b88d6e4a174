"""Read lists of pages to record: one URL or host per line, or a published list by name.

Sites of the studies that this project builds on, as far as the studies name them.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from eyelevel.base.errors import CorpusError, nearest
from eyelevel.base.from_outside.host_lists import parse_host, read_host_rows
from eyelevel.base.from_outside.limits import PAGES
from eyelevel.base.from_outside.source import Source
from eyelevel.base.from_outside.words import excerpt
from eyelevel.sites.corpora.sources import plain_name

PAGES_MAX = 10_000
_URL = re.compile(r"(https?://)([^/?#@]*@)?([^#]*)(#.*)?", re.IGNORECASE)
_PORTS = {"https://": 443, "http://": 80}


def read_pages(given: str) -> list[str]:
    """Return the URLs of a list's file, or of a published list, each once and in order.

    A line is a URL, or a host, which stands for its start page over https; ranks, headings and
    comments are as in lists of hosts. Raises `CorpusError` with the first invalid line.
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
    urls = list(dict.fromkeys(_urls(path, source)))
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


def _urls(path: Path, source: Source) -> Iterator[str]:
    for number, text, columns in read_host_rows(path, source, with_urls=True):
        try:
            yield _page_url(columns.host_in(text, number, source).strip())
        except ValueError as error:
            fault = f"`{excerpt(text)}` is neither a URL nor a host ({excerpt(error)})"
            remedy = "write it as `https://www.example.org/`"
            raise source.refusal(fault, str(number), remedy) from error


def _page_url(word: str) -> str:
    """Return the URL of a page in the form in which browsers write it, with its fragment.

    Raises `ValueError` with the reason.
    """
    if not word.isprintable():
        raise ValueError("a character that is not printed is in it")
    found = _URL.fullmatch(word)
    scheme, user, rest, fragment = found.groups("") if found else ("", "", word, "")
    host = parse_host(f"{scheme}{rest}")
    scheme = scheme.lower() or "https://"
    name = f"[{host.name}]" if ":" in host.name else host.name
    is_named = host.port not in (None, _PORTS[scheme])
    port = f":{host.port}" if is_named else ""
    return f"{scheme}{user}{name}{port}{host.path}{fragment}"


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

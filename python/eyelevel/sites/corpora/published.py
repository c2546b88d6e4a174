"""Sites of the studies that this project builds on, as far as the studies name them."""

from dataclasses import dataclass


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
    """How the study chose its sites."""
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

"""Read the attributes of each recording of a corpus, once."""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Literal

from eyelevel.base.errors import ExpectedError
from eyelevel.base.json_types import JsonMapping
from eyelevel.lab.binary import run_tool
from eyelevel.sites.corpora.members import Member
from eyelevel.sites.recorded import open_site

READ_AT_ONCE = 2
"""Recordings read in parallel; each is a process of the data plane that reads and hashes a file."""
TIME_LIMIT_S = 120.0

Unit = Literal["", "bytes", "share"]


@dataclass(frozen=True)
class SiteAttributes:
    """One recording in numbers; sizes are response bodies as sent, in bytes."""

    name: str
    site: str
    """Name or path for `open_site`."""
    page: str
    digest: str
    server_addresses: int | None
    """Number of server addresses; None if one was not recorded, so that replays assign one to
    its host.
    """
    origins: int
    objects: int
    object_bytes: tuple[int, ...]
    """Size of each object, in recorded order."""
    body_bytes: int
    secure_share: float
    """Share of objects over https, 0 to 1."""
    secure_bytes_share: float
    """Share of bytes over https, 0 to 1."""
    dependency_depth: int
    """Longest chain of objects in which each made the browser request the next."""
    is_altered: bool = False
    """Whether exchanges were changed after the recording, so that sizes may not be as sent."""

    @property
    def secure_page(self) -> float:
        """1 if the page itself came over https, else 0.

        Das calls that an HTTPS website: 43 of his 500 (section 5.4).
        """
        return float(self.page.startswith("https:"))

    @property
    def object_bytes_mean(self) -> float:
        """Mean size of an object, as in Das's table 5.1."""
        return self.body_bytes / self.objects


@dataclass(frozen=True)
class Attribute:
    """A number by which sites are described, ordered and drawn."""

    name: str
    title: str
    of: Callable[[SiteAttributes], float | None]
    """Function that reads it; returns None if it was not recorded."""
    unit: Unit = ""


ATTRIBUTES = (
    Attribute("server_addresses", "server addresses", lambda site: site.server_addresses),
    Attribute("origins", "origins", lambda site: site.origins),
    Attribute("objects", "objects", lambda site: site.objects),
    Attribute("object_bytes_mean", "mean object", lambda site: site.object_bytes_mean, "bytes"),
    Attribute("body_bytes", "total size", lambda site: site.body_bytes, "bytes"),
    Attribute("secure_share", "secure share", lambda site: site.secure_share, "share"),
    Attribute(
        "secure_bytes_share",
        "secure share of bytes",
        lambda site: site.secure_bytes_share,
        "share",
    ),
    Attribute("secure_page", "page over https", lambda site: site.secure_page, "share"),
    Attribute("dependency_depth", "dependency depth", lambda site: site.dependency_depth),
)
ATTRIBUTES_BY_NAME = {attribute.name: attribute for attribute in ATTRIBUTES}


@dataclass(frozen=True)
class Unreadable:
    """A file that is not a recording or is damaged, with the reason."""

    name: str
    site: str
    reason: str


def read_attributes(found: Iterable[Member]) -> Iterator[SiteAttributes | Unreadable]:
    """Yield each recording's attributes, in the order of the members."""
    with ThreadPoolExecutor(READ_AT_ONCE) as pool:
        try:
            yield from pool.map(_read, found)
        finally:
            pool.shutdown(cancel_futures=True)


def _read(member: Member) -> SiteAttributes | Unreadable:
    try:
        path = open_site(member.site).path.resolve()
        command = ["archive", "info", str(path), "--json", "--sizes"]
        output = run_tool(command, within_s=TIME_LIMIT_S)
    except ExpectedError as error:
        return Unreadable(member.name, member.site, " ".join(str(error).split()))
    return SiteAttributes(
        name=member.name,
        site=member.site,
        page=output["main_url"],
        digest=output["digest"],
        server_addresses=count_addresses(output),
        origins=len(output["origins"]),
        objects=output["objects"],
        object_bytes=tuple(output["body_sizes"]),
        body_bytes=output["body_bytes"],
        secure_share=output["secure_share"],
        secure_bytes_share=output["secure_bytes_share"],
        dependency_depth=output["dependency_depth"],
        is_altered=bool(output["provenance"].get("altered")),
    )


def count_addresses(info: JsonMapping) -> int | None:
    """Return how many server addresses a recording's hosts had, from its `archive info`.

    None if one was not recorded, as in HAR files without `serverIPAddress`.
    """
    recorded = all(origin["address_recorded"] for origin in info["origins"])
    return info["server_addresses"] if recorded else None

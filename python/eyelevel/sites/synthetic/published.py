"""Published distributions of websites' properties, and interpolation of their quantiles."""

from dataclasses import dataclass
from math import exp, log
from statistics import NormalDist

Quantiles = tuple[tuple[float, float], ...]
"""Pairs of a share of sites and the value below which they lie, ascending; sizes in bytes."""

_NORMAL = NormalDist()
_EXTREME = 0.001
"""Quantile of the smallest (and largest) of 500 sites: half of one of 500."""


@dataclass(frozen=True)
class Published:
    """One source's distributions.

    What the source does not give is an assumption, and its comment states that.
    """

    title: str
    objects: Quantiles
    total_bytes: Quantiles
    origins: Quantiles
    object_bytes_spread: float
    """Standard deviation of the logarithm of object sizes within a page."""
    types: dict[str, tuple[float, float]]
    """Types of objects, each with its share of the objects other than the document and its
    typical bytes.
    """
    object_bytes_max: float | None = None
    """Largest object of all sites, which belongs to the site with the most bytes; None if not
    given.
    """
    rank_correlation: float = 0.7
    """Rank correlation of objects and total bytes: pages with many objects have more bytes.
    Assumed.
    """
    depth_shares: tuple[float, ...] = (0.6, 0.28, 0.12)
    """Shares of objects at depth 2, 3 and 4; the document has depth 1. Assumed: neither source
    gives them.
    """


PUBLISHED: dict[str, Published] = {
    "das2014": Published(
        title="Das, Evaluation of QUIC on Web Page Performance (2014), table 4.1: 500 sites",
        objects=((_EXTREME, 2), (0.5, 100), (1 - _EXTREME, 680)),
        total_bytes=((_EXTREME, 15e3), (0.5, 1.2e6), (1 - _EXTREME, 51e6)),
        # The table counts server addresses; each origin gets one of its own.
        origins=((_EXTREME, 1), (0.5, 22), (1 - _EXTREME, 66)),
        # Chosen so that the median object of all sites has the table's 3.0 kB.
        object_bytes_spread=1.83,
        # Not in the table: of the 169 objects of three sites of the same project's recordings.
        types={
            "image": (0.671, 21e3),
            "script": (0.168, 30e3),
            "style": (0.062, 11e3),
            "font": (0.019, 61e3),
            "data": (0.08, 10e3),
        },
        object_bytes_max=43e6,
    ),
    "httparchive2025": Published(
        title="HTTP Archive, desktop pages of 2025: page weight and requests",
        objects=((0.1, 27), (0.25, 46), (0.5, 77), (0.75, 122), (0.9, 185)),
        total_bytes=((0.1, 607e3), (0.25, 1275e3), (0.5, 2412e3), (0.75, 4570e3), (0.9, 9179e3)),
        # Not given in the source: as many per object as Das's sites have.
        origins=((_EXTREME, 1), (0.5, 17), (1 - _EXTREME, 51)),
        object_bytes_spread=1.6,
        # Web Almanac 2024, page weight: 18 images of 1054 kB, 24 scripts of 613 kB, 131 kB of
        # fonts, 78 kB of style sheets of 71 requests; how many of the last two is assumed.
        types={
            "image": (0.34, 59e3),
            "script": (0.38, 26e3),
            "style": (0.11, 10e3),
            "font": (0.06, 33e3),
            "data": (0.11, 2e3),
        },
    ),
}


def quantile(points: Quantiles, share: float) -> float:
    """Return the value below which `share` of the sites lie, 0 to 1 exclusive.

    Between two given points, and beyond the outermost ones up to the extremes of 500 sites, the
    logarithm of the value is linear in the normal distribution's quantiles: a log-normal
    distribution with a separate width between any two points.
    """
    deviate = _NORMAL.inv_cdf(min(max(share, _EXTREME), 1 - _EXTREME))
    places = [(_NORMAL.inv_cdf(below), log(value)) for below, value in points]
    first = next((n for n in range(len(places) - 2) if deviate < places[n + 1][0]), len(places) - 2)
    (left, low), (right, high) = places[first], places[first + 1]
    return exp(low + (high - low) * (deviate - left) / (right - left))

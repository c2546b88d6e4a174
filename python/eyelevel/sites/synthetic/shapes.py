"""Draw synthetic sites from published distributions: shapes without bytes (pure, seeded)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import exp, sqrt
from random import Random
from statistics import NormalDist

from eyelevel.sites.synthetic.published import Published, quantile

PAGE = 0
"""Index of a site's document among its objects."""

EXTENSIONS = {"image": "svg", "script": "js", "style": "css", "font": "woff2", "data": "json"}
_PARENTS = {
    "image": ("script", "style"),
    "script": ("script",),
    "style": ("style",),
    "font": ("style",),
    "data": ("script",),
}
"""Types of object that can request an object of each type; the document requests images,
scripts and style sheets.
"""

_FIRST_DEPTH = {"font": 3, "data": 3}
OBJECT_BYTES_MIN = 53
"""Smallest object of 500 sites, in Das's table 4.1."""
_NORMAL = NormalDist()


@dataclass(frozen=True)
class ObjectShape:
    """One object of a synthetic site."""

    kind: str
    """`document`, or a key of `EXTENSIONS`."""
    bytes: int
    """Bytes of its body; nothing is compressed."""
    origin: int
    parent: int
    """Index of the object that requests it; the document's is its own."""
    depth: int


@dataclass(frozen=True)
class SiteShape:
    """One synthetic site: its objects in order, the document first."""

    objects: tuple[ObjectShape, ...]

    @property
    def origins(self) -> int:
        """Number of origins that the objects are spread over."""
        return 1 + max(item.origin for item in self.objects)

    @property
    def total_bytes(self) -> int:
        """Return the total bytes of all bodies."""
        return sum(item.bytes for item in self.objects)


def site_shapes(like: Published, count: int, seed: int) -> tuple[SiteShape, ...]:
    """Return `count` site shapes that match each of the distributions as closely as possible.

    Each site covers its share of the range (a stratified sample): the numbers of objects, the bytes
    and the origins of all sites are the published quantiles at 1/2n, 3/2n, ....
    """
    random = Random(f"site-shapes {seed}")
    by_objects = random.sample(range(count), count)
    places = [_NORMAL.inv_cdf((rank + 0.5) / count) for rank in by_objects]
    by_bytes = _ranks([_correlate(place, like.rank_correlation, random) for place in places])
    by_origins = _ranks([_correlate(place, like.rank_correlation, random) for place in places])
    shapes = []
    for ranks in zip(by_objects, by_bytes, by_origins, strict=True):
        objects, total, origins = (
            quantile(points, (rank + 0.5) / count)
            for points, rank in zip(
                (like.objects, like.total_bytes, like.origins), ranks, strict=True
            )
        )
        largest = _largest_share(like) if ranks[1] == count - 1 else 0.0
        drawn = _site(like, max(2, round(objects)), total, largest, round(origins), random)
        shapes.append(drawn)
    return tuple(shapes)


def _largest_share(like: Published) -> float:
    """Return the share of the largest object in the bytes of the largest site."""
    return (like.object_bytes_max or 0.0) / like.total_bytes[-1][1]


def _correlate(place: float, correlation: float, random: Random) -> float:
    return correlation * place + sqrt(1 - correlation**2) * random.gauss()


def _ranks(values: Sequence[float]) -> list[int]:
    ranks = [0] * len(values)
    for rank, place in enumerate(sorted(range(len(values)), key=values.__getitem__)):
        ranks[place] = rank
    return ranks


def _site(
    like: Published, count: int, total: float, largest: float, origins: int, random: Random
) -> SiteShape:
    kinds = ["document", *_kinds(like, count - 1, random)]
    sizes = _sizes(like, kinds, total, largest, random)
    origins = max(1, min(origins, count))
    hosts = [PAGE, *_hosts(count - 1, origins, random)]
    objects = [ObjectShape("document", sizes[0], hosts[0], PAGE, 1)]
    # Objects that can request others come first, so that parents precede their children.
    order = sorted(range(1, count), key=lambda place: _FIRST_DEPTH.get(kinds[place], 2))
    for place in order:
        parent = _parent(objects, kinds[place], _depth(like, kinds[place], random), random)
        depth = objects[parent].depth + 1
        objects.append(ObjectShape(kinds[place], sizes[place], hosts[place], parent, depth))
    return SiteShape(tuple(_roomy(objects)))


def _kinds(like: Published, count: int, random: Random) -> list[str]:
    """Return types in proportion to their shares, with remainders drawn at random."""
    kinds: list[str] = []
    for kind, (share, _) in like.types.items():
        wanted = share * count
        kinds += [kind] * (int(wanted) + (random.random() < wanted % 1))
    names, shares = list(like.types), [share for share, _ in like.types.values()]
    kinds += random.choices(names, shares, k=max(0, count - len(kinds)))
    random.shuffle(kinds)
    return kinds[:count]


def _sizes(
    like: Published, kinds: Sequence[str], total: float, largest: float, random: Random
) -> list[int]:
    """Return log-normal sizes with the sum `total`; larger types tend to get larger sizes.

    The document counts as a style sheet of text. The largest object, never the document, has at
    least the share `largest` of the bytes.
    """
    count = len(kinds)
    spread = like.object_bytes_spread
    weights = sorted(exp(spread * _NORMAL.inv_cdf((n + 0.5) / count)) for n in range(count))
    typical = {kind: size for kind, (_, size) in like.types.items()} | {"document": 18e3}
    wishes = [typical[kind] * exp(spread * random.gauss()) for kind in kinds]
    if largest > weights[-1] / sum(weights):
        weights[-1] = sum(weights[:-1]) * largest / (1 - largest)
        wishes[PAGE] = min(wishes)
    unit = total / sum(weights)
    return [max(OBJECT_BYTES_MIN, round(unit * weights[rank])) for rank in _ranks(wishes)]


def _hosts(count: int, origins: int, random: Random) -> list[int]:
    """Return an origin per object: each but the page's once, the rest by weights 1, 1/2, 1/3."""
    once = list(range(1, origins))[:count]
    weights = [1 / (number + 1) for number in range(origins)]
    hosts = once + random.choices(range(origins), weights, k=count - len(once))
    random.shuffle(hosts)
    return hosts


def _depth(like: Published, kind: str, random: Random) -> int:
    (drawn,) = random.choices(range(2, 2 + len(like.depth_shares)), like.depth_shares)
    return max(drawn, _FIRST_DEPTH.get(kind, 2))


def _parent(objects: Sequence[ObjectShape], kind: str, depth: int, random: Random) -> int:
    """Return an object one level above `depth` that can request this type, or the deepest above."""
    for above in range(depth - 1, 1, -1):
        parents = [
            place
            for place, item in enumerate(objects)
            if item.depth == above and item.kind in _PARENTS[kind]
        ]
        if parents:
            return random.choice(parents)
    return PAGE


def _roomy(objects: Sequence[ObjectShape]) -> list[ObjectShape]:
    """Return objects large enough for their markup; the largest one compensates the others."""
    children = [0] * len(objects)
    for item in objects[1:]:
        children[item.parent] += 1
    # The document also has the elements that style sheets apply to.
    children[PAGE] = len(objects)
    least = [
        markup_bytes(item.kind, number) for item, number in zip(objects, children, strict=True)
    ]
    sizes = [max(item.bytes, needed) for item, needed in zip(objects, least, strict=True)]
    largest = max(range(len(sizes)), key=sizes.__getitem__)
    surplus = sum(sizes) - sum(item.bytes for item in objects)
    sizes[largest] = max(least[largest], sizes[largest] - surplus)
    return [replace(item, bytes=size) for item, size in zip(objects, sizes, strict=True)]


def markup_bytes(kind: str, children: int) -> int:
    """Return the minimum bytes of an object that requests `children` others."""
    if kind == "document":
        return 300 + 90 * children
    if not children:
        return OBJECT_BYTES_MIN
    return {"script": 400, "style": 60}.get(kind, 0) + 110 * children

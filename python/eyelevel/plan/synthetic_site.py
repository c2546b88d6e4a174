"""Synthetic sites by name: `synthetic:objects=20,object_bytes=10000,origins=2`."""

from dataclasses import asdict, dataclass

from eyelevel.errors import unknown

PREFIX = "synthetic:"
BOUNDS = {"objects": (1, 2000), "object_bytes": (2, 50_000_000), "origins": (1, 200)}
MARKUP_BYTES = 300
"""What a page's own markup takes: a smaller one has none, and so no further objects."""


@dataclass(frozen=True)
class SyntheticSite:
    """A page and `objects` - 1 pictures, each of `object_bytes`, on so many origins in turn.

    Nothing is compressed, so that the bytes are what is asked for.
    """

    objects: int = 1
    object_bytes: int = 10_000
    origins: int = 1

    @property
    def name(self) -> str:
        """In tables and files: all that it is."""
        return f"synthetic-{self.objects}x{self.object_bytes}-{self.origins}"


def is_synthetic(site: str) -> bool:
    """Whether a plan's site is one that is made."""
    return site.startswith(PREFIX)


def parse_synthetic(site: str) -> SyntheticSite:
    """What the text describes; ValueError says what is wrong with it."""
    values = asdict(SyntheticSite())
    for part in filter(None, site.removeprefix(PREFIX).split(",")):
        key, _, value = (word.strip() for word in part.partition("="))
        if key not in BOUNDS:
            raise ValueError(f"site `{site}`: {unknown('key', key, BOUNDS)}")
        low, high = BOUNDS[key]
        if not value.isdecimal() or not low <= int(value) <= high:
            raise ValueError(f"site `{site}`: `{key}` is a whole number from {low} to {high}")
        values[key] = int(value)
    if values["objects"] > 1 and values["object_bytes"] < MARKUP_BYTES:
        raise ValueError(f"site `{site}`: a page with objects has at least {MARKUP_BYTES} bytes")
    if values["origins"] > values["objects"]:
        raise ValueError(f"site `{site}`: more origins than objects")
    return SyntheticSite(**values)

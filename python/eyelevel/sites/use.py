"""Compute how much of a recording its loads use: little use means that another page is replayed."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from eyelevel.sites.contents import RecordedObject

USED_SHARE_MIN = 0.5
"""Minimum share of a recording's objects, and of its bytes, that loads must use. Fit
third-party recordings had at least 89 %; those that start with a beacon 2 of 136 and 2 of 56
objects (docs/decisions/0024-recordings.md).
"""


@dataclass(frozen=True)
class Use:
    """The part of a recording that was requested, in all loads together.

    An object is a method with a URL: one that was recorded several times counts once, with its
    largest response, since a browser may need it once.
    """

    objects_used: int
    objects_recorded: int
    body_bytes_used: int
    body_bytes_recorded: int
    unused: tuple[RecordedObject, ...]
    """Objects that no load requested, the largest first."""

    @property
    def objects_share(self) -> float:
        """Fraction of objects used, 0 to 1; 1.0 for an empty recording."""
        return _share(self.objects_used, self.objects_recorded)

    @property
    def body_bytes_share(self) -> float:
        """Fraction of body bytes used, 0 to 1; 1.0 for an empty recording."""
        return _share(self.body_bytes_used, self.body_bytes_recorded)

    def failure(self, share_min: float) -> str:
        """Return why the page is not the recorded one; "" if it may be."""
        of = f"{self.objects_used} of {self.objects_recorded} recorded objects"
        if self.objects_share < share_min:
            return f"its loads use {of}, less than {share_min:.0%} of the recording"
        if self.body_bytes_share < share_min:
            return (
                f"its loads use {self.body_bytes_share:.0%} of the recorded bytes ({of}), less "
                f"than {share_min:.0%} of the recording; was it recorded in another viewport?"
            )
        return ""


def use_of(objects: Sequence[RecordedObject], answered: Iterable[int]) -> Use:
    """Compute the use; `answered` are indexes of `objects` (pure)."""
    largest: dict[tuple[str, str], RecordedObject] = {}
    for one in objects:
        key = one.method, one.url
        if key not in largest or largest[key].body_bytes < one.body_bytes:
            largest[key] = one
    used = {(objects[at].method, objects[at].url) for at in answered}
    unused = [one for key, one in largest.items() if key not in used]
    recorded_bytes = sum(one.body_bytes for one in largest.values())
    return Use(
        objects_used=len(used),
        objects_recorded=len(largest),
        body_bytes_used=recorded_bytes - sum(one.body_bytes for one in unused),
        body_bytes_recorded=recorded_bytes,
        unused=tuple(sorted(unused, key=lambda one: -one.body_bytes)),
    )


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 1.0

"""Create an object exactly once; an existing one is read back and compared."""

import time
from collections.abc import Callable

from eyelevel.base.errors import ExpectedError
from eyelevel.run.bucket.objects import BucketError, ExistsError, Objects

TRIES = 6
PAUSE_S = 0.1
"""Pause after the first attempt, s; it doubles."""
EXTRA_BYTES = 1 << 20
"""Bytes by which an existing object may be longer and still be compared."""

Same = Callable[[bytes, bytes], bool]


class DifferentError(ExpectedError):
    """A bucket has other content under a name of this run."""


def put_once(
    objects: Objects,
    name: str,
    content: bytes,
    same: Same = bytes.__eq__,
    pause: Callable[[float], None] = time.sleep,
) -> None:
    """Create the object, or verify that it exists with the same content.

    An object that is reported to exist and does not was never stored: another writer's concurrent
    attempt failed, so this one is repeated. Raises `DifferentError` for other content, and
    `BucketError` if the bucket does not answer or keeps reporting so.
    """
    for number in range(TRIES):
        try:
            objects.create(name, content)
        except ExistsError:
            found = objects.get(name, len(content) + EXTRA_BYTES)
            if found is not None and same(content, found):
                return
            if found is not None:
                raise DifferentError(
                    f"{name} is there already and differs: two runs are being copied to the "
                    "same place; give another --copy-to"
                ) from None
            pause(PAUSE_S * 2**number)
        else:
            return
    raise BucketError(
        f"creating {name}: {TRIES} times it was said to exist, but it does not; check whether "
        "something removes objects there"
    )

"""Create an object once: one that exists already is read back and compared."""

import time
from collections.abc import Callable

from eyelevel.bucket.objects import BucketError, ExistsError, Objects
from eyelevel.errors import ExpectedError

TRIES = 6
PAUSE_S = 0.1
"""Behind the first try; it doubles."""
EXTRA_BYTES = 1 << 20
"""An object that is longer by more is another one."""

Same = Callable[[bytes, bytes], bool]


class DifferentError(ExpectedError):
    """A bucket has something else under a name of this run's."""


def put_once(
    objects: Objects,
    name: str,
    content: bytes,
    same: Same = bytes.__eq__,
    pause: Callable[[float], None] = time.sleep,
) -> None:
    """Create the object, or find that it is there and the same.

    What is said to be there and is not was never put: a conflict with somebody else's try, after
    which nothing may have landed. Raises DifferentError where another one is there, BucketError
    where the bucket does not answer, or goes on saying so.
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
